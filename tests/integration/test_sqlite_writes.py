"""Writes that are asked for at once share a commit, and fail each for itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.errors import StoreError, StoreFull
from omoide.testing.contracts.making import ANN, call, event, tell

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import apsw


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A small file, with one turn."""
    made = await SqliteStore.open(tmp_path / "omoide.db", max_pages=80)
    await tell(made, ANN, "green tea")
    yield made
    await made.close()


def commits(store: SqliteStore) -> list[str]:
    """Grows with every commit from now on."""
    seen: list[str] = []

    def committed() -> bool:
        seen.append("commit")
        return False

    store.file._writer.set_commit_hook(committed)
    return seen


def half_done(connection: apsw.Connection) -> None:
    """Writes something, then fails."""
    connection.execute("UPDATE owners SET tenant = 'somebody else'")
    raise RuntimeError("in the middle")


async def test_writes_of_one_moment_are_committed_once(store: SqliteStore) -> None:
    """A reply and its cost: both are stored, and the disk waits for one commit."""
    seen = commits(store)
    await asyncio.gather(tell(store, ANN, "black tea"), store.ledger.add(ANN, call(1)))
    assert len(seen) == 1
    assert len(await store.turns.read(ANN)) == 2
    assert len(await store.ledger.calls(ANN)) == 1


@pytest.mark.parametrize("beside", [0, 1, 2])
async def test_a_write_that_fails_leaves_nothing(store: SqliteStore, beside: int) -> None:
    """Nothing of its own, and all of what the writes beside it stored, before it and after it."""
    writes = [store.events.add(ANN, [event(f"event {n}")]) for n in range(beside)]
    writes.insert(beside // 2, store.file.write(ANN.tenant, half_done))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(error) for error in outcomes if error is not None] == [RuntimeError]
    assert len(await store.events.read(ANN)) == beside
    assert len(await store.turns.read(ANN)) == 1


async def test_a_full_disk_fails_all_writes_of_one_moment(store: SqliteStore) -> None:
    """SQLite gives up their transaction, so none of them is taken for stored, and the next is."""
    long = "x" * 2_000_000
    outcomes = await asyncio.gather(
        store.events.add(ANN, [event("before")]),
        store.events.add(ANN, [event(long)]),
        store.events.add(ANN, [event("after")]),
        return_exceptions=True,
    )
    stored = {told.text for told in await store.events.read(ANN)}
    assert isinstance(outcomes[1], StoreFull)
    for text, outcome in (("before", outcomes[0]), ("after", outcomes[2])):
        assert isinstance(outcome, StoreError) == (text not in stored)
    await store.events.add(ANN, [event("later")])
    assert "later" in {told.text for told in await store.events.read(ANN)}
