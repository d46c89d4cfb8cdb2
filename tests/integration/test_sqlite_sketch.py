"""Very many vectors are shortened in memory: near enough, exact where asked, and never outdated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.adapters.stores.sql.vectors import Compared, VectorKey
from omoide.adapters.stores.sqlite import SqliteStore, vector_cache, vector_sketch
from omoide.adapters.stores.sqlite.vector_cache import VectorCache
from omoide.ports import Space
from omoide.testing.contracts.making import ANN, tell

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.vectors import Floats
    from omoide.adapters.stores.sqlite.vector_cache import _Matrix

WIDE = Space(name="wide", version="1", dimensions=300)
KEY = VectorKey(owner=1, space=1, kind=1, dimensions=WIDE.dimensions)
COUNT = 400


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small numbers in the place of the real ones."""
    monkeypatch.setattr(vector_sketch, "FROM", COUNT)
    for module in (vector_sketch, vector_cache):
        monkeypatch.setattr(module, "AT_ONCE", 150)


def vectors(count: int, *, fade: float = 1.0) -> Floats:
    """Random vectors, along some directions longer than along others."""
    dice = np.random.default_rng(7)
    rows = dice.standard_normal((count, WIDE.dimensions), dtype=np.float32)
    rows *= (np.arange(WIDE.dimensions, dtype=np.float32) + 10) ** -fade
    turned, _ = np.linalg.qr(dice.standard_normal((WIDE.dimensions, WIDE.dimensions)))
    found: Floats = (rows @ turned).astype(np.float32)
    return found


async def filled(path: Path, rows: Floats) -> SqliteStore:
    """A store with a turn for each vector."""
    store = await SqliteStore.open(path)
    ids = [turn.id for turn in await tell(store, ANN, *(f"t{i}" for i in range(len(rows))))]
    await store.index.put(ANN, WIDE, ids=ids, vectors=rows)
    return store


async def compared(store: SqliteStore, query: Floats, *, times: int = 1) -> Compared:
    """The cosines as a recall gets them, the last of so many times."""
    comparer = store.index._comparer

    def work(connection: Connection) -> Compared:
        return comparer.cosines(connection, KEY, query)

    for _ in range(times):
        found = await store.file.read("acme", work)
    return found


def cosines(rows: Floats, query: Floats) -> Floats:
    """The exact ones."""
    found: Floats = rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))
    return found


def matrix_of(store: SqliteStore) -> _Matrix:
    """What is kept in memory of the turns' vectors."""
    assert isinstance(store.index._comparer, VectorCache)
    return store.index._comparer._matrices[KEY]


async def test_a_part_at_a_time_until_all_are_shortened(tmp_path: Path) -> None:
    """The search that loads them shortens none, each later one some; what is not shortened yet is
    exact."""
    rows = vectors(COUNT)
    store = await filled(tmp_path / "omoide.db", rows)
    query, seen = rows[3], list[int]()
    true = cosines(rows, query)
    for _ in range(5):
        found = await compared(store, query)
        sketch = matrix_of(store).sketch
        used = sketch.used if sketch else 0
        seen.append(used)
        assert found.cosines[used:] == pytest.approx(true[used:], abs=1e-5)
    assert seen == [0, 150, 300, 400, 400]
    await store.close()


async def test_estimates_are_near_and_the_exact_ones_are_to_be_had(tmp_path: Path) -> None:
    """Of vectors like an embedder's, 128 numbers tell the cosine within a fifth of the deviation;
    the vectors themselves tell it exactly. `nearest` does not estimate."""
    rows = vectors(COUNT)
    store = await filled(tmp_path / "omoide.db", rows)
    for place in (0, 199, COUNT - 1):
        query = rows[place]
        found = await compared(store, query, times=4)
        true = cosines(rows, query)
        off = found.cosines - true
        assert 0 < off.std() < 0.2 * true.std()
        assert found.exact is not None
        some = np.array([0, place, 17, COUNT - 1])
        assert found.exact(some) == pytest.approx(true[some], abs=1e-5)
        [hit] = await store.index.nearest(ANN, WIDE, query.reshape(1, -1), k=1)
        assert hit.id == f"t{place}"
        assert hit.score == pytest.approx(1)
    await store.close()


async def test_few_vectors_and_vectors_without_direction_stay_exact(tmp_path: Path) -> None:
    """Estimates are for very many, and for what 128 numbers can tell."""
    for name, rows in (("few", vectors(COUNT - 1)), ("round", vectors(COUNT, fade=0.0))):
        store = await filled(tmp_path / f"{name}.db", rows)
        found = await compared(store, rows[5], times=4)
        assert found.exact is None, name
        assert found.cosines == pytest.approx(cosines(rows, rows[5]), abs=1e-5)
        await store.close()


async def test_what_another_process_adds_and_erases_counts_at_once(tmp_path: Path) -> None:
    """A new vector is compared, and an erased one is in no copy any more."""
    rows = vectors(COUNT + 1)
    store = await filled(tmp_path / "omoide.db", rows[:-1])
    other = await SqliteStore.open(tmp_path / "omoide.db")
    await compared(store, rows[0], times=5)
    [turn] = await tell(other, ANN, "new")
    await other.index.put(ANN, WIDE, ids=[turn.id], vectors=rows[-1:])
    found = await compared(store, rows[-1])
    assert len(found.items) == COUNT + 1
    assert found.cosines.argmax() == COUNT
    assert found.exact is not None
    assert found.exact(np.array([COUNT])) == pytest.approx(1)
    await other.archive.erase(ANN, turns=["t3"])
    found = await compared(store, rows[3], times=5)
    left = np.delete(rows, 3, axis=0)
    true = cosines(left, rows[3])
    assert found.items.tolist() == [1, 2, 3, *range(5, COUNT + 2)]
    assert np.abs(found.cosines - true).max() < true.std()
    assert found.exact is not None
    assert found.exact(np.arange(COUNT)) == pytest.approx(true, abs=1e-5)
    await store.archive.erase(ANN)
    assert isinstance(store.index._comparer, VectorCache)
    assert not store.index._comparer._matrices
    await store.close()
    await other.close()


async def test_turns_without_a_vector_have_no_exact_cosine(tmp_path: Path) -> None:
    """A turn that is not embedded yet does not move the cosines of the others."""
    rows = vectors(COUNT)
    store = await filled(tmp_path / "omoide.db", rows)
    await tell(store, ANN, "later")
    for _ in range(5):
        data = await store.index.search_data(ANN, [], space=WIDE, query=rows[7].reshape(1, -1))
    assert data.exact is not None
    exact = data.exact(np.arange(COUNT + 1))
    assert exact[:-1] == pytest.approx(cosines(rows, rows[7]), abs=1e-5)
    assert np.isnan(exact[-1])
    assert data.cosines is not None
    assert np.isnan(data.cosines[-1])
    await store.close()
