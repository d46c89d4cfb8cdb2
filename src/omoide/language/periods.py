"""Periods of the calendar: days, weeks, weekends, months, seasons and years, counted from a day.

Weeks begin on Monday. Seasons are those of the northern half of the earth, and a winter belongs
to the year of its December.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

JUST_PAST: Final = -2
LAST: Final = -1
THIS: Final = 0
NEXT: Final = 1
COMING: Final = 2
"""Directions: "this past Friday", "last Friday", "this Friday", "next Friday", "the coming
Friday". Those at the ends are sure to mean the nearest one."""
UNITS: Final = ("day", "week", "weekend", "month", "year")
_COUNTED: Final = re.compile(rf"(?P<unit>{'|'.join(UNITS)})(?P<step>[+-]\d+)")
_WINTER: Final = 12


@dataclass(frozen=True, kw_only=True)
class Period:
    """A stretch of days with the unit that it is written in."""

    unit: str
    """One of `UNITS`, or "season"."""
    first: date
    last: date
    season: str = ""
    """The name of the season."""
    number: int = 0
    """The day of the month as it was said, if the month has no such day."""


def unit_and_step(key: str) -> tuple[str, int]:
    """A unit and how many of them: "week+1" is next week. Raises `ValueError` for another form.

    >>> unit_and_step("day-1")
    ('day', -1)
    """
    match = _COUNTED.fullmatch(key)
    if match is None:
        raise ValueError(
            f"periods: wanted a unit ({', '.join(UNITS)}) and a step as in 'day-1', not {key!r}"
        )
    return match["unit"], int(match["step"])


def one_day(day: date) -> Period:
    """A single day."""
    return Period(unit="day", first=day, last=day)


def counted(unit: str, step: int, *, day: date) -> Period:
    """The unit that is `step` units away from the one that holds the day. Raises `ValueError` or
    `OverflowError` where the calendar ends.

    >>> counted("month", -3, day=date(2024, 5, 31)).last
    datetime.date(2024, 2, 29)
    """
    if unit == "day":
        return one_day(day + timedelta(step))
    if unit in {"week", "weekend"}:
        monday = day + timedelta(7 * step - day.weekday())
        first = monday + timedelta(5 if unit == "weekend" else 0)
        return Period(unit=unit, first=first, last=monday + timedelta(6))
    if unit == "month":
        months = day.year * 12 + day.month - 1 + step
        return month_of(months // 12, months % 12 + 1)
    return Period(
        unit="year", first=date(day.year + step, 1, 1), last=date(day.year + step, 12, 31)
    )


def month_of(year: int, month: int) -> Period:
    """A month."""
    last = date(year, month, monthrange(year, month)[1])
    return Period(unit="month", first=date(year, month, 1), last=last)


def day_of(year: int, month: int, number: int) -> Period:
    """A day of a month; the month, with the number kept, if it has no such day."""
    whole = month_of(year, month)
    if 1 <= number <= whole.last.day:
        return one_day(date(year, month, number))
    return Period(unit="month", first=whole.first, last=whole.last, number=number)


def season_of(year: int, first_month: int, *, name: str) -> Period:
    """A season of three months."""
    last = month_of(year + (first_month == _WINTER), (first_month + 1) % 12 + 1).last
    return Period(unit="season", first=date(year, first_month, 1), last=last, season=name)


def nearest_weekday(weekday: int, *, day: date, future: bool) -> Period:
    """The next such day after the day, or the last one before it."""
    if future:
        return one_day(day + timedelta((weekday - day.weekday() - 1) % 7 + 1))
    return one_day(day - timedelta((day.weekday() - weekday - 1) % 7 + 1))


def nearest_date(month: int, number: int | None, *, day: date, future: bool) -> Period:
    """The next such date or month, or the last one; the current one is the last one, and also the
    next one if it is a month."""
    years = range(day.year, day.year + 9) if future else range(day.year, day.year - 9, -1)
    for year in years:
        found = month_of(year, month) if number is None else day_of(year, month, number)
        fits = found.last >= day if future else found.first <= day
        if fits and not found.number:
            return found
    return day_of(day.year, month, number or 0)


def nearest_day(number: int, *, day: date, future: bool) -> Period:
    """The next such day of a month after the day, or the last one before it. A month that has no
    such day is passed over.

    >>> nearest_day(31, day=date(2026, 9, 2), future=True).first
    datetime.date(2026, 10, 31)
    """
    for step in range(4):
        month = counted("month", step if future else -step, day=day).first
        found = day_of(month.year, month.month, number)
        if not found.number and (found.first > day if future else found.first < day):
            return found
    raise ValueError(f"no month has a day {number}")


def months_ahead(period: Period, *, day: date) -> int:
    """How many months after that of the day a period begins."""
    return (period.first.year - day.year) * 12 + period.first.month - day.month


def weekdays_meant(way: int, weekday: int, *, day: date, past: bool) -> tuple[Period, ...]:
    """What "last Friday" and its like may mean. "Next Friday" is the coming one for some and that
    of next week for others, so there may be two."""
    if way == THIS and day.weekday() == weekday:
        return (one_day(day),)
    near = nearest_weekday(weekday, day=day, future=not past if way == THIS else way > 0)
    if way not in {LAST, NEXT}:
        return (near,)
    far = one_day(counted("week", way, day=day).first + timedelta(weekday))
    return _in_order(near, far)


def weekends_meant(way: int, *, day: date, past: bool) -> tuple[Period, ...]:
    """What "next weekend" and its like may mean."""
    at_work = day.weekday() < 5
    coming = counted("weekend", 0 if at_work else 1, day=day)
    if way == THIS:
        return (counted("weekend", -1 if past and at_work else 0, day=day),)
    if way < 0:
        return (counted("weekend", -1, day=day),)
    return (coming,) if way == COMING else _in_order(coming, counted("weekend", 1, day=day))


def months_meant(way: int, month: int, *, day: date) -> tuple[Period, ...]:
    """What "last June" and its like may mean."""
    if way == THIS:
        return (month_of(day.year, month),)
    far = month_of(day.year + (1 if way > 0 else -1), month)
    this = month_of(day.year, month)
    ahead, gone = this.first > day, this.last < day
    near = this if (ahead if way > 0 else gone) else far
    return _in_order(near, far) if way in {LAST, NEXT} else (near,)


def seasons_meant(way: int, first_month: int, *, name: str, day: date) -> tuple[Period, ...]:
    """What "last summer" and its like may mean."""
    years = range(day.year - 2, day.year + 3)
    all_seasons = [season_of(year, first_month, name=name) for year in years]
    if way == THIS:
        now = [s for s in all_seasons if s.first <= day <= s.last]
        return ((now or [s for s in all_seasons if s.first.year == day.year])[0],)
    if way < 0:
        return ([s for s in all_seasons if s.last < day][-1],)
    ahead = [s for s in all_seasons if s.first > day]
    if way == COMING or ahead[0].first.year > day.year or first_month == _WINTER:
        return (ahead[0],)
    return ahead[0], ahead[1]


def _in_order(near: Period, far: Period) -> tuple[Period, ...]:
    return tuple(sorted({near, far}, key=lambda period: period.first))
