"""A reply while it is being made."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from omoide.domain.text import printable
from omoide.memory.mechanism import Place
from omoide.memory.replies import looping
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
    from typing import Any

    from omoide.domain import Turn
    from omoide.memory.mechanism import Contribution


class Reply:
    """A reply on its way: iterate over it for the pieces. What was said before it is already
    recorded; what it says is recorded when it ends, or up to where it was broken off."""

    def __init__(
        self,
        *,
        turn: Turn,
        contributions: tuple[Contribution, ...],
        pieces: AsyncGenerator[str, None],
    ) -> None:
        self.turn = turn
        self.contributions = contributions
        """What memory put into the prompt, and why."""
        self._pieces = pieces

    @property
    def recalled(self) -> tuple[Contribution, ...]:
        """What came to mind because of what was said."""
        return tuple(c for c in self.contributions if c.place is Place.RECALLED)

    def __aiter__(self) -> AsyncIterator[str]:
        return self._pieces

    async def text(self) -> str:
        """The whole of it."""
        return "".join([piece async for piece in self])

    async def close(self) -> None:
        """Break it off, if it has not ended."""
        await self._pieces.aclose()


async def heard(
    stream: AsyncGenerator[str | Completion], *, keep: Callable[[str], Coroutine[Any, Any, None]]
) -> AsyncGenerator[str, None]:
    """The pieces of a model's answer, as they come; one that runs in circles is broken off.
    However it ends, what was said by then is given to `keep`, which is not cancelled with it."""
    answer = ""
    try:
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if not isinstance(piece, Completion):
                    answer += piece
                    yield piece
                if looping(answer):
                    break
    finally:
        if said := printable(answer):
            await asyncio.shield(asyncio.ensure_future(keep(said)))
