"""Checks of times before they are stored, and their conversion to a user's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from datetime import tzinfo

AHEAD = timedelta(days=1)
"""How far in the future a turn may be dated: time zones are confused, clocks run fast."""
YEARS = range(2, 9999)
"""Times outside these years cannot be converted to every time zone."""


def aware(time: datetime, what: str) -> datetime:
    """The same time; raises `BadInput` if it is no datetime, has no time zone, or could not be
    shown in every one."""
    if not isinstance(time, datetime):
        raise BadInput(
            f"{what}={time!r:.80} is not a datetime: give one with a time zone, "
            "such as datetime(2026, 1, 31, tzinfo=UTC)"
        )
    if time.tzinfo is None:
        raise BadInput(f"{what}={time.isoformat()} has no time zone: give an aware datetime")
    if time.year not in YEARS:
        raise BadInput(
            f"{what}={time.isoformat()} is not in the years {YEARS[0]} to {YEARS[-1]}: "
            "leave it out if it is not known"
        )
    return time


def message_time(time: datetime, what: str) -> datetime:
    """The time of a message, as `aware`; but one after all that can be shown becomes one that can,
    since it is recorded as now like any other so far ahead."""
    if _has_zone(time) and time.year > YEARS[-1]:
        return time.replace(year=YEARS[-1], tzinfo=UTC)
    return aware(time, what)


def limit(time: datetime, what: str) -> datetime:
    """The earliest or latest time to look for. Many programs write "any time" as the first or last
    time that they know: such becomes one that can be converted."""
    if _has_zone(time) and time.year < YEARS[0]:
        return time.replace(year=YEARS[0], tzinfo=UTC)
    return message_time(time, what)


def _has_zone(time: object) -> bool:
    return isinstance(time, datetime) and time.tzinfo is not None


def not_ahead(time: datetime, now: datetime) -> datetime:
    """When something is recorded as said: at that time, or now if it is more than a day ahead."""
    return time if time <= now + AHEAD else now


def in_zone(time: datetime, zone: tzinfo | None) -> datetime:
    """The time in a time zone, None for the machine's. The first and last of all times stay as they
    are: older versions stored such, and one that has no place in a zone must not cost the rest."""
    try:
        return time.astimezone(zone)
    except (OverflowError, ValueError):
        return time
