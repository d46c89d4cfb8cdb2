"""Time as people say it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language import LANGUAGES
from omoide.mechanisms.events.human_time import human_time, present, weekday_named

NOW = datetime(2026, 1, 29, 20, tzinfo=UTC)  # a Thursday evening


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "a minute ago"),
        (timedelta(minutes=5), "five minutes ago"),
        (timedelta(hours=1, minutes=5), "an hour ago"),
        (timedelta(hours=3), "three hours ago"),
        (timedelta(hours=11), "earlier today, in the morning"),
        (timedelta(hours=24), "yesterday, Wednesday, in the evening"),
        (timedelta(days=3), "three days ago, on Monday"),
        (timedelta(days=7), "a week ago, on Thursday"),
        (timedelta(days=21), "three weeks ago, on a Thursday"),
        (timedelta(days=90), "three months ago"),
        (timedelta(days=400), "a year ago"),
        (timedelta(days=365 * 15), "14 years ago"),
        (-timedelta(days=3), "just now"),
    ],
)
def test_english(ago: timedelta, said: str) -> None:
    """From a moment to years; a clock that went back is just now."""
    assert human_time(NOW - ago, NOW, "en") == said


@pytest.mark.parametrize(
    ("last", "said", "first", "then_said"),
    [
        (timedelta(seconds=59), "just now", timedelta(minutes=1), "a minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago", timedelta(hours=1), "an hour ago"),
        (timedelta(hours=5, minutes=59), "five hours ago", timedelta(hours=6), "earlier today"),
        (timedelta(hours=20), "earlier today", timedelta(hours=21), "yesterday"),
        (timedelta(hours=44), "yesterday", timedelta(hours=45), "two days ago"),
        (timedelta(days=6), "six days ago", timedelta(days=7), "a week ago"),
        (timedelta(days=59), "eight weeks ago", timedelta(days=60), "two months ago"),
        (timedelta(days=364), "twelve months ago", timedelta(days=365), "a year ago"),
    ],
)
def test_where_each_way_of_saying_it_begins(
    last: timedelta, said: str, first: timedelta, then_said: str
) -> None:
    """The last moment before each, and its first."""
    assert human_time(NOW - last, NOW, "en").startswith(said)
    assert human_time(NOW - first, NOW, "en").startswith(then_said)


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ("2021-01-29", "2022-01-29", "a year ago"),
        ("2021-01-29", "2023-01-28", "a year ago"),
        ("2021-01-29", "2023-01-29", "two years ago"),
        ("2016-01-29", "2026-01-29", "ten years ago"),
        ("2024-01-29", "2025-01-28", "a year ago"),  # 365 days, for there is a leap day among them
        ("2024-02-29", "2026-02-28", "a year ago"),
        ("2024-02-29", "2026-03-01", "two years ago"),
    ],
)
def test_years_are_counted_by_the_calendar(then: str, now: str, said: str) -> None:
    """A year is over on its anniversary, with leap days or without."""
    before, after = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (then, now))
    assert human_time(before, after, "en") == said


@pytest.mark.parametrize(
    ("language", "weeks", "yesterday", "now"),
    [
        ("zh", "3周前的星期四", "昨天（星期三）晚上", "2026-01-29 星期四 20:00（晚上）"),
        ("ja", "3週間前の木曜日", "昨日（水曜日）の夜", "2026-01-29 木曜日 20:00（夜）"),
        ("ko", "3주 전 목요일", "어제(수요일) 저녁", "2026-01-29 목요일 20:00 (저녁)"),
        (
            "vi",
            "3 tuần trước, vào một ngày thứ năm",
            "buổi tối hôm qua, thứ tư",
            "thứ năm, 2026-01-29, 20:00 (buổi tối)",
        ),
    ],
)
def test_other_languages(language: str, weeks: str, yesterday: str, now: str) -> None:
    """The same moments, said natively; and the present for the prompt."""
    assert human_time(NOW - timedelta(days=21), NOW, language) == weeks
    assert human_time(NOW - timedelta(days=1), NOW, language) == yesterday
    assert present(NOW, language) == now


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "a week ago, on Sunday"),
        ("zh", "1周前的星期日"),
        ("ja", "1週間前の日曜日"),
        ("ko", "1주 전 일요일"),
        ("vi", "một tuần trước, hôm chủ nhật"),
    ],
)
def test_ten_days_before_a_wednesday_is_not_in_last_week(language: str, said: str) -> None:
    """It is the Sunday of the week before."""
    wednesday = NOW - timedelta(days=1)
    assert human_time(wednesday - timedelta(days=10), wednesday, language) == said


def test_the_days_are_those_of_the_listener() -> None:
    """Half past eleven in the evening UTC is the next day in Tokyo."""
    tokyo = timezone(timedelta(hours=9))
    then = datetime(2026, 1, 27, 23, 30, tzinfo=UTC)
    assert human_time(then, NOW.astimezone(tokyo), "en").endswith("on Wednesday")
    assert human_time(then, NOW, "en").endswith("on Tuesday")


@given(
    st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=20_000)),
    st.sampled_from([*LANGUAGES, "fr"]),
)
def test_any_past_can_be_said(ago: timedelta, language: str) -> None:
    """No gap leaves a template unfilled or says zero of something."""
    said = human_time(NOW - ago, NOW, language)
    assert said
    assert "{" not in said
    assert "zero" not in said
    assert not said.startswith("0")


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "Next Thursday I'm at a concert", 3),
        ("en", "I love concerts", None),
        ("en", "Monday or Tuesday", None),
        ("zh", "下周四去听音乐会", 3),
        ("zh", "星期天休息", 6),
        ("ja", "次の木曜に行きます", 3),
        ("ko", "다음 주 목요일에 가요", 3),
        ("vi", "Thứ năm tuần sau mình bận", 3),
    ],
)
def test_the_day_that_a_text_names(language: str, text: str, day: int | None) -> None:
    """One day of the week, or none."""
    assert weekday_named(text, language) == day


@pytest.mark.parametrize(
    ("hour", "part"),
    [(0, "night"), (4, "night"), (5, "morning"), (12, "afternoon"), (18, "evening")],
)
def test_parts_of_the_day(hour: int, part: str) -> None:
    """Each begins on its hour."""
    assert present(NOW.replace(hour=hour), "en").endswith(f"({part})")
