"""Runs database work in threads for the event loop, in batches.

A round trip wakes a thread and then the loop. That costs some tenths of a millisecond of CPU, more
than many statements. Two threads at once cost more: each lets go of the interpreter for every
statement, and the other takes it. So work requested in one iteration of the loop and the next, in
which nested calls of `gather` begin, is sent together, a few items at a time: the reads that
several mechanisms make for one reply, or a reply's turn and its cost. Each item still has its own
result. Items of a batch share a transaction, so that pages are looked up, locked and written once.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import AbstractContextManager

    Around = Callable[[int], AbstractContextManager[tuple[object, ...]]]

T = TypeVar("T")

TOGETHER = 8
"""Most work items in one round trip, so that none waits long for the others."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _WorkItem:
    """A piece of work and the future that waits for it."""

    waiting: asyncio.Future[Any]
    work: Callable[..., Any]
    arguments: tuple[object, ...]


@dataclass(kw_only=True, eq=False)
class _Batch:
    """The work requested in two iterations of a loop."""

    loop: asyncio.AbstractEventLoop
    items: list[_WorkItem] = field(default_factory=list)


class BatchingExecutor:
    """Runs work in a thread pool, batched by iterations of the loop."""

    def __init__(
        self, threads: ThreadPoolExecutor, *, around: Around = lambda count: nullcontext(())
    ) -> None:
        """`around` is entered in the thread for each batch, given the number of its items; what it
        gives are the first arguments of all work in the batch. If it fails, all of them do."""
        self._threads = threads
        self._around = around
        self._batch: _Batch | None = None
        self.trips = 0
        """Number of round trips: what batching saves."""

    async def run(self, work: Callable[..., T], *arguments: object) -> T:
        """Return the result of `work`, or raise its exception. Work that is cancelled before it
        starts is skipped; once started it is finished."""
        loop = asyncio.get_running_loop()
        if self._batch is None or self._batch.loop is not loop:
            self._batch = _Batch(loop=loop)
            loop.call_soon(loop.call_soon, self._submit, self._batch)
        waiting: asyncio.Future[T] = loop.create_future()
        self._batch.items.append(_WorkItem(waiting=waiting, work=work, arguments=arguments))
        return await waiting

    def flush(self) -> None:
        """Submit waiting work at once, because the threads are about to be shut down."""
        if self._batch is not None:
            self._submit(self._batch)

    def _submit(self, batch: _Batch) -> None:
        if self._batch is batch:
            self._batch = None
        items, batch.items = batch.items, []
        for first in range(0, len(items), TOGETHER):
            chunk = items[first : first + TOGETHER]
            self.trips += 1
            try:
                self._threads.submit(_run, batch.loop, chunk, self._around)
            except RuntimeError as error:  # the interpreter is shutting down
                _resolve([(item, None, error) for item in chunk])


def _run(loop: asyncio.AbstractEventLoop, items: Sequence[_WorkItem], around: Around) -> None:
    """Run the items in a thread, and wake the loop once with all results."""
    outcomes: list[tuple[_WorkItem, Any, BaseException | None]] = []
    try:
        with around(len(items)) as given:
            for item in items:
                if item.waiting.cancelled():
                    continue
                try:
                    outcomes.append((item, item.work(*given, *item.arguments), None))
                except BaseException as error:  # noqa: BLE001 - passed on to the caller
                    outcomes.append((item, None, error))
    except BaseException as error:  # noqa: BLE001 - passed on to the callers
        outcomes = [(item, None, error) for item in items]
    loop.call_soon_threadsafe(_resolve, outcomes)


def _resolve(outcomes: Sequence[tuple[_WorkItem, Any, BaseException | None]]) -> None:
    for item, result, error in outcomes:
        if item.waiting.done():
            continue  # cancelled meanwhile
        if error is not None:
            item.waiting.set_exception(error)
        else:
            item.waiting.set_result(result)
