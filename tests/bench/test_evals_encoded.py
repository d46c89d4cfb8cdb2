"""Likeness by token vectors: the formula of BERTScore, against its library."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from omoide.errors import BadInput, MissingExtra, UnknownModel
from omoide.ports import TokenVectors
from omoide_bench.metrics import encoded_scores, greedy_match, library_scores
from omoide_bench.metrics.encoded import BertScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Vectors


def tokens(rows: Sequence[Sequence[float]], counts: Sequence[float] | None = None) -> TokenVectors:
    """Vectors of tokens; all count unless said otherwise."""
    return TokenVectors(
        vectors=np.array(rows, np.float32),
        counts=np.array([1] * len(rows) if counts is None else counts, np.float32),
    )


def test_as_the_library_computes_it() -> None:
    """Precision 0.7071068, recall 0.8535534, F1 0.7734591: `greedy_cos_idf` of bert-score 0.3.12 on
    these matrices, with weights of 0 for the first and last tokens, as it treats special ones."""
    reply = tokens([[0, 1, 0], [1, 0, 1], [0, 0, 3]], [0, 1, 0])
    gold = tokens([[1, 0, 0], [0, 2, 0], [1, 1, 0], [0, 0, 1]], [0, 1, 1, 0])
    found = greedy_match(reply, gold)
    assert found.precision == pytest.approx(0.7071068, abs=1e-6)
    assert found.recall == pytest.approx(0.8535534, abs=1e-6)
    assert found.f1 == pytest.approx(0.7734591, abs=1e-6)


def test_an_empty_text_is_like_nothing() -> None:
    """Only special tokens: 0, as the library has it."""
    assert greedy_match(tokens([[1, 0]], [0]), tokens([[1, 0]])).f1 == 0


@given(arrays(np.float32, (4, 3), elements=st.floats(-1, 1, width=16)))
def test_a_text_is_like_itself(rows: Vectors) -> None:
    """1 with itself in any order of tokens; swapping sides swaps precision and recall."""
    rows = rows + np.float32(2)
    one = TokenVectors(vectors=rows, counts=np.ones(4, np.float32))
    turned = TokenVectors(vectors=rows[::-1].copy(), counts=np.ones(4, np.float32))
    assert greedy_match(one, turned).f1 == pytest.approx(1, abs=1e-5)
    other = tokens([[1, 0, 0], [0, 1, 0]])
    there, back = greedy_match(one, other), greedy_match(other, one)
    assert there.precision == pytest.approx(back.recall, abs=1e-6)


class Letters:
    """An encoder whose tokens are letters, each with a vector of its own."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """One-hot rows."""
        self.asked += texts
        return [tokens([np.eye(128)[ord(c)].tolist() for c in text]) for text in texts]

    async def close(self) -> None:
        """Nothing to let go."""


async def test_scores_name_their_encoder() -> None:
    """Each text is encoded once, and the encoder's name goes with the figures."""
    encoder = Letters()
    found = await encoded_scores(encoder, ["ab", "ab"], ["ab", "ac"])
    assert found.encoder == "letters"
    assert [score.f1 for score in found.scores] == [pytest.approx(1), pytest.approx(0.5)]
    assert encoder.asked == ["ab", "ac"]


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """bert-score brings torch, so it is never there by itself."""
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(MissingExtra, match=r"omoide\[bertscore\]"):
        library_scores(["a"], ["b"], model="roberta-large")


async def test_the_library_is_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`bert-score:MODEL@LAYER` on the command line goes to the library, and the name says so; the
    name of an encoder does not; a layer that is no number is refused."""
    asked: list[tuple[str, int | None]] = []

    class Tensor(list[float]):
        """As much of one as is looked at."""

        def tolist(self) -> list[float]:
            """Itself."""
            return self

    def score(
        replies: list[str], gold: list[str], *, model_type: str, num_layers: int | None
    ) -> tuple[Tensor, Tensor, None]:
        asked.append((model_type, num_layers))
        alike = Tensor(float(a == b) for a, b in zip(replies, gold, strict=True))
        return alike, alike, None

    library = ModuleType("bert_score")
    library.score = score  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bert_score", library)
    found = BertScore.named("bert-score:some/folder@12")
    assert found is not None
    assert found.name == "BERTScore by its library with some/folder, layer 12"
    assert [s.f1 for s in (await found.scores(["a", "b"], ["a", "c"])).scores] == [1, 0]
    assert asked == [("some/folder", 12)]
    assert BertScore.named("bert-score:roberta-large") == BertScore("roberta-large")
    assert BertScore.named("gte-small") is None
    with pytest.raises(BadInput, match="the layer must be a number"):
        BertScore.named("bert-score:folder@last")


def test_an_encoder_that_is_not_there() -> None:
    """The error names those that are."""
    from omoide.bootstrap import make_token_encoder
    from omoide.settings import Settings

    with pytest.raises(UnknownModel, match="gte-small, minilm"):
        make_token_encoder(Settings(), "roberta-large")
