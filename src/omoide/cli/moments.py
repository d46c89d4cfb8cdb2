"""Moments as a person types them: dates, times, "yesterday", "3 days ago"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import click

from omoide.cli.scope import here

_AGO = re.compile(r"(\d{1,5}|an?)\s+(minute|hour|day|week|month|year)s?\s+ago")
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_DAYS = {"today": 0, "yesterday": 1}


def read_moment(text: str, *, now: datetime, day: time) -> datetime:
    """The moment meant by `text`. A day without a time is taken at the time `day`; a time
    without a zone is local. Raises `ValueError`."""
    words = text.strip().lower()
    local = now.astimezone()
    if words == "now":
        return now
    if words in _DAYS:
        return _at(local.date() - timedelta(days=_DAYS[words]), day)
    if found := _AGO.fullmatch(words):
        count = 1 if found[1].startswith("a") else int(found[1])
        return now - count * _UNITS[found[2]]
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
        return _at(date.fromisoformat(words), day)
    return datetime.fromisoformat(text.strip()).astimezone(UTC)


def _at(day: date, clock: time) -> datetime:
    return datetime.combine(day, clock).astimezone(UTC)


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A moment on the command line."""

    name = "time"

    def __init__(self, *, day: time) -> None:
        self._day = day

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment, or bad usage."""
        if isinstance(value, datetime):
            return value
        try:
            return read_moment(str(value), now=here().clock.now(), day=self._day)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time: write 2026-01-05, 2026-01-05T09:30, yesterday or "
                "'3 days ago'",
                param,
                ctx,
            )


LOOKING = Moment(day=time.max)
"""A day means its end, so that what happened on it counts."""
TALKING = Moment(day=time(12))
"""A day means noon."""
