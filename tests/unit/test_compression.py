"""Compression: what may go, what must stay, and that nothing is invented."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omoide.adapters.analysers import choose
from omoide.adapters.analysers.english import English
from omoide.adapters.analysers.tagged import Tagged, joined
from omoide.domain import Speaker, Turn
from omoide.errors import BadInput
from omoide.language import content_terms, estimate_tokens
from omoide.memory.memos.compression import FunctionWords, RandomTokens, Whole, compress
from omoide.memory.memos.compression_budget import Budget
from omoide.memory.overlap import rarity
from omoide.ports.analysis import Role

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def talk(*said: str, language: str = "en") -> list[Turn]:
    """Turns, the user first and then by turns."""
    return [
        Turn(
            id=f"t{i}",
            session=1,
            position=i,
            speaker=Speaker.USER if i % 2 else Speaker.ASSISTANT,
            text=text,
            time=NOW,
            language=language,
        )
        for i, text in enumerate(said, start=1)
    ]


async def grammarless(text: str, language: str, share: float = 1.0) -> str:
    """One turn without its function words."""
    method = FunctionWords(share=share, analyser=choose)
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


# The paper prints no compressed text; these follow its rule: 助詞 and 助動詞 by UniDic go.
@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("昨日は東京で友達に会いました。", "昨日東京友達会い。"),
        ("私は猫を三匹飼っています。", "私猫三匹飼っい。"),
        ("ケーキを食べに行きたいな。", "ケーキ食べ行き。"),
    ],
)
async def test_japanese_particles_and_auxiliaries_go(said: str, left: str) -> None:
    """At 100 % every particle and auxiliary is dropped, and nothing else."""
    pytest.importorskip("fugashi")
    assert await grammarless(said, "ja") == left


@pytest.mark.parametrize(
    ("module", "language", "said", "kept"),
    [
        ("fugashi", "ja", "昨日は田中さんに会いませんでした。", ["昨日", "田中", "ません"]),
        ("fugashi", "ja", "犬は飼っていないけど、猫なら2匹います。", ["ない", "2匹"]),
        ("fugashi", "ja", "3時から5時まで寝ていました。", ["3時から5時"]),
        ("rjieba", "zh", "我没有去过上海的博物馆，也不想去。", ["没有", "上海", "不"]),
        ("rjieba", "zh", "从3月到5月我会很忙的。", ["3月", "5月"]),
        ("kiwipiepy", "ko", "저는 지난주에 서울에서 친구를 만나지 않았어요.", ["서울", "않았어요"]),
        ("kiwipiepy", "ko", "3시부터 5시까지 안 잤다.", ["3시부터 5시", "안"]),
        (
            "underthesea",
            "vi",
            "Hôm qua tôi không gặp bạn Nguyễn Văn An ở Hà Nội, chỉ mua 3 quyển sách.",
            ["không", "Nguyễn Văn An", "Hà Nội", "3"],
        ),
        (
            "re",
            "en",
            "I will not be in Boston in May, from 3 to 5 June.",
            ["not", "from 3 to 5 June"],
        ),
        (
            "re",
            "en",
            "We don't have a dog, but Ana's cat is 12 and can't hear.",
            ["don't", "12", "can't"],
        ),
        ("re", "en", "I moved from Sweden to Norway in 2019.", ["from Sweden", "Norway", "2019"]),
    ],
)
async def test_names_numbers_dates_and_negation_stay(
    module: str, language: str, said: str, kept: list[str]
) -> None:
    """With every function word gone, what turns the meaning is still there."""
    pytest.importorskip(module)
    left = await grammarless(said, language)
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


async def test_korean_words_stay_apart_where_a_particle_went() -> None:
    """The blank after a particle belongs to the reader, not to the particle."""
    pytest.importorskip("kiwipiepy")
    assert await grammarless("김민수는 은행에서 일해요", "ko") == "김민수 은행 일해요"


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
    one = RandomTokens(share=share, tokenizer=Chars())
    left = await one.shorten(turns, language="en", weight={})
    assert sum(map(len, left)) == 100 - round(100 * share)
    assert left == await one.shorten(turns, language="en", weight={})
    other = RandomTokens(share=share, tokenizer=Chars(), seed=1)
    assert left != await other.shorten(turns, language="en", weight={})


async def test_random_takes_words_where_there_is_no_tokenizer() -> None:
    """Latin words stay whole; Chinese and Japanese lose characters."""
    one = RandomTokens(share=0.5)
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
    left = await Budget(share=share, analyser=choose).shorten(LONG, language="en", weight=WEIGHT)
    tokens = sum(estimate_tokens(text) + 3 for text in left if text)
    assert tokens <= (1 - share) * sum(estimate_tokens(turn.text) + 3 for turn in LONG) + 1
    assert "12 March" in left[2]
    assert "Lisbon" in " ".join(left)


async def test_a_short_answer_brings_its_question_along() -> None:
    """ "Biscuit" alone would answer nothing."""
    left = await Budget(share=0.5, analyser=choose).shorten(LONG, language="en", weight=WEIGHT)
    assert left[4] == "Biscuit."
    assert "name" in left[3]
    assert "dog" in left[3]


async def test_no_compression_gives_the_lines_with_their_speakers() -> None:
    """MemoChat's memo is the dialogue itself."""
    text = await compress(Whole(), LONG[2:4], language="en", weight={})
    assert text.splitlines()[0] == f"User: {LONG[2].text}"
    assert text.splitlines()[1] == f"Assistant: {LONG[3].text}"


def test_a_share_is_a_share() -> None:
    """Percents given as 50 are refused."""
    with pytest.raises(BadInput, match="between 0 and 1"):
        RandomTokens(share=50)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=5), st.floats(0, 1))
async def test_nothing_is_invented(said: list[str], share: float) -> None:
    """Whatever was said, what is left are characters of it in their order, one line a turn."""
    turns = talk(*said)
    for method in (
        RandomTokens(share=share),
        FunctionWords(share=share, analyser=choose),
        Budget(share=share, analyser=choose),
        Budget(share=share),
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
        Tagged(first=first, last=min(first + length, len(text)), tag="x")
        for first, length in sorted(spans)
        if first < len(text)
    ]
    words = [word for word, _ in joined(text, tagged)]
    assert "".join("".join((word.text + word.space).split()) for word in words) == "".join(
        text.split()
    )


@pytest.mark.parametrize("language", ["ja", "ko", "vi", "zh"])
async def test_every_analyser_takes_odd_text(language: str) -> None:
    """Emoji, blanks, nothing at all, and another language."""
    for module in {"ja": "fugashi", "ko": "kiwipiepy", "vi": "underthesea", "zh": "rjieba"}[
        language
    ].split():
        pytest.importorskip(module)
    analyser = choose(language)
    for text in ("", "  ", "🎉🎉 ok", "Hello, world!", "a\u3000b", "《…》"):
        words = await analyser.words(text)
        assert "".join("".join((w.text + w.space).split()) for w in words) == "".join(text.split())
    assert all(word.role in Role for word in await analyser.words("3"))


def test_a_language_without_an_analyser_is_named() -> None:
    """The error says which there are."""
    with pytest.raises(BadInput, match="wanted one of en, ja, ko, vi, zh"):
        choose("tlh")
