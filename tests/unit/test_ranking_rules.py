"""What recall ranks and leaves out, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Event, MemoryKind

from .test_recall import ANN, DAY, NOW, embed, search, tell, texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """An empty store."""
    store = await SqliteStore.open(":memory:")
    yield store
    await store.close()


EVENT = Event(
    id="e",
    session=1,
    text="User does a martial art.",
    time=NOW,
    last_recalled=NOW,
    sources=("Kickboxing wears me out.",),
)


async def test_the_turn_with_more_of_the_words_is_first(store: SqliteStore) -> None:
    """By their words alone, where nothing else tells turns apart."""
    await tell(store, "The garden has tulips.", "Hm.", "The garden has roses and tulips.")
    found = await search(store, "garden roses tulips")
    assert texts(found)[0] == "The garden has roses and tulips."


@pytest.mark.parametrize("with_vectors", [True, False])
async def test_events_of_the_future_and_those_in_the_prompt_stay_out(
    store: SqliteStore, with_vectors: bool
) -> None:
    """By their words as by their vectors."""
    await tell(store, "Kickboxing wears me out.")
    later = replace(EVENT, id="later", text="User does another martial art.", time=NOW + DAY)
    await store.events.add(ANN, [EVENT, later])
    embedder = await embed(store, MemoryKind.EVENT) if with_vectors else None
    query = "Which martial art do I do?"

    async def events(**limits: object) -> set[str]:
        found = await search(store, query, embedder=embedder, **limits)  # type: ignore[arg-type]
        return {item.id for item in found if item.kind is MemoryKind.EVENT}

    assert await events() == {"e"}
    assert await events(at=NOW + 2 * DAY) == {"e", "later"}
    assert await events(besides=["e"]) == set()
    assert await events(at=NOW + 2 * DAY, besides=["later"]) == {"e"}
