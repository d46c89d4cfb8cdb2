"""Relative dates become absolute, in every language; what is unsure stays."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.errors import BadLanguage
from omoide.language import BUILT_IN, DatedText, register, with_absolute_dates
from omoide.language.pack import pack, unregister
from omoide.language.periods import counted, unit_and_step

if TYPE_CHECKING:
    from collections.abc import Iterator

TUESDAY = date(2026, 5, 19)
"""The day on which the sentences of the tables are said."""
TABLES = Path(__file__).parents[1] / "fixtures" / "dates"


def rows(language: str) -> list[list[str]]:
    """What is said, how it is written ("=" if it stays), and its first and last day."""
    lines = (TABLES / f"{language}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


def written(text: str, day: date, language: str = "en") -> str:
    """The text as it is written if it was said on that day."""
    return with_absolute_dates(text, day=day, language=language).text


@pytest.mark.parametrize("language", BUILT_IN)
def test_a_sentence_is_dated(language: str) -> None:
    """Each sentence of the tables is written with the date, or left as it is."""
    found = []
    for said, *_ in rows(language):
        dated = with_absolute_dates(said, day=TUESDAY, language=language)
        text = dated.text if dated.found else "="
        assert dated.found or dated.text == said
        found.append([said, text, str(dated.since or "-"), str(dated.until or "-")])
    assert found == rows(language)


@pytest.mark.parametrize("language", BUILT_IN)
def test_every_language_has_cases_and_counter_cases(language: str) -> None:
    """The tables hold at least forty dated sentences and ten that stay."""
    stays = [row for row in rows(language) if row[1] == "="]
    assert len(rows(language)) - len(stays) >= 40
    assert len(stays) >= 10


@pytest.mark.parametrize(
    ("said", "day", "text"),
    [
        ("It was yesterday.", "2024-03-01", "It was on 29 February 2024."),
        ("It was yesterday.", "2026-03-01", "It was on 28 February 2026."),
        ("It was three months ago.", "2024-05-31", "It was in February 2024."),
        ("It was last month.", "2026-01-31", "It was in December 2025."),
        ("It is next month.", "2026-12-01", "It is in January 2027."),
        ("It is tomorrow.", "2026-12-31", "It is on 1 January 2027."),
        ("User will marry on 29 February.", "2026-05-19", "User will marry on 29 February 2028."),
        ("User moved on 29 February.", "2026-05-19", "User moved on 29 February 2024."),
        ("User will move in June.", "2026-06-30", "User will move in June 2026."),
        ("User will move in June.", "2026-07-01", "User will move in June 2027."),
        ("User moved in June.", "2026-06-01", "User moved in June 2026."),
        ("User moved in June.", "2026-05-31", "User moved in June 2025."),
        ("It is next week.", "2026-05-24", "It is in the week of 25 May 2026."),
        ("User met Ana last Friday.", "2026-05-22", "User met Ana on 15 May 2026."),
        ("User met Ana last Friday.", "2026-05-23", "User met Ana on 15 May 2026 or 22 May 2026."),
        ("User will come next Friday.", "2026-05-22", "User will come on 29 May 2026."),
        ("User will come this Friday.", "2026-05-22", "User will come on 22 May 2026."),
        ("User came this Friday.", "2026-05-23", "User came on 22 May 2026."),
        ("User came this past Friday.", "2026-05-23", "User came on 22 May 2026."),
        ("User will come this coming Friday.", "2026-05-22", "User will come on 29 May 2026."),
        (
            "User will rest next weekend.",
            "2026-05-23",
            "User will rest on the weekend of 30 May 2026.",
        ),
        ("User rested this weekend.", "2026-05-25", "User rested on the weekend of 23 May 2026."),
        (
            "User will rest this weekend.",
            "2026-05-24",
            "User will rest on the weekend of 23 May 2026.",
        ),
        ("User will rest next summer.", "2026-10-01", "User will rest in the summer of 2027."),
        ("User rested last summer.", "2026-10-01", "User rested in the summer of 2026."),
        ("User rested last summer.", "2026-07-01", "User rested in the summer of 2025."),
        ("User will ski this winter.", "2027-01-10", "User will ski in the winter of 2026–2027."),
        ("User will move next January.", "2026-11-16", "User will move in January 2027."),
        ("User moved last December.", "2026-05-19", "User moved in December 2025."),
    ],
)
def test_the_calendar_is_kept(said: str, day: str, text: str) -> None:
    """Ends of months, leap years, and the turns of weeks, seasons and years come out right."""
    assert written(said, date.fromisoformat(day)) == text


@pytest.mark.parametrize(
    ("language", "said", "text"),
    [
        ("en", "User will start on the 31st of next month.", "User will start on 31 June 2026."),
        ("zh", "用户下个月31号要出差。", "用户2026年6月31日要出差。"),
    ],
)
def test_a_day_that_the_month_lacks_is_dated_by_its_month(
    language: str, said: str, text: str
) -> None:
    """It is written as it was said, and the days are those of the month."""
    dated = with_absolute_dates(said, day=TUESDAY, language=language)
    assert (dated.text, dated.since, dated.until) == (text, date(2026, 6, 1), date(2026, 6, 30))


@pytest.mark.parametrize(
    ("language", "said", "day", "text"),
    [
        ("en", "User retires in June.", "2026-10-01", "User retires in June 2027."),
        ("en", "User retires in June.", "2026-09-01", "User retires in June 2026."),
        ("en", "User has the keys until June.", "2026-08-01", "User has the keys until June 2027."),
        ("en", "User had the keys until June.", "2026-08-01", "User had the keys until June 2026."),
        ("en", "User is in Rome, in May.", "2026-10-01", "User is in Rome, in May 2027."),
        ("en", "User was in Rome, in May.", "2026-10-01", "User was in Rome, in May 2026."),
        ("en", "User will be in Rome, in May.", "2026-07-01", "User will be in Rome, in May 2027."),
        (
            "zh",
            "用户跟前妻和好了，她六月搬来。",
            "2026-08-03",
            "用户跟前妻和好了，她2026年6月搬来。",
        ),
        ("ja", "ユーザーは三月で定年だ。", "2026-07-01", "ユーザーは2027年3月で定年だ。"),
        (
            "ko",
            "사용자는 5월부터 학원에 다닌다.",
            "2026-06-22",
            "사용자는 2026년 5월부터 학원에 다닌다.",
        ),
        (
            "vi",
            "Người dùng tháng 12 ra quân.",
            "2026-08-31",
            "Người dùng tháng 12 năm 2026 ra quân.",
        ),
    ],
)
def test_without_a_tense_a_month_is_ahead_unless_that_is_far(
    language: str, said: str, day: str, text: str
) -> None:
    """Eight months at most; more if the sentence is about the future or something lasts until
    then, less if the sentence is about the past."""
    assert written(said, date.fromisoformat(day), language) == text


def bare_months(language: str) -> list[list[str]]:
    """Notes of our stories with a month and no year: the day, the date meant ("-" if it comes
    every year) and the note. The patterns were written from notes that are not among these."""
    lines = (TABLES / "bare_months.tsv").read_text("utf-8").splitlines()
    return [row[1:] for row in (line.split("\t") for line in lines) if row[0] == language]


@pytest.mark.parametrize("language", BUILT_IN)
def test_labelled_notes_with_a_bare_month_are_dated(language: str) -> None:
    """Nineteen of twenty get the date that was meant, and four of five that come every year
    stay."""
    table = pack(language).relative
    style, names = table.beside or table.alone, table.month_names
    outcomes: dict[bool, list[bool]] = {True: [], False: []}
    for day, meant, note in bare_months(language):
        dated = with_absolute_dates(note, day=date.fromisoformat(day), language=language)
        if meant == "-":
            outcomes[False].append(not dated.found)
            continue
        y, m, *d = map(int, meant.split("-"))
        month = names[m - 1].split()[0] if names else m
        form = style.day if d else style.month
        wanted = form.format(y=y, m=m, d=d[0] if d else 0, month=month)
        outcomes[True].append(wanted in dated.text)
    assert sum(outcomes[True]) >= 0.95 * len(outcomes[True])
    assert sum(outcomes[False]) >= 0.8 * len(outcomes[False])


def test_what_was_replaced_is_reported() -> None:
    """The expressions are given in order, as they were said."""
    dated = with_absolute_dates(
        "User paints next week and rests in two months or so, as User will say tomorrow.",
        day=TUESDAY,
        language="en",
    )
    assert dated.found == ("next week", "tomorrow")


def test_a_range_may_stay_as_it_is_told() -> None:
    """With the year after its first day it cannot be read; other expressions are still dated."""
    told = "User travels December 15 to 31, and moves next week."
    dated = with_absolute_dates(told, day=date(2026, 5, 19), language="en", ranges=False)
    assert dated.text == ("User travels December 15 to 31, and moves in the week of 25 May 2026.")
    alone = with_absolute_dates(
        "User flies December 15.", day=date(2026, 5, 19), language="en", ranges=False
    )
    assert alone.text == "User flies on 15 December 2026."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "User's favourite film is The Day After Tomorrow."),
        ("en", "User works for USA Today in Boston."),
        ("en", "User's band is called Last Summer."),
        ("en", "User is reading Tomorrow, and Tomorrow, and Tomorrow."),
        ("en", "User's motto is 'Don't put off until tomorrow what you can do today'."),
        ("en", "User’s motto is ‘Don’t put off until tomorrow’."),
        ("en", 'User\'s alarm says "Leave today at 7".'),
        ("zh", "用户在《今日说法》工作，喜欢“明天见”。"),
        ("ja", "ユーザーは映画『明日の記憶』と番組「今日の料理」が好きである。"),
        ("ko", "사용자는 '오늘의집'에서 일한다."),
        ("ko", "사용자는 〈어제의 용사들〉을 좋아한다."),
        ("vi", "Người dùng thích bài 'Ngày mai'."),
        ("vi", "Người dùng đọc báo Tuổi Trẻ Hôm Nay."),
    ],
)
def test_names_and_quotations_may_stay(language: str, text: str) -> None:
    """They hold words for days, and speak of none."""
    dated = with_absolute_dates(text, day=TUESDAY, language=language, names=False)
    assert dated == DatedText(text=text, since=None, until=None, found=())


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "User wants the Assistant to list tomorrow's meetings every evening."),
        ("en", "User always pays this month's rent with last month's salary."),
        ("zh", "用户每天晚上要听明天的日程。"),
        ("ja", "ユーザーは毎晩明日の予定を聞きたい。"),
        ("ko", "사용자는 매일 밤 내일 일정을 듣고 싶어 한다."),
        ("vi", "Người dùng luôn muốn biết lịch ngày mai."),
    ],
)
def test_a_habit_may_stay(language: str, text: str) -> None:
    """Its "tomorrow" is another day each time."""
    dated = with_absolute_dates(text, day=TUESDAY, language=language, habits=False)
    assert dated == DatedText(text=text, since=None, until=None, found=())


@pytest.mark.parametrize(
    ("language", "said", "text"),
    [
        ("en", "Tomorrow User flies to Rome.", "On 20 May 2026 User flies to Rome."),
        (
            "en",
            "User flies on Monday. Today they pack.",
            "User flies on 25 May 2026. On 19 May 2026 they pack.",
        ),
        (
            "en",
            "User saw 'Tomorrow' and will meet Ana this coming Friday.",
            "User saw 'Tomorrow' and will meet Ana on 22 May 2026.",
        ),
        (
            "en",
            "User's friends' party is tomorrow, at the Joneses' house.",
            "User's friends' party is on 20 May 2026, at the Joneses' house.",
        ),
        (
            "en",
            "User will have lessons every Monday from next week.",
            "User will have lessons every Monday from the week of 25 May 2026.",
        ),
        (
            "en",
            "User visited every museum last weekend.",
            "User visited every museum on the weekend of 16 May 2026.",
        ),
        ("zh", "用户从明天起每天跑步。", "用户从2026年5月20日起每天跑步。"),
        (
            "vi",
            "Người dùng gặp bác sĩ vào thứ Tư tuần sau.",
            "Người dùng gặp bác sĩ vào ngày 27 tháng 5 năm 2026.",
        ),
    ],
)
def test_times_beside_names_and_habits_are_dated(language: str, said: str, text: str) -> None:
    """A name of a day has a capital anyway, a sentence begins with one, a habit begins on a day,
    and what is over was one time."""
    dated = with_absolute_dates(said, day=TUESDAY, language=language, names=False, habits=False)
    assert dated.text == text


def test_an_unknown_language_is_read_as_english() -> None:
    """As everywhere where a pack is missing."""
    assert written("It is tomorrow.", TUESDAY, "tlh") == "It is on 20 May 2026."


def test_letters_that_only_equal_in_capitals_are_no_expression() -> None:
    """An old long s matches an s, but is no word of the table."""
    assert written("laſt week", TUESDAY) == "laſt week"


def pieces(language: str) -> list[str]:
    """Words and endings that expressions are made of, whole sentences among them."""
    table = pack(language).relative
    words = [word for listed in table.periods.values() for word in listed]
    words += [*table.ways, *table.numbers, *table.spans, *table.season_names]
    words += [name for names in table.weekday_names for name in names]
    words += [part for row in rows(language) for part in (row[0], *row[0].split())]
    return [
        *words,
        " ",
        " ",
        ", ",
        ". ",
        "、",
        "3",
        "12",
        "31",
        "2026",
        "月",
        "年",
        "日",
        "월",
        "일",
    ]


days = st.dates(date(1950, 1, 1), date(2080, 12, 31))


@pytest.mark.parametrize("language", BUILT_IN)
@given(data=st.data(), day=days, other=days)
def test_a_dated_text_stays_on_any_other_day(
    language: str, data: st.DataObject, day: date, other: date
) -> None:
    """Read again later it says the same, and speaks of the same days."""
    parts = data.draw(st.lists(st.sampled_from(pieces(language)), max_size=8))
    once = with_absolute_dates("".join(parts), day=day, language=language)
    again = with_absolute_dates(once.text, day=other, language=language)
    assert (again.text, again.found) == (once.text, ())


@pytest.mark.parametrize("language", BUILT_IN)
@given(data=st.data(), day=days, other=days)
def test_a_dated_sentence_keeps_its_days(
    language: str, data: st.DataObject, day: date, other: date
) -> None:
    """The days of a sentence are the same when its dated form is read on another day."""
    said, *_ = data.draw(st.sampled_from(rows(language)))
    once = with_absolute_dates(said, day=day, language=language)
    again = with_absolute_dates(once.text, day=other, language=language)
    assert again == DatedText(text=once.text, since=once.since, until=once.until, found=())
    if once.since and once.until:
        assert once.since <= once.until


@given(text=st.text(max_size=80), day=days, language=st.sampled_from(BUILT_IN))
def test_any_text_is_taken(text: str, day: date, language: str) -> None:
    """No text raises, and what holds no expression stays as it is."""
    dated = with_absolute_dates(text, day=day, language=language)
    assert dated.found or dated.text == text


@pytest.mark.parametrize("language", BUILT_IN)
def test_every_word_for_a_period_is_read(language: str) -> None:
    """A pack has none that its rules do not reach."""
    for key, words in pack(language).relative.periods.items():
        unit, step = unit_and_step(key)
        period = counted(unit, step, day=TUESDAY)
        for word in words:
            dated = with_absolute_dates(word, day=TUESDAY, language=language)
            assert (word, dated.since, dated.until) == (word, period.first, period.last)


@pytest.mark.parametrize("language", BUILT_IN)
@given(step=st.integers(-400, 400))
def test_tomorrow_is_the_day_after(language: str, step: int) -> None:
    """Tomorrow said on a day is today said on the next."""
    day = TUESDAY + timedelta(step)
    words = pack(language).relative.periods
    today, tomorrow = words["day+0"][0], words["day+1"][0]
    assert written(tomorrow, day, language) == written(today, day + timedelta(1), language)


@pytest.mark.parametrize("language", BUILT_IN)
@pytest.mark.parametrize(
    "unit", ["in ", "the ", "on Friday ", "a few ", " ", "3", "下", "数", "다음 ", "hai "]
)
def test_a_hostile_text_is_read_in_one_pass(language: str, unit: str) -> None:
    """Thousands of beginnings of expressions end; a search that tries all ways to read them would
    run into the time limit of the tests."""
    text = unit * (4_000 // len(unit))
    assert with_absolute_dates(text, day=TUESDAY, language=language).text


SIXTH = r"""
name = "Zorvan"

[detection]
script = "deseret"
letters = '[\U00010400-\U0001044F]'

[person]
first = 'zo'

[note]
user = "Zu "
assistant = "Za "
"""
RELATIVE = """
[relative]
rules = ['(?P<period>{{periods}})', '(?P<n>{{numbers}}) (?P<span>{{spans}}) (?P<ago>gone)']
absolute = ['(?P<y>\\d{4})-(?P<m>\\d\\d)-(?P<d>\\d\\d)']
numbers = { "two" = 2 }
spans = { "suns" = "day" }

[relative.periods]
"day+1" = ["morrowsun"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a sixth language, which is taken away after the test."""
    yield tmp_path
    unregister("zv")


def test_a_sixth_language_brings_its_own_words(folder: Path) -> None:
    """Its words are dated, in figures where its pack does not say how to write them."""
    (folder / "language.toml").write_text(SIXTH + RELATIVE, "utf-8")
    register("zv", folder)
    assert (
        written("Zu zal morrowsun, two suns gone.", TUESDAY, "zv")
        == "Zu zal 2026-05-20, 2026-05-17."
    )


def test_a_language_without_the_table_keeps_its_texts(folder: Path) -> None:
    """Nothing is dated by the rules of another language."""
    (folder / "language.toml").write_text(SIXTH, "utf-8")
    register("zv", folder)
    assert written("tomorrow", TUESDAY, "zv") == "tomorrow"


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        ('"day+1"', '"sun+1"', r"language\.toml: relative\.periods: wanted a unit .* 'sun\+1'"),
        (
            "[relative.periods]",
            'month_names = ["Jan"]\n[relative.periods]',
            "wanted 12 entries, not 1",
        ),
        ("{{numbers}}", "{{counters}}", r"relative\.rules\[1\]: there is no part \{\{counters\}\}"),
    ],
)
def test_a_wrong_table_is_refused(folder: Path, right: str, wrong: str, error: str) -> None:
    """The message names the file and the key."""
    (folder / "language.toml").write_text(SIXTH + RELATIVE.replace(right, wrong), "utf-8")
    with pytest.raises(BadLanguage, match=error):
        register("zv", folder)
