"""The word analysers of the extra `compress`: each loads a dictionary, so not in `make test`."""

from __future__ import annotations

import pytest

from omoide.adapters.analysers import analyser_for
from omoide.ports.analysis import Role
from tests.integration.test_compression import grammarless, is_subsequence


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


async def test_korean_words_stay_apart_where_a_particle_went() -> None:
    """The blank after a particle belongs to the reader, not to the particle."""
    pytest.importorskip("kiwipiepy")
    assert await grammarless("김민수는 은행에서 일해요", "ko") == "김민수 은행 일해요"


@pytest.mark.parametrize("language", ["ja", "ko", "vi", "zh"])
async def test_every_analyser_takes_odd_text(language: str) -> None:
    """Emoji, blanks, nothing at all, and another language."""
    for module in {"ja": "fugashi", "ko": "kiwipiepy", "vi": "underthesea", "zh": "rjieba"}[
        language
    ].split():
        pytest.importorskip(module)
    analyser = analyser_for(language)
    for text in ("", "  ", "🎉🎉 ok", "Hello, world!", "a\u3000b", "《…》"):
        words = await analyser.words(text)
        assert "".join("".join((w.text + w.space).split()) for w in words) == "".join(text.split())
    assert all(word.role in Role for word in await analyser.words("3"))
