"""The contract of `Ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, call, tell
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from omoide.ports import Store


class LedgerContract(StoreSuite):
    """The contract of `Ledger`."""

    async def test_calls_come_back(self, store: Store) -> None:
        """Every call comes back unchanged, oldest first, including duplicates."""
        await tell(store, ANN, "hello")
        calls = (call(10), call(5, session=None, failed=True), call(10))
        for added in calls:
            await store.ledger.add(ANN, added)
        assert await store.ledger.calls(ANN) == calls

    async def test_calls_belong_to_their_owner(self, store: Store) -> None:
        """Calls are counted for their own owner only."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await tell(store, owner, "hello")
        await store.ledger.add(ANN, call(10))
        await store.ledger.add(BOB, call(20))
        assert await store.ledger.calls(ANN) == (call(10),)
        assert await store.ledger.calls(BOB) == (call(20),)
        assert await store.ledger.calls(ANN_ELSEWHERE) == ()

    async def test_a_late_call_does_not_bring_an_erased_owner_back(self, store: Store) -> None:
        """A job that was running when its owner was erased leaves no trace of them."""
        await tell(store, ANN, "hello")
        await store.archive.erase(ANN)
        await store.ledger.add(ANN, call(10))
        assert await store.archive.owners(ANN.tenant) == ()
