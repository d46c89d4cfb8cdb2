"""The way from the event loop to the threads of a database, and back.

A trip costs some tenths of a millisecond of CPU, more than many a statement: a thread is woken, and
then the loop. So what is asked for in one turn of the loop goes along together, a few at a time:
the reads that several mechanisms make for one reply, or a reply's words and what they cost. Each
piece of work still has its own transaction and its own outcome.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

TOGETHER = 4
"""Most pieces of work on one trip, so that none waits long for its companions."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Errand:
    """A piece of work, and the one who waits for it."""

    waiting: asyncio.Future[Any]
    work: Callable[..., Any]
    arguments: tuple[object, ...]


@dataclass(kw_only=True, eq=False)
class _Round:
    """What was asked for in one turn of a loop."""

    loop: asyncio.AbstractEventLoop
    errands: list[_Errand] = field(default_factory=list)


class Errands:
    """Has work done in some threads."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._round: _Round | None = None
        self.trips = 0
        """How often a thread was sent off: what there is to save."""

    async def do(self, work: Callable[..., T], *arguments: object) -> T:
        """The outcome of `work`, or what it raised. Work that nobody waits for any more when its
        turn comes is left undone; once begun it is finished."""
        loop = asyncio.get_running_loop()
        if self._round is None or self._round.loop is not loop:
            self._round = _Round(loop=loop)
            loop.call_soon(self._set_off, self._round)
        waiting: asyncio.Future[T] = loop.create_future()
        self._round.errands.append(_Errand(waiting=waiting, work=work, arguments=arguments))
        return await waiting

    def set_off(self) -> None:
        """Do not wait for the turn's end: the threads are about to be closed."""
        if self._round is not None:
            self._set_off(self._round)

    def _set_off(self, these: _Round) -> None:
        if self._round is these:
            self._round = None
        errands, these.errands = these.errands, []
        for first in range(0, len(errands), TOGETHER):
            some = errands[first : first + TOGETHER]
            self.trips += 1
            try:
                self._threads.submit(_run, these.loop, some)
            except RuntimeError as error:  # the interpreter is going down
                _tell([(errand, None, error) for errand in some])


def _run(loop: asyncio.AbstractEventLoop, errands: Sequence[_Errand]) -> None:
    """Do them, in a thread, and tell the loop once."""
    outcomes: list[tuple[_Errand, Any, BaseException | None]] = []
    for errand in errands:
        if errand.waiting.cancelled():
            continue
        try:
            outcomes.append((errand, errand.work(*errand.arguments), None))
        except BaseException as error:  # noqa: BLE001 - it is the one who waits whom it concerns
            outcomes.append((errand, None, error))
    loop.call_soon_threadsafe(_tell, outcomes)


def _tell(outcomes: Sequence[tuple[_Errand, Any, BaseException | None]]) -> None:
    for errand, result, error in outcomes:
        if errand.waiting.done():
            continue  # nobody waits any more
        if error is not None:
            errand.waiting.set_exception(error)
        else:
            errand.waiting.set_result(result)
