"""Months, weekdays and seasons at the edges: which one is meant."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from omoide.language.times import spans

WEDNESDAY = date(2023, 6, 14)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("if in July", "2023-07-01", "2023-07-31"),  # less than a month ahead: the next one
        ("if on 14 July", "2023-07-14", "2023-07-14"),
        ("if on 15 July", "2022-07-15", "2022-07-15"),  # more than a month ahead: the past one
        ("last June", "2022-06-01", "2022-06-30"),  # not the June that it is
        ("last July", "2022-07-01", "2022-07-31"),
        ("next June", "2024-06-01", "2024-06-30"),
        ("next May", "2024-05-01", "2024-05-31"),
        ("this Friday", "2023-06-16", "2023-06-16"),
        ("this Wednesday", "2023-06-14", "2023-06-14"),
        ("last Wednesday", "2023-06-07", "2023-06-07"),
        ("this summer", "2023-06-01", "2023-08-31"),
    ],
)
def test_which_one_is_meant(text: str, first: str, last: str) -> None:
    """Said on Wednesday, 14 June 2023."""
    assert (date.fromisoformat(first), date.fromisoformat(last)) in spans(text, WEDNESDAY)


def test_a_season_has_passed_only_after_its_last_day() -> None:
    """On its last day "last summer" is still the one before; the day after, it is that one."""
    before, this = [(date(year, 6, 1), date(year, 8, 31)) for year in (2022, 2023)]
    assert spans("last summer", date(2023, 8, 31)) == [before]
    assert spans("last summer", date(2023, 9, 1)) == [this]


@pytest.mark.parametrize("day", range(14, 21))
@pytest.mark.parametrize("back", range(7))
def test_a_weekday_is_the_latest_one(day: int, back: int) -> None:
    """Whatever the day on which it is said. The day itself is "today" for whoever says when: only
    without a tense it may be that one."""
    said_on = date(2023, 6, day)
    meant = said_on - timedelta(back)
    assert spans(f"Lunch on {meant:%A}.", said_on) == [(meant, meant)]
    met = said_on - timedelta(back or 7)
    assert spans(f"We met on {met:%A}.", said_on) == [(met, met)]
