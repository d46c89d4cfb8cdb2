"""Time expressions become days."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language.dates import with_absolute_dates
from omoide.language.times import day_numbers, spans

SAID = date(2023, 6, 14)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 3 March 2022", "2022-03-03", "2022-03-03"),
        ("March 3rd, 2022", "2022-03-03", "2022-03-03"),
        ("the 3rd of March", "2023-03-03", "2023-03-03"),
        ("We met on 20 December", "2022-12-20", "2022-12-20"),
        ("in May 2022", "2022-05-01", "2022-05-31"),
        ("in August", "2023-08-01", "2023-08-31"),  # near enough ahead
        ("We swam there in August", "2022-08-01", "2022-08-31"),
        ("We will swim there in August", "2023-08-01", "2023-08-31"),
        ("See you on Friday, I will cook", "2023-06-16", "2023-06-16"),
        ("on 3 August next year", "2024-08-03", "2024-08-03"),
        ("来年の4月に引っ越す", "2024-04-01", "2024-04-30"),
        ("我打算8月去北京", "2023-08-01", "2023-08-31"),
        ("8월에 부산으로 갈 예정이다", "2023-08-01", "2023-08-31"),
        ("Tôi sẽ về quê ngày 3 tháng 8", "2023-08-03", "2023-08-03"),
        ("30 June or in May, if we could", "2023-05-01", "2023-05-31"),  # no note is dated so
        ("in 2021", "2021-01-01", "2021-12-31"),
        ("summer of 2022", "2022-06-01", "2022-08-31"),
        ("winter 2022", "2022-12-01", "2023-02-28"),
        ("2022-03-03", "2022-03-03", "2022-03-03"),
        ("yesterday", "2023-06-13", "2023-06-13"),
        ("Last night", "2023-06-13", "2023-06-13"),
        ("this morning", "2023-06-14", "2023-06-14"),
        ("tomorrow", "2023-06-15", "2023-06-15"),
        ("the other day", "2023-06-07", "2023-06-14"),
        ("two days ago", "2023-06-12", "2023-06-12"),
        ("3 weeks ago", "2023-05-21", "2023-05-27"),
        ("a couple of weeks ago", "2023-05-28", "2023-06-03"),
        ("two years ago", "2021-01-01", "2021-12-31"),
        ("last week", "2023-06-05", "2023-06-11"),
        ("last weekend", "2023-06-09", "2023-06-11"),
        ("last month", "2023-05-01", "2023-05-31"),
        ("next month", "2023-07-01", "2023-07-31"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("last Friday", "2023-06-09", "2023-06-09"),
        ("next Friday", "2023-06-16", "2023-06-16"),
        ("on Monday", "2023-06-12", "2023-06-12"),
        ("last summer", "2022-06-01", "2022-08-31"),
        ("last March", "2023-03-01", "2023-03-31"),
        ("2022年3月3日", "2022-03-03", "2022-03-03"),
        ("３月３日", "2023-03-03", "2023-03-03"),
        ("去年の話、3月に", "2023-03-01", "2023-03-31"),
        ("昨天", "2023-06-13", "2023-06-13"),
        ("前天", "2023-06-12", "2023-06-12"),
        ("上周", "2023-06-01", "2023-06-13"),
        ("3天前", "2023-06-11", "2023-06-11"),
        ("昨日", "2023-06-13", "2023-06-13"),
        ("2週間前", "2023-05-28", "2023-06-03"),
        ("先月", "2023-04-15", "2023-05-30"),
        ("2022년 3월 3일", "2022-03-03", "2022-03-03"),
        ("어제", "2023-06-13", "2023-06-13"),
        ("지난주", "2023-06-01", "2023-06-13"),
        ("ngày 3 tháng 3 năm 2022", "2022-03-03", "2022-03-03"),
        ("mùng 2 Tết (22/1/2023)", "2023-01-22", "2023-01-22"),
        ("trước 15 tháng 5 năm 2022 nhé", "2022-05-15", "2022-05-15"),
        ("dời sang ngày 15/5 rồi", "2023-05-15", "2023-05-15"),
        ("cuối tháng 4/2022", "2022-04-01", "2022-04-30"),
        ("hôm qua", "2023-06-13", "2023-06-13"),
        ("Tuần trước", "2023-06-01", "2023-06-13"),
    ],
)
def test_expressions(text: str, first: str, last: str) -> None:
    """Absolute and relative expressions in five languages, from the day they were said."""
    assert (date.fromisoformat(first), date.fromisoformat(last)) in spans(text, SAID)


@pytest.mark.parametrize(
    "text",
    [
        "You may go.",
        "in may case",
        "He will march on.",
        "Two of them",
        "30 February 2023",
        "13月40日",
        "room 2022",
        "",
    ],
)
def test_no_time_is_named(text: str) -> None:
    """Words that look like times, and days that do not exist, are none."""
    assert spans(text, SAID) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We will fly to Tokyo in April."),
        ("en", "We flew to Tokyo in April."),
        ("en", "My exam will be on March 20."),
        ("en", "Moving out by the end of November."),
        ("en", "I have been here since October."),
        ("zh", "我打算4月搬家。"),
        ("ja", "4月に引っ越す予定だ。"),
        ("ko", "4월에 이사할 예정이다."),
        ("vi", "Tôi sẽ chuyển nhà vào ngày 5 tháng 4."),
    ],
)
@given(said=st.dates(min_value=date(1990, 1, 1), max_value=date(2090, 1, 1)))
def test_search_and_notes_read_the_same_year(language: str, text: str, said: date) -> None:
    """A month without a year is the same month for the search and in the note of it."""
    noted = with_absolute_dates(text, day=said, language=language)
    [(first, last)] = spans(text, said)
    assert (noted.since or first, noted.until or last) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("My exam is the day after tomorrow.", "2023-06-16", "2023-06-16"),
        ("I fly on the 3rd of next month.", "2023-07-03", "2023-07-03"),
        ("我大前天考试了。", "2023-06-11", "2023-06-11"),
        ("我上上周去了海边。", "2023-05-29", "2023-06-04"),
        ("一昨年退院した。", "2021-01-01", "2021-12-31"),
        ("지지난달에 입원했다.", "2023-04-01", "2023-04-30"),
        ("Tôi đã nhập viện tháng trước nữa.", "2023-04-01", "2023-04-30"),
        ("去年搬家了。", "2022-01-01", "2022-12-31"),
        ("先月引っ越した。", "2023-05-01", "2023-05-31"),
    ],
)
def test_an_expression_is_read_as_in_notes(text: str, first: str, last: str) -> None:
    """The day after tomorrow is not tomorrow; last year has a November."""
    assert spans(text, SAID) == [(date.fromisoformat(first), date.fromisoformat(last))]


@pytest.mark.parametrize("text", ["I left half a year ago.", "Tôi gặp Ana vài tháng trước."])
def test_what_a_vague_expression_holds_is_no_time(text: str) -> None:
    """Neither "a year ago" nor last month (tháng trước) is meant."""
    assert spans(text, SAID) == []


def test_in_order_of_mention() -> None:
    """Several expressions of one language come in the order they stand, as numbers too."""
    found = spans("We met yesterday, and on 3 March 2022.", SAID)
    assert [first.isoformat() for first, _ in found] == ["2023-06-13", "2022-03-03"]
    numbers = day_numbers("We met yesterday, and on 3 March 2022.", SAID)
    assert numbers == [(a.toordinal(), b.toordinal()) for a, b in found]


PIECES = st.sampled_from(
    "999 years months days ago back last next this may March 31 30 2月 30日 昨天 前 999 年前 "
    "1900 2099 winter of in since hôm qua tháng ngày 13 weekend 去年 上个月 - / ٣".split()
)


@given(st.lists(PIECES, max_size=8).map(" ".join), st.dates())
def test_nothing_breaks_it(text: str, said: date) -> None:
    """Whatever is said, whenever: recording never fails over a date."""
    assert all(first <= last for first, last in spans(text, said))
