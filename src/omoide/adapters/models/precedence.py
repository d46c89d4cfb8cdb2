"""Requests that somebody waits for go before those that nobody waits for."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")

log = logging.getLogger(__name__)

PATIENCE = 8
"""How often a background request yields. After that it runs to its end, even on a server where
somebody always waits."""


class Precedence:
    """While a request is in the foreground, none in the background runs: one that is running is
    stopped, and begins again afterwards. Its prompt stays cached, so little is lost."""

    def __init__(self) -> None:
        self._waiting = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._running: set[threading.Event] = set()
        self._yielding: set[threading.Event] = set()
        """Those of the running that were stopped here; an error may stop one too."""

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """Somebody waits for what runs in this block."""
        self._waiting += 1
        self._quiet.clear()
        for stop in self._running:
            self._yielding.add(stop)
            stop.set()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._quiet.set()

    async def in_background(self, run: Callable[[threading.Event], Awaitable[T]]) -> T:
        """The result of `run`, which ends early with `ModelUnavailable` when the event that it gets
        is set; it is then run again as soon as nobody waits, at most `PATIENCE` times."""
        for _ in range(PATIENCE):
            await self._quiet.wait()
            stop = threading.Event()
            self._running.add(stop)
            try:
                return await run(stop)
            except ModelUnavailable:
                if stop not in self._yielding:
                    raise
                log.debug("a background request waits for a reply")
            finally:
                self._running.discard(stop)
                self._yielding.discard(stop)
        return await run(threading.Event())
