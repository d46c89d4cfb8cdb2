"""The contract of `omoide.ports.vectors.VectorIndex`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.ports.vectors import VectorItem, VectorOwner
from omoide.testing.contracts.making import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide.ports.vectors import VectorIndex

ANN = VectorOwner(collection="omoide_a1_1", tenant="acme", owner=1)
STRANGERS = (
    replace(ANN, owner=2),
    replace(ANN, tenant="other", owner=3),
    replace(ANN, collection="omoide_a1_2"),
)
TURN, EVENT = 1, 2
ITEMS = tuple(VectorItem(TURN, number) for number in (1, 2, 3))
VECTORS = rows((1, 0, 0), (1, 1, 0), (0, 0, 1))
QUERY = VECTORS[:1]


class VectorsContract:
    """The contract of every vector index."""

    def open(self, folder: Path) -> VectorIndex:
        """Open an index that is empty for a new folder, and the same for the same folder. For an
        index on a server, empty it, or derive names from the folder."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[VectorIndex]:
        """An empty index."""
        index = self.open(tmp_path)
        yield index
        index.close()

    def test_nothing_is_there_at_first(self, index: VectorIndex) -> None:
        """A collection that was never written to is empty, not an error."""
        assert index.name
        numbers, cosines = index.nearest(ANN, TURN, QUERY, limit=3)
        assert (numbers.tolist(), cosines.tolist()) == ([], [])
        assert index.count(ANN) == 0
        assert index.items(ANN) == frozenset()
        index.remove(ANN)
        index.remove(ANN, ITEMS)

    def test_the_nearest_come_first(self, index: VectorIndex) -> None:
        """Numbers and cosines come nearest first, up to the limit, with the right dtypes."""
        index.put(ANN, ITEMS, VECTORS)
        numbers, cosines = index.nearest(ANN, TURN, QUERY, limit=9)
        assert numbers.tolist() == [1, 2, 3]
        np.testing.assert_allclose(cosines, [1, 0.70710678, 0], atol=1e-5)
        assert (str(numbers.dtype), str(cosines.dtype)) == ("int64", "float32")
        assert index.nearest(ANN, TURN, QUERY, limit=1)[0].tolist() == [1]
        assert index.nearest(ANN, TURN, QUERY, limit=0)[0].tolist() == []
        assert (index.count(ANN), index.items(ANN)) == (3, frozenset(ITEMS))

    def test_putting_again_replaces(self, index: VectorIndex) -> None:
        """An item has one vector, the latest."""
        index.put(ANN, ITEMS, VECTORS)
        index.put(ANN, ITEMS[2:], VECTORS[:1])
        assert index.count(ANN) == 3
        numbers, cosines = index.nearest(ANN, TURN, QUERY, limit=2)
        assert set(numbers.tolist()) == {1, 3}
        np.testing.assert_allclose(cosines, [1, 1], atol=1e-5)

    def test_kinds_are_apart(self, index: VectorIndex) -> None:
        """An event with a turn's number is another item, and large numbers stay exact."""
        large = VectorItem(EVENT, 2**56 - 1)
        index.put(ANN, ITEMS, VECTORS)
        index.put(ANN, [VectorItem(EVENT, 1), large], VECTORS[1:])
        assert set(index.nearest(ANN, EVENT, QUERY, limit=9)[0].tolist()) == {1, large.number}
        assert index.nearest(ANN, TURN, QUERY, limit=9)[0].tolist() == [1, 2, 3]
        assert index.items(ANN) == {*ITEMS, VectorItem(EVENT, 1), large}
        index.remove(ANN, [VectorItem(EVENT, 1)])
        assert index.items(ANN) == {*ITEMS, large}

    def test_removing(self, index: VectorIndex) -> None:
        """Some or all vectors are removed; unknown items are ignored."""
        index.put(ANN, ITEMS, VECTORS)
        index.remove(ANN, [ITEMS[0], VectorItem(TURN, 99)])
        assert index.items(ANN) == frozenset(ITEMS[1:])
        assert index.nearest(ANN, TURN, QUERY, limit=9)[0].tolist() == [2, 3]
        index.remove(ANN)
        assert index.count(ANN) == 0
        index.put(ANN, ITEMS[:1], VECTORS[:1])
        assert index.count(ANN) == 1

    @pytest.mark.parametrize("stranger", STRANGERS, ids=["owner", "tenant", "collection"])
    def test_each_owner_has_their_own(self, index: VectorIndex, stranger: VectorOwner) -> None:
        """Vectors of one owner are never found, counted or removed with another's."""
        index.put(ANN, ITEMS, VECTORS)
        index.put(stranger, ITEMS[:1], VECTORS[2:])
        assert index.nearest(stranger, TURN, QUERY, limit=9)[0].tolist() == [1]
        assert (index.count(stranger), index.count(ANN)) == (1, 3)
        index.remove(stranger)
        assert (index.count(stranger), index.count(ANN)) == (0, 3)
        assert index.nearest(ANN, TURN, QUERY, limit=9)[0].tolist() == [1, 2, 3]

    def test_it_is_durable(self, index: VectorIndex, tmp_path: Path) -> None:
        """What was put is there when the index is opened again."""
        index.put(ANN, ITEMS, VECTORS)
        again = self.open(tmp_path)
        assert again.items(ANN) == frozenset(ITEMS)
        again.close()

    def test_many_threads(self, index: VectorIndex) -> None:
        """Concurrent writes and searches lose nothing."""

        def work(number: int) -> None:
            index.put(ANN, [VectorItem(TURN, number)], VECTORS[number % 3 : number % 3 + 1])
            index.nearest(ANN, TURN, QUERY, limit=5)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(1, 41)))
        assert index.items(ANN) == {VectorItem(TURN, number) for number in range(1, 41)}

    def test_closing_twice_does_nothing(self, index: VectorIndex) -> None:
        """A second close does nothing."""
        index.close()
        index.close()
