"""The part of a long turn that a message is about."""

from __future__ import annotations

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


@given(st.text(max_size=3000), st.text(max_size=60), st.integers(min_value=0, max_value=200))
def test_it_never_exceeds_its_room_by_more_than_an_estimates_error(
    text: str, about: str, tokens: int
) -> None:
    """Any text, any question, any room."""
    shown = excerpt(text, about, tokens=tokens)
    assert estimate_tokens(shown) <= max(tokens, 0) + 8
