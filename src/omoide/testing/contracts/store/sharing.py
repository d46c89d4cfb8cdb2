"""The contract of `Store` as a whole: opening, closing and sharing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from omoide.errors import StoreError
from omoide.testing.contracts.making import ANN, BOB, tell, version
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class SharingContract(StoreSuite):
    """The contract of `Store` as a whole: opening, closing and sharing."""

    async def test_close_again_does_nothing(self, store: Store) -> None:
        """Closing twice is fine; using a closed store raises."""
        await store.close()
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.turns.read(ANN)

    async def test_two_see_each_other_sharing(self, stores: tuple[Store, Store]) -> None:
        """What one process records, the other reads at once, and both can write."""
        one, two = stores
        await tell(one, ANN, "a")
        assert [t.text for t in await two.turns.read(ANN)] == ["a"]
        await tell(two, ANN, "b")
        assert [t.position for t in await one.turns.read(ANN)] == [1, 2]
        await one.summaries.commit(ANN, version(1))
        assert await two.summaries.find(ANN) == version(1)

    async def test_two_write_at_once(self, stores: tuple[Store, Store]) -> None:
        """Concurrent writes of two processes are all stored, each at its own position."""
        await asyncio.gather(
            *(tell(stores[i % 2], ANN, f"a{i}", f"b{i}") for i in range(30)),
            *(tell(stores[i % 2], BOB, "same") for i in range(10)),
        )
        assert [t.position for t in await stores[0].turns.read(ANN)] == list(range(1, 61))
        assert len(await stores[1].turns.read(BOB)) == 1
