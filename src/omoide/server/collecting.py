"""Reads an upstream's answer as a whole, unless it is too long to be held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.server.answer_parser import MAX_ANSWER_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from omoide.server.upstream import UpstreamResponse


@dataclass(kw_only=True)
class Start:
    """The part of an answer that was read: all of it, or as much as may be held."""

    blocks: list[bytes] = field(default_factory=list)
    complete: bool = False

    @property
    def body(self) -> bytes:
        """The bytes that were read."""
        return b"".join(self.blocks)

    async def and_rest(self, answer: UpstreamResponse) -> AsyncGenerator[bytes]:
        """These bytes, then the rest of the answer as it arrives."""
        while self.blocks:
            yield self.blocks.pop(0)
        async for block in answer.blocks:
            yield block


async def collected(
    answer: UpstreamResponse, feed: Callable[[bytes], None] = lambda block: None
) -> Start:
    """Read the answer, handing each block to `feed`. Stops once it is longer than may be held; then
    the rest can only be passed on."""
    start, size = Start(), 0
    async for block in answer.blocks:
        feed(block)
        start.blocks.append(block)
        size += len(block)
        if size > MAX_ANSWER_BYTES:
            return start
    start.complete = True
    return start
