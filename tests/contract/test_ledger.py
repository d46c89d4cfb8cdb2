"""The contract of `Ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, call

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_calls_come_back(store: Store) -> None:
    """Every call comes back in full, oldest first, equal ones as often as they were made."""
    made = (call(10), call(5, session=None, failed=True), call(10))
    for one in made:
        await store.ledger.add(ANN, one)
    assert await store.ledger.calls(ANN) == made


async def test_calls_belong_to_their_owner(store: Store) -> None:
    """Nobody pays for another's calls."""
    await store.ledger.add(ANN, call(10))
    await store.ledger.add(BOB, call(20))
    assert await store.ledger.calls(ANN) == (call(10),)
    assert await store.ledger.calls(BOB) == (call(20),)
    assert await store.ledger.calls(ANN_ELSEWHERE) == ()
