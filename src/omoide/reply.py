"""A reply while it is being made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.memory.mechanism import Place

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

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
