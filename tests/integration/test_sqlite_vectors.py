"""Vectors that the adapter keeps in memory: bounded, safe among threads, loaded when needed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.vector_cache import VectorCache
from omoide.domain import MemoryKind, Owner
from omoide.ports import Space
from omoide.testing.contracts.making import ANN, SPACE, event, rows, tell

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.vectors import VectorKey
    from omoide.adapters.stores.sqlite.vector_cache import _Matrix

WIDE = Space(name="wide", version="1", dimensions=256)


def matrices(store: SqliteStore) -> dict[VectorKey, _Matrix]:
    """What is kept in memory."""
    assert isinstance(store.index._comparer, VectorCache)
    return store.index._comparer._matrices


def test_import_stays_cheap() -> None:
    """Importing the adapter does not load numpy."""
    code = "import omoide.adapters.stores.sqlite, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("limit", [0, 25_000])
async def test_memory_is_bounded(tmp_path: Path, limit: int) -> None:
    """However many owners search, the limit holds, and the answers are right all the same."""
    store = await SqliteStore.open(tmp_path / "omoide.db", cache_bytes=limit)
    owners = [Owner(tenant="acme", user=f"u{i}") for i in range(5)]
    vectors = np.eye(10, WIDE.dimensions, dtype=np.float32)
    for owner in owners:
        ids = [turn.id for turn in await tell(store, owner, *"abcdefghij")]
        await store.index.put(owner, WIDE, ids=ids, vectors=vectors)
    for _ in range(2):
        for owner in owners:
            [hit] = await store.index.nearest(owner, WIDE, vectors[3:4], k=1)
            assert hit.id == "d"
            held = matrices(store).values()
            assert sum(matrix.size for matrix in held) <= limit
    assert (len(held) > 0) == (limit > 0)
    await store.close()


async def test_one_owner_larger_than_the_limit_stays_loaded(tmp_path: Path) -> None:
    """A large owner is not loaded anew for each search, nor when one vector is added."""
    store = await SqliteStore.open(tmp_path / "omoide.db", cache_bytes=1000)
    ids = [turn.id for turn in await tell(store, ANN, *(f"t{i}" for i in range(50)))]
    vectors = np.eye(50, WIDE.dimensions, dtype=np.float32)
    await store.index.put(ANN, WIDE, ids=ids[:-1], vectors=vectors[:-1])
    await store.index.nearest(ANN, WIDE, vectors[:1], k=1)
    [(key, matrix)] = matrices(store).items()
    await store.index.put(ANN, WIDE, ids=ids[-1:], vectors=vectors[-1:])
    [hit] = await store.index.nearest(ANN, WIDE, vectors[-1:], k=1)
    assert hit.id == ids[-1]
    assert matrices(store) == {key: matrix}
    assert matrix.size < 1.2 * 50 * (WIDE.dimensions * 4 + 8)
    await store.close()


async def test_each_vector_of_a_large_owner_stays_with_its_item(tmp_path: Path) -> None:
    """Many vectors are loaded in blocks, and more are added later: the nearest is the right one,
    wherever it stands."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    dice = np.random.default_rng(1)
    vectors = dice.standard_normal((2200, SPACE.dimensions)).astype(np.float32)
    ids = [turn.id for turn in await tell(store, ANN, *(f"t{i}" for i in range(len(vectors))))]
    for part in (slice(0, 2100), slice(2100, None)):
        await store.index.put(ANN, SPACE, ids=ids[part], vectors=vectors[part])
        for place in (0, 1023, 1024, 1500, 2047, 2048, part.indices(len(ids))[1] - 1):
            [hit] = await store.index.nearest(ANN, SPACE, vectors[place : place + 1], k=1)
            assert hit.id == ids[place]
    await store.close()


async def test_what_a_search_reads_is_not_written_over(tmp_path: Path) -> None:
    """When vectors must be loaded anew, since another process erased some, they go into new
    arrays: a search in another thread may still be reading the old ones."""
    file = tmp_path / "omoide.db"
    store, other = await SqliteStore.open(file), await SqliteStore.open(file)
    ids = [turn.id for turn in await tell(store, ANN, *"abcd")]
    vectors = np.eye(4, SPACE.dimensions, dtype=np.float32)
    await store.index.put(ANN, SPACE, ids=ids, vectors=vectors)
    await store.index.nearest(ANN, SPACE, vectors[:1], k=1)
    [matrix] = matrices(store).values()
    read = matrix.rows, matrix.items, matrix.scales
    before = [array.copy() for array in read]
    await other.archive.erase(ANN, turns=["a"])
    [hit] = await store.index.nearest(ANN, SPACE, vectors[1:2], k=1)
    assert hit.id == "b"
    assert matrix.used == 3
    assert all((was == now).all() for was, now in zip(before, read, strict=True))
    await store.close()
    await other.close()


async def test_each_kind_by_itself(tmp_path: Path) -> None:
    """Replacing an event's vector does not make those of turns be loaded again."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    await tell(store, ANN, "a")
    await store.events.add(ANN, [event("a"), event("b")])
    for kind in (MemoryKind.TURN, MemoryKind.EVENT):
        await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((1, 0, 0)), kind=kind)
        await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=1, kind=kind)
    turns, events = matrices(store).values()
    before = turns.epoch, events.epoch
    await store.index.put(ANN, SPACE, ids=["a"], vectors=rows((0, 1, 0)), kind=MemoryKind.EVENT)
    await store.events.supersede(ANN, old="a", by="b")
    for kind in (MemoryKind.TURN, MemoryKind.EVENT):
        await store.index.nearest(ANN, SPACE, rows((1, 0, 0)), k=1, kind=kind)
    assert (turns.epoch, events.epoch) == (before[0], before[1] + 2)
    assert (turns.used, events.used) == (1, 0)
    await store.close()


async def test_searching_while_vectors_arrive(tmp_path: Path) -> None:
    """Searches during writes see a growing number of vectors, each at its own turn."""
    store = await SqliteStore.open(tmp_path / "omoide.db")
    ids = [turn.id for turn in await tell(store, ANN, *(f"t{i}" for i in range(60)))]
    await store.index.put(ANN, SPACE, ids=ids[:1], vectors=rows((1, 1, 1)))

    async def write() -> None:
        for turn in ids[1:]:
            await store.index.put(ANN, SPACE, ids=[turn], vectors=rows((1, 1, 1)))

    async def search() -> list[int]:
        counts: list[int] = []
        while not counts or counts[-1] < len(ids):
            hits = await store.index.nearest(ANN, SPACE, rows((1, 1, 1)), k=100)
            assert [hit.id for hit in hits] == ids[: len(hits)][::-1]
            counts.append(len(hits))
        return counts

    _, *seen = await asyncio.gather(write(), search(), search(), search())
    for counts in seen:
        assert counts == sorted(counts)
    await store.close()


async def test_a_new_vector_is_found_without_counting_the_others(tmp_path: Path) -> None:
    """What was added since is one range in order of arrival, however many vectors there are."""
    path = tmp_path / "omoide.db"
    store = await SqliteStore.open(path)
    ids = [turn.id for turn in await tell(store, ANN, "a", "b", "c")]
    vectors = np.eye(3, WIDE.dimensions, dtype=np.float32)
    await store.index.put(ANN, WIDE, ids=ids[:2], vectors=vectors[:2])
    await store.index.nearest(ANN, WIDE, vectors[:1], k=1)
    await store.index.put(ANN, WIDE, ids=ids[2:], vectors=vectors[2:])
    [matrix] = matrices(store).values()
    connection, plans = apsw.Connection(str(path)), list[str]()

    class Planned:
        """Notes the plan of each statement that reads vectors."""

        def execute(self, sql: str, bindings: tuple[object, ...]) -> object:
            plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)
            plans.extend(str(step) for *_, step in plan if "SEARCH vectors" in str(step))
            return connection.execute(sql, bindings)

    matrix.refresh(Planned())  # type: ignore[arg-type]
    connection.close()
    await store.close()
    assert matrix.used == 3
    since = "SEARCH vectors USING PRIMARY KEY (owner=? AND space=? AND serial>?)"
    assert plans == [since, since]
