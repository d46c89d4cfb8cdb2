"""A batch that the database refuses in the middle leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import StoreError
from omoide.testing.contracts.making import ANN, event, memo
from omoide.testing.contracts.store import events, memos

if TYPE_CHECKING:
    from omoide.ports import Store


async def test_memos_are_added_in_one_transaction(store: Store) -> None:
    """If one memo of a batch cannot be stored, none is, nor its words, nor the job."""
    broken = replace(memo("green two"), method=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await store.memos.add(ANN, [memo("green one"), broken])
    assert await memos.ids(store) == []
    assert await memos.found(store, "green") == []
    assert await store.jobs.list("acme") == ()


async def test_fold_in_one_transaction(store: Store) -> None:
    """If the new memo cannot be stored, the old ones are found as before."""
    await store.memos.add(ANN, [memo("one")])
    broken = replace(memo("both"), method=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await store.memos.fold(ANN, ids=["one"], into=broken)
    assert await store.memos.read(ANN) == (memo("one"),)
    assert await memos.found(store, "one") == ["one"]


async def test_events_are_added_in_one_transaction(store: Store) -> None:
    """If one event of a batch cannot be stored, none is, nor its words, nor the job."""
    broken = replace(event("green two"), consolidation=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        await store.events.add(ANN, [event("green one"), broken])
    assert await events.texts(store) == []
    assert await events.found(store, "green") == []
    assert await store.jobs.list("acme") == ()
