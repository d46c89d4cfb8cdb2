"""The order of cases when methods run at the same time: earlier cases go first.

Without a gate, every method has all its cases in flight at once, and an interrupted run has only
partial results. With it, all methods finish the first cases before they start later ones, so that
an interrupted run can still be compared case by case.
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
    """A priority semaphore over the cases of all methods. It starts closed, so that the first
    cases of every method are waiting when it opens."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._free = 0
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def open(self) -> None:
        """Admit the first cases."""
        self._free = self._room
        self._serve()

    @asynccontextmanager
    async def at(self, place: int) -> AsyncIterator[None]:
        """Wait for a slot. The lowest `place` goes first, then the longest waiting."""
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
