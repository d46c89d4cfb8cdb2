"""Reading a stream ahead of whoever hands it on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

MOST = 256 * 1024
"""Bytes that may lie there before the reading waits for the handing on."""


async def joined(blocks: AsyncIterator[bytes], *, patience: float) -> AsyncGenerator[bytes]:
    """The bytes of a stream as they come. The first block goes on at once, and so does each that
    comes alone; those that come faster than they are handed on go on as one.

    Raises `TimeoutError` if nothing comes for `patience` seconds, and what the blocks raise.
    """
    inbox = Inbox(patience)
    reading = asyncio.ensure_future(inbox.fill(blocks))
    try:
        while block := await inbox.take():
            yield block
        await reading
    finally:
        inbox.close()
        reading.cancel()
        await asyncio.wait({reading})
        if not reading.cancelled():
            reading.exception()  # whoever hung up does not want to know


class Inbox:
    """What has come and was not handed on yet. One timer watches over all of a stream: setting a
    new one for each block would cost more than all else here."""

    def __init__(self, patience: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._blocks: list[bytes] = []
        self._size = 0
        self._over = self._late = False
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._waiting_since: float | None = None
        self._watch = self._loop.call_later(patience, self.look)

    async def fill(self, blocks: AsyncIterator[bytes]) -> None:
        """Take in all blocks."""
        try:
            async for block in blocks:
                self._blocks.append(block)
                self._size += len(block)
                self._news.set()
                while self._size > MOST:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._over = True
            self._news.set()

    async def take(self) -> bytes:
        """What has come, once there is something; nothing when all has been handed on."""
        while not self._size:
            if self._over:
                return b""
            if self._late:
                raise TimeoutError
            self._news.clear()
            self._waiting_since = self._loop.time()
            await self._news.wait()
            self._waiting_since = None
        if self._late:  # not quite: it came in the last moment
            self._late = False
            self._watch = self._loop.call_later(self._patience, self.look)
        block = b"".join(self._blocks)
        self._blocks.clear()
        self._size = 0
        self._room.set()
        return block

    def close(self) -> None:
        """Stop watching."""
        self._watch.cancel()

    def look(self, now: float | None = None) -> None:
        """See how long it has been waited; while nobody waits, no one is late."""
        now = self._loop.time() if now is None else now
        since = now if self._waiting_since is None else self._waiting_since
        if now - since >= self._patience:
            self._late = True
            self._news.set()
        else:
            self._watch = self._loop.call_at(since + self._patience, self.look)
