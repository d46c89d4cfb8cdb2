"""A query taken apart."""

from __future__ import annotations

from datetime import date

import pytest

from omoide.domain import Speaker
from omoide.language.terms import is_prefix
from omoide.mechanisms.search.question import ParsedQuery, parse_query, search_terms
from omoide.ports.store import NamedSpeaker

DAY = date(2023, 6, 14)
NAMED = (
    NamedSpeaker(speaker=Speaker.USER, name="Caroline"),
    NamedSpeaker(speaker=Speaker.ASSISTANT, name="Melanie"),
)
NAMELESS = (
    NamedSpeaker(speaker=Speaker.USER, name=None),
    NamedSpeaker(speaker=Speaker.ASSISTANT, name=None),
)


def ask(
    text: str, voices: tuple[NamedSpeaker, ...] = NAMELESS, asker: Speaker = Speaker.USER
) -> ParsedQuery:
    """Asked on `DAY`."""
    return parse_query(text, asked=DAY, voices=voices, asker=asker)


def test_names_say_who_is_meant() -> None:
    """The one speaker who is named is whom it is about; the name is no term then."""
    question = ask("When did Caroline's sister adopt the puppy?", NAMED)
    assert question.about == {0}
    assert "puppi" in question.terms
    assert "carolin" not in question.terms
    assert ask("What did Caroline give Melanie?", NAMED).about == frozenset()
    assert ask("Caroline", NAMED).terms[0] == "carolin"


def test_a_name_covers_the_nameless_turns_of_the_same_speaker() -> None:
    """Turns recorded before the name was known are meant too, unless they may be another's."""
    voices = (*NAMELESS, NamedSpeaker(speaker=Speaker.USER, name="Ann"))
    assert ask("Where does Ann live?", voices).about == {0, 2}
    more = (*voices, NamedSpeaker(speaker=Speaker.USER, name="Bob"))
    assert ask("Where does Ann live?", more).about == {2}


def test_a_name_that_is_a_common_word() -> None:
    """Someone called Will is not named by every question that begins with will."""
    voices = (NamedSpeaker(speaker=Speaker.USER, name="May"), NAMELESS[1])
    assert ask("What may happen?", voices).about == frozenset()
    assert ask("What did May do?", voices).about == {0}


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What did I say about tea?", {0}),
        ("What did you recommend to me?", {1}),
        ("Do you remember my sister?", {0}),
        ("我妹妹叫什么?", {0}),
        ("你还记得我的生日吗?", {0}),
        ("你推荐了什么?", {1}),
        ("私の猫は?", {0}),
        ("내가 어디 살아?", {0}),
        ("Tôi sống ở đâu?", {0}),
        ("Bạn đã khuyên gì?", {1}),
        ("What is the capital of Peru?", set()),
    ],
)
def test_pronouns_say_who_is_meant(text: str, about: set[int]) -> None:
    """The first pronoun counts, courtesies aside, from the asker's side."""
    assert ask(text).about == about
    assert ask(text, asker=Speaker.ASSISTANT).about == {1 - i for i in about}


@pytest.mark.parametrize(
    "greeting", ["", "你好！", "您好，", "谢谢你！"], ids=["plain", "hello", "polite", "thanks"]
)
def test_a_greeting_says_nobody_in_chinese(greeting: str) -> None:
    """你 in 你好 is no question about the other person."""
    assert ask(f"{greeting}我现在的老板是谁？").about == {0}
    assert ask(f"{greeting}你喜欢喝茶吗？").about == {1}


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Chào bạn! Sếp mình bây giờ là ai nhỉ, bạn nhớ không?", {0}),
        ("Xin chào bạn, tôi làm nghề gì?", {0}),
        ("Chào bạn! Bạn thích trà không?", {1}),
        ("Thank you! Where do I live?", {0}),
        ("I moved to Porto. Do you like it there?", {1}),
        ("I am moving next week. Any ideas?", {0}),
    ],
)
def test_the_pronoun_where_it_asks_counts(text: str, about: set[int]) -> None:
    """A greeting, thanks or what is told first does not say whom the question is about."""
    assert ask(text).about == about


@pytest.mark.parametrize(
    "text",
    "When is it?|what time|Tell me more|她住哪|何を食べた|いつ|어디 가|Nhà ở đâu".split("|"),
)
def test_questions(text: str) -> None:
    """Questions are known by their marks and words, in five languages."""
    assert ask(text).asks


@pytest.mark.parametrize("text", ["I love tea", "green tea", "我喜欢喝茶", "서울", "phở bò"])
def test_statements(text: str) -> None:
    """What asks nothing looks for its like."""
    assert not ask(text).asks


def test_time() -> None:
    """Days named are resolved from the day of asking; asking for a time is noticed."""
    yesterday = date(2023, 6, 13).toordinal()
    assert ask("What did I do yesterday?").days == ((yesterday, yesterday),)
    assert ask("When did I move?").wants_time
    assert ask("多久?").wants_time
    assert not ask("Where did I move?").wants_time


def test_terms() -> None:
    """Two characters are a term; Vietnamese is folded if typed so; kana alone is left out."""
    assert search_terms("北京") == ("北京",)
    assert search_terms("東京に行った") == ("東京", "京に", "に行", "行っ")
    assert search_terms("すし") == ("すし",)
    assert "~pho" in search_terms("pho")
    assert search_terms("phở") == ("phở",)
    assert search_terms("who is it") == ("who", "is", "it")


@pytest.mark.parametrize(
    ("query", "lone"),
    [
        ("猫の名前は？", {"猫"}),
        ("私の妻の仕事は何ですか", {"妻"}),
        ("你的猫叫什么名字", {"猫"}),
        ("我们一起看的电影", set()),
        ("빵을 좋아해?", {"빵"}),
        ("나는 강아지를 키워", set()),
        ("What is my cat called?", set()),
    ],
)
def test_words_of_one_character(query: str, lone: set[str]) -> None:
    """A word of one character is looked up by itself, since its bigrams hold the particle too."""
    assert {term for term in search_terms(query) if is_prefix(term)} == lone
