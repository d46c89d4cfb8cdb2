"""Blocks of a stream go on as they come, joined where they come faster than they go."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from omoide.server.joining import MOST, joined

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
    async for block in joined(source.blocks(), patience=5.0):
        seen.append(block)
        later.set()
    assert seen == [b"ab", b"c"]


async def test_the_first_block_does_not_wait_for_the_second() -> None:
    """It goes on while nothing more comes."""
    never = asyncio.Event()
    source = Source(b"first", never)
    async with aclosing(joined(source.blocks(), patience=5.0)) as blocks:
        assert await anext(blocks) == b"first"
    assert source.closed


async def test_what_breaks_the_stream_comes_behind_its_blocks() -> None:
    """All that came is handed on before the error is raised."""
    blocks = joined(Source(b"a", b"b", ValueError("gone")).blocks(), patience=5.0)
    assert await anext(blocks) == b"ab"
    with pytest.raises(ValueError, match="gone"):
        await anext(blocks)


async def test_silence_is_borne_for_so_long() -> None:
    """Where nothing comes for the time given, `TimeoutError`, and the stream is let go."""
    source = Source(b"a", asyncio.Event())
    blocks = joined(source.blocks(), patience=0.01)
    assert await anext(blocks) == b"a"
    with pytest.raises(TimeoutError):
        await anext(blocks)
    assert source.closed


async def test_a_slow_taker_holds_the_reading_up() -> None:
    """No more lies there than may; nothing of it is lost."""
    big = b"x" * (MOST // 2 + 1)
    source = Source(*[big] * 6)
    blocks = joined(source.blocks(), patience=5.0)
    first = await anext(blocks)
    assert source.given == 2
    assert first + b"".join([block async for block in blocks]) == big * 6
