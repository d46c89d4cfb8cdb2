"""Which period is meant, on many days of two years: found again by walking through the calendar."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest

from omoide.language.periods import (
    COMING,
    JUST_PAST,
    LAST,
    NEXT,
    THIS,
    UNITS,
    Period,
    counted,
    day_of,
    months_meant,
    nearest_date,
    nearest_weekday,
    seasons_meant,
    weekdays_meant,
    weekends_meant,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAY = timedelta(1)
DAYS = [date(2023, 12, 20) + timedelta(n) for n in range(2 * 366)]
EDGES = [d for d in DAYS if d.day in {1, 15} or (d + DAY).day == 1]
"""The first and last days of months, and a day between."""
SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "winter": (12, 1, 2)}


def days(period: Period) -> tuple[date, date]:
    """Where it begins and ends."""
    return period.first, period.last


def walk(day: date, step: int) -> Iterator[date]:
    """The days after the day, or those before it."""
    return (day + timedelta(step * n) for n in count(1))


def around(day: date, inside: Callable[[date], bool]) -> tuple[date, date]:
    """The stretch of days of the kind, around one of them."""
    first = last = day
    while inside(first - DAY):
        first -= DAY
    while inside(last + DAY):
        last += DAY
    return first, last


def stretches(day: date, inside: Callable[[date], bool], step: int) -> Iterator[tuple[date, date]]:
    """The stretches of the kind that begin after the day, or end before it, the nearest first."""
    here = around(day, inside) if inside(day) else None
    seen = here
    for other in walk(day, step):
        if inside(other) and (found := around(other, inside)) != seen:
            seen = found
            yield found


@pytest.mark.parametrize("weekday", range(7))
def test_weekdays(weekday: int) -> None:
    """The nearest one; that of last or next week too, if it is another."""
    for day in DAYS[:21]:
        gone = next(d for d in walk(day, -1) if d.weekday() == weekday)
        ahead = next(d for d in walk(day, 1) if d.weekday() == weekday)
        assert days(nearest_weekday(weekday, day=day, future=True)) == (ahead, ahead)
        assert days(nearest_weekday(weekday, day=day, future=False)) == (gone, gone)
        monday = day - timedelta(day.weekday())
        far = {way: monday + timedelta(7 * way + weekday) for way in (LAST, NEXT)}
        today = day.weekday() == weekday
        for past in (True, False):
            wanted = {
                JUST_PAST: {gone},
                LAST: {gone, far[LAST]},
                THIS: {day if today else gone if past else ahead},
                NEXT: {ahead, far[NEXT]},
                COMING: {ahead},
            }
            for way, meant in wanted.items():
                found = weekdays_meant(way, weekday, day=day, past=past)
                assert [p.first for p in found] == sorted(meant), (day, way)
                assert all(p.first == p.last for p in found)


def test_weekends() -> None:
    """This one ends on the coming Sunday, unless it is spoken of in the past on a working day."""

    def inside(day: date) -> bool:
        return day.weekday() >= 5

    for day in DAYS[:21]:
        gone, ahead = (next(stretches(day, inside, step)) for step in (-1, 1))
        here = around(day, inside) if inside(day) else ahead
        next_week = (here[1] + timedelta(6), here[1] + timedelta(7))
        for past in (True, False):
            wanted = {
                JUST_PAST: {gone},
                LAST: {gone},
                THIS: {gone if past and not inside(day) else here},
                NEXT: {ahead, next_week},
                COMING: {ahead},
            }
            for way, meant in wanted.items():
                found = weekends_meant(way, day=day, past=past)
                assert [days(p) for p in found] == sorted(meant), (day, way)


@pytest.mark.parametrize("month", [1, 2, 6, 12])
def test_months(month: int) -> None:
    """The nearest whole one; that of the other year too, if "last" or "next" may mean it."""

    def inside(day: date) -> bool:
        return day.month == month

    for day in EDGES:
        gone, ahead = (next(stretches(day, inside, step)) for step in (-1, 1))
        far = {way: around(date(day.year + way, month, 1), inside) for way in (LAST, THIS, NEXT)}
        wanted = {
            JUST_PAST: {gone},
            LAST: {gone, far[LAST]},
            THIS: {far[THIS]},
            NEXT: {ahead, far[NEXT]},
            COMING: {ahead},
        }
        for way, meant in wanted.items():
            found = months_meant(way, month, day=day)
            assert [days(p) for p in found] == sorted(meant), (day, way)


@pytest.mark.parametrize("name", SEASONS)
def test_seasons(name: str) -> None:
    """The one before is over; the next one has not begun, and may be that of next year instead if
    it begins in this one. A winter is never so far."""
    months = SEASONS[name]

    def inside(day: date) -> bool:
        return day.month in months

    for day in EDGES:
        gone = next(stretches(day, inside, -1))
        onward = stretches(day, inside, 1)
        ahead, after = next(onward), next(onward)
        both = ahead[0].year == day.year and name != "winter"
        this = around(day, inside) if inside(day) else around(date(day.year, months[0], 1), inside)
        wanted = {
            JUST_PAST: [gone],
            LAST: [gone],
            THIS: [this],
            NEXT: [ahead, after] if both else [ahead],
            COMING: [ahead],
        }
        for way, meant in wanted.items():
            found = seasons_meant(way, months[0], name=name, day=day)
            assert [days(p) for p in found] == meant, (day, way)
            assert {(p.unit, p.season) for p in found} == {("season", name)}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("step", [-14, -1, 0, 1, 3])
def test_units_are_counted_from_the_one_that_holds_the_day(unit: str, step: int) -> None:
    """Each is whole, and as many of its kind lie between as the step says."""
    kinds: dict[str, Callable[[date], object]] = {
        "day": lambda day: day,
        "week": lambda day: day - timedelta(day.weekday()),
        "weekend": lambda day: day.weekday() >= 5 and day - timedelta(day.weekday()),
        "month": lambda day: (day.year, day.month),
        "year": lambda day: day.year,
    }
    kind = kinds[unit]
    for day in DAYS[:70:10]:
        found = counted(unit, step, day=day)
        assert found.unit == unit
        inside = kind(found.first)
        assert inside
        assert kind(found.last) == inside
        assert kind(found.first - DAY) != inside
        assert kind(found.last + DAY) != inside
        whole = "week" if unit == "weekend" else unit
        sign, most = (-1 if step < 0 else 1), {"day": 1, "week": 7, "month": 31, "year": 366}
        reach = range((abs(step) + 1) * most[whole])
        passed = list(dict.fromkeys(kinds[whole](day + timedelta(sign * n)) for n in reach))
        assert kinds[whole](found.first) == passed[abs(step)]


def test_dates() -> None:
    """The current date is the latest one and, if it is a month, the next one too."""
    for day in DAYS[::31]:
        for month, number in ((1, 1), (2, 29), (6, 30), (12, 31), (day.month, day.day)):
            ahead = next(d for d in walk(day - DAY, 1) if (d.month, d.day) == (month, number))
            gone = next(d for d in walk(day + DAY, -1) if (d.month, d.day) == (month, number))
            assert days(nearest_date(month, number, day=day, future=True)) == (ahead, ahead)
            assert days(nearest_date(month, number, day=day, future=False)) == (gone, gone)
            whole = nearest_date(month, None, day=day, future=True)
            assert whole.last >= day > whole.last - timedelta(366)
            assert whole.first.month == month
            whole = nearest_date(month, None, day=day, future=False)
            assert whole.first <= day < whole.first + timedelta(366)


@pytest.mark.parametrize("number", [0, 31, 99])
def test_a_day_that_no_year_has(number: int) -> None:
    """It is the month with the number kept."""
    for future in (True, False):
        found = nearest_date(4, number, day=date(2024, 4, 9), future=future)
        assert found == day_of(2024, 4, number)
        assert (found.unit, found.number, found.last) == ("month", number, date(2024, 4, 30))
