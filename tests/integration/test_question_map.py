"""The map that brings a question's vector near to those of its answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.adapters.embedders.use_multilingual import SPACE, UseMultilingual
from omoide.mechanisms.search.question_map import search_vector, toward_answers
from omoide.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

SAID = {
    "en": (
        "I'm allergic to peanuts, I carry a pen everywhere.",
        "We moved into a flat by the harbour in June.",
        "My brother repairs violins.",
        "What do you have for supper?",
        "Where do people live who like the sea?",
        "What is a good job for a patient person?",
    ),
    "zh": (
        "我对花生过敏，出门都带着针。",
        "我们六月搬进了港口边的一套公寓。",
        "我哥哥修小提琴。",
        "你晚饭吃什么？",
        "喜欢海的人住在哪里？",
        "有耐心的人适合做什么工作？",
    ),
    "ja": (
        "ピーナッツにアレルギーがあって、いつも薬を持ち歩いている。",
        "六月に港のそばのアパートに引っ越した。",
        "兄はバイオリンを修理している。",
        "夕飯は何を食べる？",
        "海が好きな人はどこに住んでる？",
        "我慢強い人に向いている仕事は何？",
    ),
    "ko": (
        "나는 땅콩 알레르기가 있어서 늘 약을 가지고 다녀.",
        "우리는 유월에 항구 옆 아파트로 이사했어.",
        "우리 형은 바이올린을 고쳐.",
        "저녁으로 뭐 먹어?",
        "바다를 좋아하는 사람은 어디에 살아?",
        "참을성 있는 사람에게 좋은 직업은 뭐야?",
    ),
}
"""What tells something, and after it as many questions that look like those below."""
ASKED = {
    "en": ("What must I not eat?", "Where is my home?", "What does my brother do for a living?"),
    "zh": ("我不能吃什么？", "我的家在哪里？", "我哥哥靠什么为生？"),
    "ja": ("食べてはいけないものは何？", "うちはどこだっけ？", "兄の仕事は何だっけ？"),
    "ko": ("내가 먹으면 안 되는 게 뭐야?", "우리 집이 어디야?", "우리 형은 무슨 일을 해?"),
}


@pytest.fixture(scope="module")
def embedder() -> Iterator[UseMultilingual]:
    """The default one, loaded once."""
    made = UseMultilingual()
    yield made
    asyncio.run(made.close())


@pytest.mark.parametrize("language", SAID)
async def test_a_question_is_nearer_to_its_answer_than_without(
    embedder: UseMultilingual, language: str
) -> None:
    """And so it is set off more from what is only asked, in every language that the embedder
    reads."""
    said = await embedder.embed(SAID[language])
    told = len(ASKED[language])
    for number, question in enumerate(ASKED[language]):
        plain, moved = await embedder.embed([question]), await search_vector(embedder, question)
        lead = [
            (cosines[number] - cosines[told:].max())
            for cosines in ((vector @ said.T)[0] for vector in (plain, moved))
        ]
        assert lead[1] > lead[0], question


async def test_what_is_no_question_is_left_as_it_is(embedder: UseMultilingual) -> None:
    """It looks for what is like it."""
    text = "I am off to the harbour."
    assert np.array_equal(await search_vector(embedder, text), await embedder.embed([text]))


async def test_an_embedder_without_a_map_is_left_as_it_is() -> None:
    """So is one of the same name whose vectors are of another length."""
    for name in ("hashed", SPACE.name):
        other = HashEmbedder(name=name)
        asked = await other.embed(["Where do I live?"])
        assert np.array_equal(await search_vector(other, "Where do I live?"), asked)


def test_the_length_stays_one() -> None:
    """Cosines are compared with those of other queries."""
    rows = np.random.default_rng(1).normal(size=(3, SPACE.dimensions)).astype(np.float32)
    moved = toward_answers(rows, SPACE)
    assert np.allclose(np.linalg.norm(moved, axis=1), 1, atol=1e-6)
    other = replace(SPACE, name="another")
    assert np.array_equal(toward_answers(rows, other), rows)
