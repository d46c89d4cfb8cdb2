"""Who may go on when methods run at the same time: the earliest case of any of them.

Without it every method has all its cases under way at once, and a run that is cut off has done a
part of each and none to the end. With it the first cases are finished by every method before the
later ones are begun, so that whatever was done can be compared, case by case.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Gate:
    """So many cases under way, over all methods. Closed until it is opened, so that all who come
    at the beginning are there when the first are let in."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._free = 0
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def open(self) -> None:
        """Let the first in."""
        self._free = self._room
        self._serve()

    @asynccontextmanager
    async def at(self, place: int) -> AsyncIterator[None]:
        """Wait for one's turn: the lowest place goes first, then whoever came first."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (place, next(self._order), turn))
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        self._free += 1
        self._serve()

    def _serve(self) -> None:
        while self._free and self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self._free -= 1
                turn.set_result(None)
