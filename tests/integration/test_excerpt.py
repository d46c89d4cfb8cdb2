"""The part of a long turn that a message is about."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language import estimate_tokens
from omoide.mechanisms.search.excerpt import GAP, excerpt

FILLER = {
    "en": ("The train was late again today.", "We talked about the weather for a while."),
    "zh": ("今天火车又晚点了。", "我们聊了一会儿天气。"),
    "ja": ("今日も電車が遅れた。", "しばらく天気の話をした。"),
    "ko": ("오늘도 기차가 늦었다.", "한동안 날씨 이야기를 했다."),
    "vi": ("Hôm nay tàu lại trễ.", "Chúng tôi nói chuyện thời tiết một lúc."),
}
TOLD = {
    "en": ("Grandma's ring is in the blue tin.", "Where is the ring?"),
    "zh": ("奶奶的戒指在蓝色铁盒里。", "戒指在哪里？"),
    "ja": ("祖母の指輪は青い缶に入っている。", "指輪はどこ？"),
    "ko": ("할머니 반지는 파란 통에 있다.", "반지 어디 있어?"),
    "vi": ("Chiếc nhẫn của bà nằm trong hộp thiếc xanh.", "Chiếc nhẫn ở đâu?"),
}


def diary(language: str) -> str:
    """A long text with one sentence that matters, far from both ends."""
    days = FILLER[language] * 60
    return " ".join([*days, TOLD[language][0], *days])


@pytest.mark.parametrize("language", FILLER)
def test_the_sentence_that_matters_is_shown_with_what_is_around_it(language: str) -> None:
    """Within the room there is, and with marks for what is left out."""
    told, question = TOLD[language]
    shown = excerpt(diary(language), question, tokens=80)
    assert told in shown
    assert FILLER[language][1] in shown.split(told)[0]
    assert shown.count(GAP) == 2
    assert shown.startswith(GAP)
    assert shown.endswith(GAP)
    assert estimate_tokens(shown) <= 80


def test_a_text_that_fits_is_whole() -> None:
    """Nothing is marked as left out."""
    assert excerpt("I ride a bike. It is red.", "bike", tokens=50) == "I ride a bike. It is red."


def test_without_a_common_word_it_is_the_beginning() -> None:
    """A turn may be near in meaning alone."""
    shown = excerpt(diary("en"), "Xylophones?", tokens=60)
    assert shown.startswith(FILLER["en"][0])


def test_a_line_without_full_stops_is_cut() -> None:
    """A pasted table is one sentence."""
    table = " ".join(f"row{i} value{i}" for i in range(2000))
    assert "row1500" in excerpt(table, "row1500", tokens=150)


LINES = {
    "en": " and ".join(f"between {n} and {n + 117} o'clock we met" for n in range(200)),
    "zh": "，".join(f"我们在{n}点到{n + 117}点之间和Alice{n}开会" for n in range(200)),
    "csv": ";".join(f"between;{n};and;{n + 117}" for n in range(300)),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_not_cut_within_a_word_or_a_number(line: str) -> None:
    """What is shown of "17 o'clock" is not "7 o'clock"."""
    text = LINES[line]
    words = set(re.findall("[a-zA-Z0-9]+", text))
    for tokens in range(60, 400, 7):
        for about in ("between 99 and 216", "在99点到216点"):
            assert set(re.findall("[a-zA-Z0-9]+", excerpt(text, about, tokens=tokens))) <= words
    assert GAP in excerpt(text, "99 216", tokens=100)


def test_a_text_that_fits_exactly_is_whole() -> None:
    """With one token less something is left out."""
    text = " ".join(FILLER["en"] * 10)
    tokens = estimate_tokens(text)
    assert excerpt(text, "train", tokens=tokens) == text
    assert GAP in excerpt(text, "train", tokens=tokens - 1)


def test_nothing_is_shown_of_nothing_and_without_room() -> None:
    """Neither of white space nor of a sentence that is longer than there is room for."""
    assert excerpt("", "ring", tokens=50) == ""
    assert excerpt(" \n ", "ring", tokens=50) == ""
    assert excerpt(diary("en"), "ring", tokens=3) == ""


def test_a_sentence_is_shown_from_the_room_on_that_it_needs_with_its_marks() -> None:
    """Three of them are counted: before it, after it, and one to the next sentence."""
    told, question = TOLD["en"]
    room = estimate_tokens(told) + 3 * estimate_tokens(f" {GAP} ")
    assert excerpt(diary("en"), question, tokens=room) == f"{GAP} {told} {GAP}"
    assert told not in excerpt(diary("en"), question, tokens=room - 1)


@pytest.mark.parametrize("language", FILLER)
def test_more_room_shows_more_and_is_never_exceeded(language: str) -> None:
    """What is shown between two marks stands in the text so, spaces included."""
    text, shown = diary(language), ""
    for tokens in range(30, 400, 7):
        shown = excerpt(text, TOLD[language][1], tokens=tokens)
        assert estimate_tokens(shown) <= tokens
        assert all(part.strip() in text for part in shown.split(GAP))
    assert estimate_tokens(shown) > 250


def test_nothing_is_marked_as_left_out_before_the_beginning_or_after_the_end() -> None:
    """The sentence that matters may be the first or the last."""
    told, question = TOLD["en"]
    days = " ".join(FILLER["en"] * 60)
    first = excerpt(f"{told} {days}", question, tokens=60)
    assert first.startswith(f"{told} {FILLER['en'][0]}")
    assert first.endswith(GAP)
    last = excerpt(f"{days} {told}", question, tokens=60)
    assert last.startswith(GAP)
    assert last.endswith(f"{FILLER['en'][1]} {told}")


def test_a_single_sentence_that_is_left_out_is_marked() -> None:
    """Between two that matter."""
    one, other = "The ring is in the tin.", "The ring is blue."
    long = " ".join(f"Word{i}" for i in range(22)) + "."
    text = f"{one} {long} {other}"
    room = estimate_tokens(text) - 1
    assert excerpt(text, "ring", tokens=room) == f"{one} {GAP} {other}"


def test_a_rare_word_of_the_question_counts_more_than_one_that_all_sentences_have() -> None:
    """Though the common one occurs first."""
    days = [f"The train of day{i} was late." for i in range(80)]
    text = " ".join([*days, "Grandma lost a ring.", *days])
    assert "lost a ring" in excerpt(text, "Was the train late when the ring was lost?", tokens=40)
    assert "lost a ring" in excerpt(text, "What of the train, and of the ring?", tokens=40)


@given(st.text(max_size=3000), st.text(max_size=60), st.integers(min_value=0, max_value=200))
def test_it_never_exceeds_its_room_by_more_than_an_estimates_error(
    text: str, about: str, tokens: int
) -> None:
    """Any text, any question, any room."""
    shown = excerpt(text, about, tokens=tokens)
    assert estimate_tokens(shown) <= max(tokens, 0) + 8
