"""The keys that count at a request while their store answers late, fails, or hangs."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import StoreError
from omoide.ports.keys import StoredKey
from omoide.server.current_keys import OUTAGE, CurrentKeys
from omoide.server.keys import ApiKeys, Scope
from omoide.testing import FrozenClock

from .serving import serving

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEY = StoredKey(
    id="0011223344", tenant="acme", name="k", scopes="read", salt=b"s", hash=b"h", created=5
)


@dataclass
class Keys:
    """A store of keys that is asked each time, and can be made to fail or to hang."""

    rows: list[StoredKey] = field(default_factory=lambda: [KEY])
    error: StoreError | None = None
    answers: threading.Event = field(default_factory=threading.Event)
    threads: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers.set()

    def fresh(self) -> None:
        """Never known."""

    def read(self) -> Sequence[StoredKey]:
        """Waits until it may answer."""
        self.threads.append(threading.get_ident())
        assert self.answers.wait(300.0)
        if self.error:
            raise self.error
        return tuple(self.rows)

    def add(self, row: StoredKey) -> None:
        """Add a row."""
        self.rows.append(row)

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - as in `KeyStore`
        """Mark it."""
        self.rows = [replace(row, revoked=at) if row.id == id else row for row in self.rows]


async def test_keys_are_read_in_a_thread_once_for_all_that_wait() -> None:
    """The event loop is never blocked, and a revoked key ends with the next reading."""
    store = Keys()
    current = CurrentKeys(store)
    store.answers.clear()
    waiting = [asyncio.create_task(current.read()) for _ in range(5)]
    await asyncio.wait(waiting, timeout=0)
    store.answers.set()
    assert await asyncio.gather(*waiting) == [(KEY,)] * 5
    assert len(store.threads) == 1
    assert threading.get_ident() not in store.threads
    store.revoke(KEY.id, 9)
    assert [key.revoked for key in await current.read()] == [9]


async def test_the_last_keys_count_for_a_while_if_the_store_fails() -> None:
    """And no longer; they never do if none were ever read."""
    now = [0.0]
    store = Keys(error=StoreError("out of reach"))
    current = CurrentKeys(store, now=lambda: now[0])
    with pytest.raises(StoreError, match="out of reach"):
        await current.read()
    store.error = None
    assert await current.read() == (KEY,)
    store.error = StoreError("out of reach")
    now[0] = OUTAGE - 1
    assert await current.read() == (KEY,)
    now[0] = OUTAGE
    with pytest.raises(StoreError, match="out of reach"):
        await current.read()


async def test_nobody_waits_for_a_store_that_hangs() -> None:
    """The last keys count until it answers; what it says late is not lost."""
    store = Keys()
    current = CurrentKeys(store, patience=0.0)
    await current.read()
    store.answers.clear()
    meanwhile = [await current.read(), await current.read()]
    store.revoke(KEY.id, 9)
    store.answers.set()
    assert current._reading is not None
    await current._reading
    store.answers.clear()
    after = await current.read()
    store.answers.set()
    assert meanwhile == [(KEY,), (KEY,)]
    assert [key.revoked for key in after] == [9]
    assert len(store.threads) <= 3


async def test_a_chat_goes_on_while_the_keys_cannot_be_read(tmp_path: Path) -> None:
    """With a key that was known; another one is still refused."""
    store = Keys(rows=[])
    keys = ApiKeys(store)
    made = keys.create(tenant="default", name="k", scopes=Scope, at=FrozenClock().now())
    async with serving(tmp_path, keys=keys) as bench:
        mine = {"Authorization": f"Bearer {made.secret}"}
        assert (await bench.chat("Hi.", headers=mine)).status_code == 200
        store.error = StoreError("out of reach")
        assert (await bench.chat("Hi again.", headers=mine)).status_code == 200
        other = {"Authorization": f"Bearer {made.secret[:-1]}-"}
        assert (await bench.chat("Hi.", headers=other)).status_code == 401
