"""Reads an answer: a stream ahead of its consumer, any other in its turn."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

MAX_BUFFERED_BYTES = 256 * 1024
"""Bytes that are buffered before reading waits for the consumer."""


async def buffered(blocks: AsyncIterator[bytes], *, patience: float) -> AsyncGenerator[bytes]:
    """The bytes of a stream as they arrive. Blocks that arrive faster than they are consumed are
    joined into one; a block that arrives alone is passed on at once.

    Raises `TimeoutError` if nothing arrives for `patience` seconds, and whatever `blocks` raises.
    """
    inbox = StreamBuffer(patience)
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
            reading.exception()  # mark as retrieved: the consumer has already left


async def unbuffered(blocks: AsyncGenerator[bytes], *, patience: float) -> AsyncGenerator[bytes]:
    """The same for bytes that are wanted as a whole: without a task that reads ahead, which would
    cost more than the reading."""
    async with aclosing(blocks):
        while True:
            async with asyncio.timeout(patience):
                block = await anext(blocks, None)
            if block is None:
                return
            yield block


class StreamBuffer:
    """Bytes that have arrived and were not consumed yet. One timer serves the whole stream: a new
    one for each block would cost more than everything else here."""

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
        """Read all blocks into the buffer."""
        try:
            async for block in blocks:
                self._blocks.append(block)
                self._size += len(block)
                self._news.set()
                while self._size > MAX_BUFFERED_BYTES:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._over = True
            self._news.set()

    async def take(self) -> bytes:
        """Wait for bytes and return all that arrived; empty at the end of the stream."""
        while not self._size:
            if self._over:
                return b""
            if self._late:
                raise TimeoutError
            self._news.clear()
            self._waiting_since = self._loop.time()
            await self._news.wait()
            self._waiting_since = None
        if self._late:  # a block arrived just as the timer fired
            self._late = False
            self._watch = self._loop.call_later(self._patience, self.look)
        block = b"".join(self._blocks)
        self._blocks.clear()
        self._size = 0
        self._room.set()
        return block

    def close(self) -> None:
        """Cancel the timer."""
        self._watch.cancel()

    def look(self, now: float | None = None) -> None:
        """Check the timeout. Only time that the consumer spends waiting counts."""
        now = self._loop.time() if now is None else now
        since = now if self._waiting_since is None else self._waiting_since
        if now - since >= self._patience:
            self._late = True
            self._news.set()
        else:
            self._watch = self._loop.call_at(since + self._patience, self.look)
