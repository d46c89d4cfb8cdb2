"""Blocks of a stream go on as they come, joined where they come faster than they go."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from omoide.server.buffering import MAX_BUFFERED_BYTES, StreamBuffer, buffered

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Source:
    """A stream whose blocks are given by the test: an event is waited for."""

    def __init__(self, *script: bytes | asyncio.Event | Exception) -> None:
        self.given, self.closed = 0, False
        self._script = script

    async def blocks(self) -> AsyncGenerator[bytes]:
        """The script."""
        try:
            for step in self._script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, bytes):
                    self.given += 1
                    yield step
                else:
                    await step.wait()
        finally:
            self.closed = True


async def test_what_lies_there_goes_on_as_one() -> None:
    """Blocks that come at once are one; the one that comes alone is one by itself."""
    later = asyncio.Event()
    source = Source(b"a", b"b", later, b"c")
    seen = []
    async for block in buffered(source.blocks(), patience=300.0):
        seen.append(block)
        later.set()
    assert seen == [b"ab", b"c"]


async def test_the_first_block_does_not_wait_for_the_second() -> None:
    """It goes on while nothing more comes."""
    never = asyncio.Event()
    source = Source(b"first", never)
    async with aclosing(buffered(source.blocks(), patience=300.0)) as blocks:
        assert await anext(blocks) == b"first"
    assert source.closed


async def test_what_breaks_the_stream_comes_behind_its_blocks() -> None:
    """All that came is handed on before the error is raised."""
    blocks = buffered(Source(b"a", b"b", ValueError("gone")).blocks(), patience=300.0)
    assert await anext(blocks) == b"ab"
    with pytest.raises(ValueError, match="gone"):
        await anext(blocks)


async def test_silence_is_borne_for_so_long() -> None:
    """Where nothing comes for the time given, `TimeoutError`, and the stream is let go."""
    source = Source(b"a", asyncio.Event())
    blocks = buffered(source.blocks(), patience=0.2)
    assert await anext(blocks) == b"a"
    with pytest.raises(TimeoutError):
        await anext(blocks)
    assert source.closed


async def test_what_comes_in_the_last_moment_is_in_time() -> None:
    """A block that comes just as the time is over goes on, and the time begins anew behind it."""
    gates = [asyncio.Event(), asyncio.Event()]
    source = Source(gates[0], b"just", gates[1], b"later")
    inbox = StreamBuffer(patience=100.0)
    reading = asyncio.ensure_future(inbox.fill(source.blocks()))

    async def taking() -> asyncio.Task[bytes]:
        task = asyncio.ensure_future(inbox.take())
        for _ in range(3):  # both of them wait now
            await asyncio.sleep(0)
        return task

    first = await taking()
    gates[0].set()
    inbox.look(asyncio.get_running_loop().time() + 200.0)
    assert await first == b"just"
    second = await taking()
    assert not second.done()
    gates[1].set()
    assert await second == b"later"
    assert await inbox.take() == b""
    third = StreamBuffer(patience=100.0)
    waiting = asyncio.ensure_future(third.take())
    await asyncio.sleep(0)
    third.look(asyncio.get_running_loop().time() + 200.0)
    with pytest.raises(TimeoutError):
        await waiting
    for one in (inbox, third):
        one.close()
    await reading


async def test_a_slow_taker_holds_the_reading_up() -> None:
    """No more lies there than may; nothing of it is lost."""
    big = b"x" * (MAX_BUFFERED_BYTES // 2 + 1)
    source = Source(*[big] * 6)
    blocks = buffered(source.blocks(), patience=300.0)
    first = await anext(blocks)
    assert source.given == 2
    assert first + b"".join([block async for block in blocks]) == big * 6
