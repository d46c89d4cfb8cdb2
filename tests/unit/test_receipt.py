"""Receipts of erasures: what they say, and that nobody can change them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.domain import Receipt
from omoide.errors import BadInput
from omoide.ports.store import IndexTraces

if TYPE_CHECKING:
    from omoide.domain import Owner
    from omoide.ports import Erased, Store

    from .conftest import World


async def filled(world: World) -> None:
    """Two sessions, each with a version of the summary."""
    await world.session("ana", "I have a cat called Miso.", answers=("The user has a cat.",))
    await world.session("ana", "I moved to Bergen.", answers=("The user lives in Bergen.",))


async def test_a_receipt_counts_what_was_removed_and_searched(world: World) -> None:
    """By kind, signed, and clean; it holds none of the user's words."""
    await filled(world)
    erased = await world.memory.erase("ana", session=2)
    receipt = erased.receipt
    assert receipt is not None
    assert (receipt.tenant, receipt.user, receipt.scope) == ("default", "ana", "session 2")
    assert receipt.removed["turns"] == erased.turns == 2
    assert receipt.removed["sessions"] == 1
    assert receipt.searched["turns"] == 2
    assert receipt.searched["terms"] > 0
    assert receipt.searched["sessions"] == 1
    assert receipt.clean
    assert receipt.time == world.clock.now()
    assert "Bergen" not in receipt.to_json()
    assert await world.memory.is_genuine(receipt)
    whole = (await world.memory.erase("ana")).receipt
    assert whole is not None
    assert (whole.scope, whole.clean, whole.removed["turns"]) == ("user", True, 2)
    assert set(whole.searched.values()) == {2, 0, whole.searched["terms"]}
    assert whole.searched["vectors"] == 2
    kinds = {"sentences", "facts", "events", "memos", "notes", "rejected"}
    assert whole.searched.keys() == kinds | {"turns", "terms", "vectors", "sessions"}


@pytest.mark.parametrize(
    "change",
    [
        {"user": "bob"},
        {"tenant": "other"},
        {"scope": "user"},
        {"pending": True},
        {"found": ["turns"]},
        {"removed": {"turns": 9}},
        {"searched": {}},
        {"time": "2020-01-01T00:00:00+00:00"},
        {"signature": "0" * 64},
    ],
)
async def test_a_changed_receipt_is_not_genuine(world: World, change: dict[str, object]) -> None:
    """Whatever was changed in the file."""
    await filled(world)
    receipt = (await world.memory.erase("ana", session=1)).receipt
    assert receipt is not None
    again = Receipt.from_json(receipt.to_json())
    assert again == receipt
    assert await world.memory.is_genuine(again)
    changed = Receipt.from_json(json.dumps(json.loads(receipt.to_json()) | change))
    assert not await world.memory.is_genuine(changed)


async def test_a_receipt_says_each_thing_once(world: World) -> None:
    """A second user before the signed one would be what another reader sees."""
    receipt = (await world.memory.erase("ana")).receipt
    assert receipt is not None
    twice = receipt.to_json().replace("{", '{"user": "bob",', 1)
    assert json.loads(twice)["user"] == "ana"
    with pytest.raises(BadInput):
        Receipt.from_json(twice)


async def test_a_receipt_of_another_tenant_or_database_is_not_genuine(world: World) -> None:
    """A database signs with its own key, and a tenant vouches for its own receipts only."""
    receipt = (await world.memory.erase("ana")).receipt
    assert receipt is not None
    assert not await world.runtime.memory("other").is_genuine(receipt)
    assert not receipt.is_genuine(b"another key")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '"x"', "null"])
def test_what_is_no_receipt_is_refused(text: str) -> None:
    """With advice."""
    with pytest.raises(BadInput, match="not a receipt"):
        Receipt.from_json(text)


class ForgetfulArchive:
    """An archive that says it erased, and leaves everything."""

    def __init__(self, store: Store) -> None:
        self._archive = store.archive

    async def erase(self, owner: Owner, **target: object) -> Erased:
        """Only erase someone else."""
        del target
        return await self._archive.erase(replace(owner, user="nobody"))

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ({}, {"turns", "terms", "vectors", "sentences"}),
        ({"session": 2}, {"turns", "terms", "vectors", "sessions", "sentences"}),
        ({"sentences": ["The user lives in Bergen."]}, {"sentences"}),
    ],
)
async def test_what_is_left_is_found(
    world: World, target: dict[str, object], found: set[str]
) -> None:
    """The search can fail: a store that erases nothing gets a receipt that says so."""
    await filled(world)
    world.runtime.store.archive = ForgetfulArchive(world.store)  # type: ignore[assignment]
    receipt = (await world.memory.erase("ana", **target)).receipt  # type: ignore[arg-type]
    assert receipt is not None
    assert not receipt.clean
    assert set(receipt.found) == found
    assert await world.memory.is_genuine(receipt)


class Unfinished:
    """An archive whose erasures leave something in the search index."""

    def __init__(self, store: Store, left: IndexTraces) -> None:
        self._archive, self._left = store.archive, left

    async def traces(self, *_: object, **__: object) -> IndexTraces:
        """What is left."""
        return self._left

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@pytest.mark.parametrize(
    ("left", "found"),
    [
        (IndexTraces(postings=1), ("terms",)),
        (IndexTraces(vectors=1), ("vectors",)),
        (IndexTraces(outlines=1), ("turns",)),
    ],
)
async def test_what_is_left_in_the_search_index_is_found(
    world: World, left: IndexTraces, found: tuple[str, ...]
) -> None:
    """Though the turn is gone, and so no search leads to it."""
    await filled(world)
    world.runtime.store.archive = Unfinished(world.store, left)  # type: ignore[assignment]
    receipt = (await world.memory.erase("ana", session=2)).receipt
    assert receipt is not None
    assert receipt.found == found
    assert not receipt.clean


async def test_a_receipt_of_an_earlier_version_is_still_genuine(world: World) -> None:
    """Which kinds were searched then is part of what was signed."""
    key = await world.store.archive.receipt_key()
    old = Receipt(
        id="r",
        time=world.clock.now(),
        tenant="default",
        user="ana",
        scope="user",
        searched={"turns": 2, "terms": 5},
    ).signed(key)
    assert await world.memory.is_genuine(Receipt.from_json(old.to_json()))
