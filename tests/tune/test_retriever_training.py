"""Training a retriever, in small: needs torch, which the usual environment has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from omoide_tune.retrieval import encoder, train
from omoide_tune.retrieval.pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Words:
    """A tokenizer of whole words."""

    class _Ids:
        def __init__(self, ids: list[int]) -> None:
            self.ids = ids

    def encode_batch(self, texts: Sequence[str]) -> list[_Words._Ids]:
        """One number a word, between 1 and 3 as [CLS] and [SEP]."""
        return [self._Ids([1, *(10 + sum(map(ord, w)) % 900 for w in t.split()), 3]) for t in texts]

    def token_to_id(self, _: str) -> int:
        """[SEP]."""
        return 3


def _pairs() -> tuple[list[Pair], dict[tuple[str, str], str]]:
    words = "dog harbour piano bread garden chess kettle violin ladder candle".split()
    texts = {("c", str(i)): f"we talked of the {word} all day" for i, word in enumerate(words)}
    made = [
        Pair(
            question=f"what about that {word}", style="direct", source="own", language="en",
            held_out=False, conversation="c", turn=str(i),
            negatives=tuple(("c", str(j)) for j in range(len(words)) if j != i),
        )
        for i, word in enumerate(words)
    ]  # fmt: skip
    return made, texts


def test_training_lowers_the_loss() -> None:
    """A small random encoder learns ten pairs."""
    made, texts = _pairs()
    small = encoder.Encoder(encoder.build({}, tiny=True), _Words())
    recipe = train.Recipe(steps=60, batch=5, hard=3, loose=0, rate=3e-3)
    outcome = train.train(small, made, texts, recipe=recipe)
    assert outcome.pairs == len(made)
    assert outcome.losses[-1] < 0.5 * outcome.losses[0]
