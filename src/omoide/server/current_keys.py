"""The API keys that count at a request, read beside the event loop.

A chat must not stop because its database does. So if the keys cannot be read, those that were read
last count for a while, and no request waits long for a store that does not answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from omoide.errors import StoreError, StoreLocked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.ports.keys import KeyStore, StoredKey

log = logging.getLogger(__name__)

OUTAGE = 15 * 60.0
"""Seconds for which the keys that were read last count while the store fails."""
PATIENCE = 1.0
"""Seconds after which a store counts as failing that has not answered yet."""
FIRST = 10.0
"""The same if there are no keys that count."""


class CurrentKeys:
    """Reads a key store in a thread, once at a time for all requests."""

    def __init__(
        self,
        store: KeyStore,
        *,
        now: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE,
    ) -> None:
        self._store = store
        self._now = now
        self._patience = patience
        self._known: Sequence[StoredKey] = ()
        self._until = float("-inf")
        """Until when those count if the store fails."""
        self._reading: asyncio.Task[None] | None = None
        self._began = 0.0

    async def read(self) -> Sequence[StoredKey]:
        """All keys. Raises `StoreError` if the store fails and none were read for a long time."""
        if (fresh := self._store.fresh()) is not None:
            self._keep(fresh)
            return fresh
        if self._reading is None or self._reading.done():
            self._began = self._now()
            self._reading = asyncio.create_task(self._refresh())
            self._reading.add_done_callback(_retrieve)
        usable = self._now() < self._until
        left = self._patience - (self._now() - self._began)
        try:
            await _within(self._reading, seconds=max(left, 0.0) if usable else FIRST)
        except StoreError as error:
            if not usable:
                raise
            log.warning("the API keys cannot be read: %s", type(error).__name__)
        return self._known

    async def _refresh(self) -> None:
        self._keep(await asyncio.to_thread(self._store.read))

    def _keep(self, keys: Sequence[StoredKey]) -> None:
        self._known, self._until = keys, self._now() + OUTAGE


async def _within(reading: asyncio.Task[None], *, seconds: float) -> None:
    """Wait for the task, which goes on whatever becomes of the request."""
    done, _ = await asyncio.wait({reading}, timeout=seconds)
    if not done:
        raise StoreLocked("the API keys could not be read in time; try again")
    reading.result()


def _retrieve(reading: asyncio.Task[None]) -> None:
    """Look at the outcome, of which asyncio complains if nobody does: perhaps nobody waits."""
    if not reading.cancelled():
        reading.exception()
