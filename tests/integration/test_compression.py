"""Compression: what may go, what must stay, and that nothing is invented."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omoide.adapters.analysers import analyser_for
from omoide.adapters.analysers.english import English
from omoide.adapters.analysers.tagged import TaggedSpan, joined
from omoide.claims.overlap import rarity
from omoide.errors import BadInput
from omoide.language import content_terms, estimate_tokens
from omoide.mechanisms.memos.compression import (
    FunctionWordCompressor,
    NoCompression,
    RandomTokenCompressor,
    compress,
)
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from tests.examples import examples
from tests.unit.talks import talk


async def grammarless(text: str, language: str, share: float = 1.0) -> str:
    """One turn without its function words."""
    method = FunctionWordCompressor(share=share, analyser=analyser_for)
    (left,) = await method.shorten(talk(text), language=language, weight={})
    return left


class Chars:
    """A tokenizer of one token a character, so that shares can be counted."""

    async def pieces(self, text: str) -> tuple[str, ...]:
        """Each character."""
        return tuple(text)


def is_subsequence(short: str, long: str) -> bool:
    """Whether `short` is `long` with characters left out."""
    rest = iter(long)
    return all(char in rest for char in short)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I will not be in Boston in May, from 3 to 5 June.", ["not", "from 3 to 5 June"]),
        (
            "We don't have a dog, but Ana's cat is 12 and can't hear.",
            ["don't", "12", "can't"],
        ),
        ("I moved from Sweden to Norway in 2019.", ["from Sweden", "Norway", "2019"]),
    ],
)
async def test_names_numbers_dates_and_negation_stay(said: str, kept: list[str]) -> None:
    """With every function word gone, what turns the meaning is still there."""
    left = await grammarless(said, "en")
    assert all(part in left for part in kept), left
    assert len(left) < len(said)
    assert is_subsequence(left, said)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The cat is on the roof of my house.", "cat roof house."),
        ("I like tea, but he would like to go.", "like tea, like go."),
        ("What do you do?", "What do?"),
        ("In May I may go.", "May go."),
        ('She said "the dog is mine".', 'said "dog mine".'),
    ],
)
async def test_english_words_of_two_jobs_are_told_apart(said: str, left: str) -> None:
    """ "I like" is not "like this", and the month is not the auxiliary."""
    assert await grammarless(said, "en") == left


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
async def test_the_share_is_of_the_function_words(share: float) -> None:
    """Of 20 articles, that share goes; the names stay."""
    said = " ".join(f"the Name{chr(97 + n)}" for n in range(20))
    left = await grammarless(said, "en", share)
    assert left.split().count("the") == 20 - round(20 * share)
    assert sum(word.startswith("Name") for word in left.split()) == 20


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
async def test_random_drops_that_share_of_the_models_tokens(share: float) -> None:
    """Over the whole memo, and the same ones each time; another seed drops others."""
    turns = talk("abcdefghij" * 4, "klmnopqrst" * 6)
    one = RandomTokenCompressor(share=share, tokenizer=Chars())
    left = await one.shorten(turns, language="en", weight={})
    assert sum(map(len, left)) == 100 - round(100 * share)
    assert left == await one.shorten(turns, language="en", weight={})
    other = RandomTokenCompressor(share=share, tokenizer=Chars(), seed=1)
    assert left != await other.shorten(turns, language="en", weight={})


async def test_random_takes_words_where_there_is_no_tokenizer() -> None:
    """Latin words stay whole; Chinese and Japanese lose characters."""
    one = RandomTokenCompressor(share=0.5)
    (left,) = await one.shorten(talk("alpha beta gamma delta"), language="en", weight={})
    assert len(left.split()) == 2
    assert set(left.split()) <= {"alpha", "beta", "gamma", "delta"}
    (left,) = await one.shorten(talk("私は猫が好き"), language="ja", weight={})
    assert len(left) == 3


LONG = talk(
    "Hi there! How are you doing today, my friend? I hope you are doing well.",
    "I am doing well, thank you so much for asking! And what about you?",
    "Great! On 12 March my sister Ana moved to Lisbon because she found work as a nurse.",
    "Oh wow, that is really nice to hear! What is the name of her dog?",
    "Biscuit.",
    "That is a lovely name indeed, I like it very much.",
)
CHATTER = [
    "How nice to hear, thank you so much!",
    "That is lovely indeed.",
    "Hi, how are you doing?",
]
WEIGHT = rarity(content_terms(text) for text in [*(turn.text for turn in LONG), *CHATTER * 5])
"""A user who has said many kind things that say nothing."""


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
async def test_the_budget_is_kept_and_the_facts_first(share: float) -> None:
    """Within the tokens allowed, the line with name, date and place outlives the pleasantries."""
    left = await BudgetCompressor(share=share, analyser=analyser_for).shorten(
        LONG, language="en", weight=WEIGHT
    )
    tokens = sum(estimate_tokens(text) + 3 for text in left if text)
    assert tokens <= (1 - share) * sum(estimate_tokens(turn.text) + 3 for turn in LONG) + 1
    assert "12 March" in left[2]
    assert "Lisbon" in " ".join(left)


async def test_a_short_answer_brings_its_question_along() -> None:
    """ "Biscuit" alone would answer nothing."""
    left = await BudgetCompressor(share=0.5, analyser=analyser_for).shorten(
        LONG, language="en", weight=WEIGHT
    )
    assert left[4] == "Biscuit."
    assert "name" in left[3]
    assert "dog" in left[3]


async def test_no_compression_gives_the_lines_with_their_speakers() -> None:
    """MemoChat's memo is the dialogue itself."""
    text = await compress(NoCompression(), LONG[2:4], language="en", weight={})
    assert text.splitlines()[0] == f"User: {LONG[2].text}"
    assert text.splitlines()[1] == f"Assistant: {LONG[3].text}"


def test_a_share_is_a_share() -> None:
    """Percents given as 50 are refused."""
    with pytest.raises(BadInput, match="between 0 and 1"):
        RandomTokenCompressor(share=50)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=5), st.floats(0, 1))
async def test_nothing_is_invented(said: list[str], share: float) -> None:
    """Whatever was said, what is left are characters of it in their order, one line a turn."""
    turns = talk(*said)
    for method in (
        RandomTokenCompressor(share=share),
        FunctionWordCompressor(share=share, analyser=analyser_for),
        BudgetCompressor(share=share, analyser=analyser_for),
        BudgetCompressor(share=share),
    ):
        left = await method.shorten(turns, language="en", weight={})
        assert len(left) == len(turns)
        for text, turn in zip(left, turns, strict=True):
            assert is_subsequence(text, " ".join(turn.text.split()))


@given(st.text(max_size=200))
async def test_the_words_of_english_are_the_text(text: str) -> None:
    """Joined again they are what was said, whatever the signs."""
    words = await English().words(text)
    assert "".join(word.text + word.space for word in words) == text.lstrip()


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8))))
def test_a_taggers_gaps_and_overlaps_lose_nothing(text: str, spans: list[tuple[int, int]]) -> None:
    """What a tagger passed over becomes a word, and overlapping stretches one word."""
    tagged = [
        TaggedSpan(first=first, last=min(first + length, len(text)), tag="x")
        for first, length in sorted(spans)
        if first < len(text)
    ]
    words = [word for word, _ in joined(text, tagged)]
    assert "".join("".join((word.text + word.space).split()) for word in words) == "".join(
        text.split()
    )


def test_a_language_without_an_analyser_is_named() -> None:
    """The error says which there are."""
    with pytest.raises(BadInput, match="expected one of en, zh, ja, ko, vi"):
        analyser_for("tlh")
