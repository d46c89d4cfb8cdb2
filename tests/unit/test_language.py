"""Which language, which sentences, which terms."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language import (
    content_terms,
    detect_language,
    dominant_language,
    estimate_tokens,
    query_terms,
    split_sentences,
    terms,
)
from omoide.language.stemming import stem


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I have two dogs", "en"),
        ("私は東京に住んでいます", "ja"),
        ("昨日ラーメン食べた", "ja"),
        ("我住在北京，喜欢喝茶", "zh"),
        ("我喜欢の这个字", "zh"),
        ("저는 서울에 살아요", "ko"),
        ("Tôi sống ở Hà Nội với hai con mèo", "vi"),
        ("Tên tôi là gì?", "vi"),
        ("Café au lait, s'il vous plaît", "en"),
        ("Il est né à Nîmes, là où il vit.", "en"),
        ("我在 Google 上班", "zh"),
        ("iPhone 16 Pro を買った", "ja"),
    ],
)
def test_detects_the_language_of_a_chat_line(text: str, language: str) -> None:
    """A line of a few words is enough."""
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What does 안녕하세요 mean?", "en"),
        ("What is 김치?", "en"),
        ("How do you say 図書館 in English?", "en"),
        ("She wrote 木漏れ日 on the card.", "en"),
        ("Từ 안녕하세요 nghĩa là gì?", "vi"),
        ("The Beatles 좋아해?", "ko"),
        ("나는 The Lord of the Rings 봤어", "ko"),
        ("How are you は何て言うの？", "ja"),
        ("thank you so muchの意味は？", "ja"),
        ("I love you 是什么意思？", "zh"),
        ("Tokyo から New York", "ja"),
        ("https://example.com/what-is-the を見て", "ja"),
        ("`for i in range` を説明して", "ja"),
        ("今天的 meeting 我 really 不想去", "zh"),
    ],
)
def test_a_foreign_word_or_name_does_not_decide(text: str, language: str) -> None:
    """The sentence does, not what it mentions, also without quotes."""
    assert detect_language(text) == language


def test_text_without_letters_says_nothing() -> None:
    """Emoji and digits take the default."""
    assert detect_language("😀 123", default="ko") == "ko"


def test_one_foreign_line_does_not_decide() -> None:
    """The language of most of the text wins."""
    assert dominant_language(["저는 서울에 살아요. 강아지를 두 마리 키워요.", "OK thanks"]) == "ko"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What does “안녕하세요, 잘 부탁드립니다” mean?", "en"),
        ('He wrote "ありがとうございました" on it.', "en"),
        ("Is 'Em nhớ anh nhiều lắm' a nice thing to say?", "en"),
        ("她对我说「ありがとうございました」。", "zh"),
        ("我在看《となりのトトロ》。", "zh"),
        ("彼は「我昨天和朋友一起去了餐厅」と書いた。", "ja"),
        ("친구가 “我昨天和朋友一起去了餐厅”라고 했어요.", "ko"),
        ("Cô ấy nói “저는 서울에 살고 있어요” với tôi.", "vi"),
        ("「ありがとうございました」", "ja"),
    ],
)
def test_what_is_quoted_does_not_decide(text: str, language: str) -> None:
    """Whoever quotes a foreign sentence writes in their own language, unless there is only the
    quotation."""
    assert dominant_language([text]) == language


def test_a_line_without_kana_amid_japanese_is_japanese() -> None:
    """Kanji alone are not taken for Chinese when the speaker writes Japanese, even where they are
    most of what was said; one Japanese word amid Chinese does not make it Japanese."""
    kanji = ["東京大学経済学部卒業", "明日午後会議予定"]
    assert dominant_language(kanji) == "zh"
    assert dominant_language(["私は猫が好きです", *kanji]) == "ja"
    assert (
        dominant_language(["すし", "我昨天和朋友一起去了一家很好的日本餐厅，我们都很喜欢。"])
        == "zh"
    )


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hi. I am J. Smith, a vet. Ok?", ["Hi.", "I am J. Smith, a vet.", "Ok?"]),
        ("It costs 3.5 dollars. Cheap!", ["It costs 3.5 dollars.", "Cheap!"]),
        ("猫が好き。犬も好き！本当？", ["猫が好き。", "犬も好き！", "本当？"]),
        ("我住在北京。你呢？", ["我住在北京。", "你呢？"]),
        ("Tôi là bác sĩ. Ở Huế.", ["Tôi là bác sĩ.", "Ở Huế."]),
        ("one\ntwo", ["one", "two"]),
        ("", []),
    ],
)
def test_splits_sentences(text: str, sentences: list[str]) -> None:
    """Full stops, CJK stops and line breaks end a sentence; initials and decimals do not."""
    assert split_sentences(text) == sentences


@given(st.text())
def test_splitting_loses_no_word(text: str) -> None:
    """All that is not white space comes back, in order."""
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_english_terms_are_stems() -> None:
    """Inflected forms meet."""
    assert set(terms("She was running with dogs")) & set(terms("run dog")) == {"run", "dog"}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("昨天在上海看了电影", "上海"),
        ("来週、京都へ旅行に行きます", "京都"),
        ("저는 강아지를 키워요", "강아"),
        ("Tôi sống ở Đà Nẵng", "đà nẵng"),
        ("Tôi sống ở Đà Nẵng", "da nang"),
    ],
)
def test_a_query_of_two_characters_finds_the_text(text: str, query: str) -> None:
    """Each term of the query is among the terms of the text, in every language."""
    wanted, there = query_terms(query), set(terms(text))
    assert wanted
    found = [term for term in wanted if term in there]
    assert len(found) >= len(query.split())


def test_vietnamese_with_diacritics_is_taken_at_its_word() -> None:
    """A query with tones does not match words that only look alike without them."""
    assert not set(query_terms("má")) & set(terms("ma"))


def test_content_terms_leave_grammar_out() -> None:
    """Words that every text has do not make two texts alike."""
    assert content_terms("I have the dog") == {"dog"}
    assert "です" not in content_terms("猫です")
    assert content_terms("Con mèo của tôi tên là gì?") == {"con", "mèo", "tên", "~meo", "~ten"}


@given(st.text())
def test_terms_and_estimates_take_any_text(text: str) -> None:
    """Nothing a person can type breaks them."""
    assert all(terms(text))
    assert estimate_tokens(text) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1",
        "_",
        "We bought 12 oranges, 3 pears.",
        "\x00\t\x1c\x7f",
        "<a href='#'>",
        "9" * 30,
    ],
)
def test_ascii_is_estimated_like_any_text(text: str) -> None:
    """Plain English has a quicker way, which counts the same: ten accents more are six tokens."""
    assert estimate_tokens(text + "\xe9" * 10) == estimate_tokens(text) + 6
    assert detect_language(text) == detect_language(text + "\u2013") == "en"


def test_terms_are_the_same_in_every_thread() -> None:
    """Stores index in threads of their own while the event loop reads a question: a stemmer that
    works in place would give one thread the stems of another, or fail."""
    words = [f"{stem}{end}" for stem in _INVENTED for end in ("ing", "ations", "ness", "fully")]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda word: terms(word), words))
    finally:
        sys.setswitchinterval(before)
    assert found == [[stem(word)] for word in words]


_INVENTED = [f"{a}{b}{c}" for a in "brklm" for b in ("ando", "este", "ilo") for c in ("pr", "st")]
"""Words that no other test has put into the cache."""
