"""Parses times as people type them: dates, times, "yesterday", "3 days ago", "in 2 weeks"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

import click

from omoide.cli.scope import here
from omoide.cli.zone import zone

_AGO = re.compile(r"(\d{1,5}|an?)\s+(minute|hour|day|week|month|year)s?\s+ago")
_AHEAD = re.compile(r"in\s+(\d{1,5}|an?)\s+(minute|hour|day|week|month|year)s?")
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_DAYS = {"today": 0, "yesterday": 1}


def parse_time(text: str, *, now: datetime, day: time, zone: tzinfo | None = None) -> datetime:
    """The time that `text` means. A day without a time of day gets the time `day`; a time without a
    zone is that of `zone`, None for the machine's. Raises `ValueError`."""
    words = text.strip().lower()
    if words == "now":
        return now
    if words in _DAYS:
        today = now.astimezone(zone).date()
        return _utc(datetime.combine(today - timedelta(days=_DAYS[words]), day), zone)
    if match := _AGO.fullmatch(words) or _AHEAD.fullmatch(words):
        count = 1 if match[1].startswith("a") else int(match[1])
        distance = count * _UNITS[match[2]]
        return now + distance if words.startswith("in") else now - distance
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
        return _utc(datetime.combine(date.fromisoformat(words), day), zone)
    return _utc(datetime.fromisoformat(text.strip()), zone)


def _utc(time: datetime, zone: tzinfo | None) -> datetime:
    return time.replace(tzinfo=time.tzinfo or zone).astimezone(UTC)


class TimeParameter(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A time on the command line."""

    name = "time"

    def __init__(self, *, day: time) -> None:
        self._day = day

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Parse it; fails with a usage error."""
        if isinstance(value, datetime):
            return value
        try:
            return parse_time(str(value), now=here().clock.now(), day=self._day, zone=zone())
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time: write 2026-01-05, 2026-01-05T09:30, yesterday, "
                "'3 days ago' or 'in 3 days'",
                param,
                ctx,
            )


LOOKING = TimeParameter(day=time.max)
"""For reading: a day means its end, so that what happened on it counts."""
SINCE = TimeParameter(day=time.min)
"""For the beginning of a period: a day means its start, so that what happened on it counts."""
TALKING = TimeParameter(day=time(12))
"""For talking: a day means noon."""
