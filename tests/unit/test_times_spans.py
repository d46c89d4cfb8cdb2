"""Periods that a text names, counted from the day it was said, against the calendar."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from omoide.language.times import spans

WEDNESDAY = date(2023, 6, 14)
DAYS = [date(2023, 12, 25) + timedelta(n) for n in range(16)]
"""Over the end of a year, two weeks and a weekend."""
WAYS = {"last": -1, "this": 0, "next": 1}


def named(text: str, said_on: date) -> tuple[date, date]:
    """The one period of a text."""
    (span,) = spans(text, said_on)
    return span


@pytest.mark.parametrize("said_on", DAYS, ids=str)
@pytest.mark.parametrize(("way", "step"), WAYS.items())
def test_days_weeks_weekends_months_and_years(said_on: date, way: str, step: int) -> None:
    """Weeks begin on Monday, and a weekend with its Friday."""
    day = said_on + timedelta(step)
    assert named(f"the {way} day", said_on) == (day, day)
    in_week = said_on + timedelta(7 * step)
    monday = next(d for n in range(7) if (d := in_week - timedelta(n)).weekday() == 0)
    assert named(f"{way} week", said_on) == (monday, monday + timedelta(6))
    friday = monday + timedelta(4)
    assert named(f"{way} weekend", said_on) == (friday, friday + timedelta(2))
    first, last = named(f"{way} month", said_on)
    assert (first.day, (last + timedelta(1)).day) == (1, 1)
    assert first.year * 12 + first.month == said_on.year * 12 + said_on.month + step
    assert (first.year, first.month) == (last.year, last.month)
    year = said_on.year + step
    assert named(f"{way} year", said_on) == (date(year, 1, 1), date(year, 12, 31))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("two days ago", "2023-06-12", "2023-06-12"),
        ("1 day ago", "2023-06-13", "2023-06-13"),
        ("three weeks ago", "2023-05-21", "2023-05-27"),  # half a week each way
        ("a month ago", "2023-04-30", "2023-05-30"),
        ("two months ago", "2023-03-31", "2023-04-30"),
        ("a year ago", "2022-01-01", "2022-12-31"),
        ("12 years ago", "2011-01-01", "2011-12-31"),
        ("a few days ago", "2023-06-10", "2023-06-12"),  # about three
        ("several weeks ago", "2023-05-03", "2023-05-31"),  # about four
        ("a few months ago", "2023-01-30", "2023-04-30"),
    ],
)
def test_how_long_ago(text: str, first: str, last: str) -> None:
    """A day is exact, a longer unit is meant by half of it, and a vague number by half of that."""
    assert named(text, WEDNESDAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("text", "said_on", "first", "last"),
    [
        ("in winter 2022", WEDNESDAY, "2022-12-01", "2023-02-28"),
        ("in winter 2023", WEDNESDAY, "2023-12-01", "2024-02-29"),
        ("in spring of 2021", WEDNESDAY, "2021-03-01", "2021-05-31"),
        ("next summer", WEDNESDAY, "2023-06-01", "2023-08-31"),
        ("next spring", WEDNESDAY, "2024-03-01", "2024-05-31"),
        ("next spring", date(2023, 5, 31), "2023-03-01", "2023-05-31"),
        ("last spring", WEDNESDAY, "2023-03-01", "2023-05-31"),
        ("in February 2024", WEDNESDAY, "2024-02-01", "2024-02-29"),
        ("in 2021", WEDNESDAY, "2021-01-01", "2021-12-31"),
        ("2023/4/5", WEDNESDAY, "2023-04-05", "2023-04-05"),
        ("if on 13 January", date(2023, 12, 20), "2023-01-13", "2023-01-13"),
        ("in May", date(2023, 4, 1), "2023-05-01", "2023-05-31"),
        ("if in June", date(2023, 4, 30), "2022-06-01", "2022-06-30"),
    ],
)
def test_seasons_months_years_and_dates(text: str, said_on: date, first: str, last: str) -> None:
    """A winter belongs to the year of its December; a date without a year is mostly past."""
    assert named(text, said_on) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "text",
    ["on 30 February 2023", "2023-13-01", "9999 years ago", "we may meet", "a march", "20230405"],
)
def test_what_is_no_date(text: str) -> None:
    """Nothing is taken for one that the calendar does not have, or that is a common word."""
    assert spans(text, WEDNESDAY) == []


def test_of_two_readings_at_one_place_the_longer_counts() -> None:
    """And what is within it is not counted again; in order of mention."""
    said = "On 5 May 2022 we met, and again last week; in May too."
    assert [first for first, _ in spans(said, WEDNESDAY)] == [
        date(2022, 5, 5),
        date(2023, 6, 5),
        date(2023, 5, 1),
    ]
