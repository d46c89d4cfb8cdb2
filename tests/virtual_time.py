"""An event loop whose clock jumps: hours of waiting take no time, and no busy machine matters."""

from __future__ import annotations

import asyncio
import selectors
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing: the time that it was to wait is over at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; if nothing is, the clock jumps to the next timer."""
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout is not None and timeout > 0:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For code that waits by timers alone: threads and sockets would be overtaken."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Seconds since the loop was made, most of them skipped."""
        return self._jumping.now


class LoopClock:
    """Tells the time of the loop that runs."""

    def now(self) -> datetime:
        """The present moment."""
        return START + timedelta(seconds=asyncio.get_running_loop().time())


def run(main: Coroutine[object, object, T]) -> T:
    """Run to the end, in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
