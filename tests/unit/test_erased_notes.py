"""Notes of a version quote what was left out of it: they go with an erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.documents import DocumentStore, MemoryDocuments
from omoide.testing.contracts.making import ANN, sentence, tell, version

if TYPE_CHECKING:
    from omoide.ports import Store


async def opened(kind: str) -> Store:
    """A store of this kind with two sessions and a version of each, with notes."""
    store: Store = (
        await SqliteStore.open(":memory:") if kind == "sqlite" else DocumentStore(MemoryDocuments())
    )
    await tell(store, ANN, "first", key="one")
    await tell(store, ANN, "second", key="two")
    kept = sentence("Kept.", "first")
    await store.summaries.commit(ANN, version(1, kept, session=1, notes=("left out: early",)))
    await store.summaries.commit(
        ANN, version(2, kept, session=2, notes=("left out: second words",))
    )
    return store


async def notes(store: Store) -> list[tuple[str, ...]]:
    """The notes of each version."""
    return [version.notes for version in await store.summaries.history(ANN)]


@pytest.mark.parametrize("kind", ["sqlite", "documents"])
async def test_notes_of_a_session_go_with_a_turn_of_it(kind: str) -> None:
    """Although no sentence of the version does; those of earlier sessions stay."""
    store = await opened(kind)
    await store.archive.erase(ANN, turns=["second"])
    assert await notes(store) == [("left out: early",), ()]
    assert [len(v.sentences) for v in await store.summaries.history(ANN)] == [1, 1]
    await store.close()


@pytest.mark.parametrize("kind", ["sqlite", "documents"])
async def test_notes_that_quote_an_erased_sentence_go(kind: str) -> None:
    """Wherever they are; others stay."""
    store = await opened(kind)
    await store.archive.erase(ANN, sentences=["early"])
    assert await notes(store) == [(), ("left out: second words",)]
    await store.close()
