"""The best items by words: leaving out what cannot be among them changes nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.testing.contracts.making import ANN, HOUR, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WORDS = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120)]
TURNS = 400


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """Turns of words of which a few are frequent and most are rare."""
    store, dice = await SqliteStore.open(":memory:"), random.Random(3)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    turns = [
        say(" ".join(dice.choices(WORDS, weights, k=dice.randint(3, 30))), id=f"t{number}")
        for number in range(TURNS)
    ]
    await store.turns.append(ANN, turns, session="s", idle=HOUR)
    yield store
    await store.close()


@pytest.mark.parametrize("k", [1, 3, 20])
async def test_the_best_few_are_the_first_of_all(store: SqliteStore, k: int) -> None:
    """For any words, frequent ones and rare ones together, with the same scores."""
    dice = random.Random(k)
    for _ in range(25):
        terms = [*dice.sample(WORDS[:6], 3), *dice.sample(WORDS[6:], 3)]
        every = await store.index.search_words(ANN, terms, k=TURNS)
        best = await store.index.search_words(ANN, terms, k=k)
        assert [hit.id for hit in best] == [hit.id for hit in every[:k]]
        assert [hit.score for hit in best] == pytest.approx([hit.score for hit in every[:k]])
        assert len(every) > k
