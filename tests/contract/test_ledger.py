"""The contract of `Ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, call, tell

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_calls_come_back(store: Store) -> None:
    """Every call comes back in full, oldest first, equal ones as often as they were made."""
    await tell(store, ANN, "hello")
    made = (call(10), call(5, session=None, failed=True), call(10))
    for one in made:
        await store.ledger.add(ANN, one)
    assert await store.ledger.calls(ANN) == made


async def test_calls_belong_to_their_owner(store: Store) -> None:
    """Nobody pays for another's calls."""
    for owner in (ANN, BOB, ANN_ELSEWHERE):
        await tell(store, owner, "hello")
    await store.ledger.add(ANN, call(10))
    await store.ledger.add(BOB, call(20))
    assert await store.ledger.calls(ANN) == (call(10),)
    assert await store.ledger.calls(BOB) == (call(20),)
    assert await store.ledger.calls(ANN_ELSEWHERE) == ()


async def test_a_late_call_does_not_bring_an_erased_owner_back(store: Store) -> None:
    """Work that was under way when somebody was erased leaves no trace of them."""
    await tell(store, ANN, "hello")
    await store.archive.erase(ANN)
    await store.ledger.add(ANN, call(10))
    assert await store.archive.owners(ANN.tenant) == ()
