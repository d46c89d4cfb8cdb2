"""Processes by fork, so that one costs milliseconds: the parent has everything imported and nothing
open, and never touches a database itself."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    Promise = Callable[[str], None]
    Work = Callable[[Promise], Awaitable[None]]

PATIENCE = 600.0
"""Seconds to wait for a first promise."""


class Running:
    """A process that goes on by itself, and its promises: one line each, of words."""

    def __init__(self, work: Work) -> None:
        reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reading)
            _in_child(lambda: work(lambda line: _tell(writing, line)))
        os.close(writing)
        self._reading = reading
        self._heard = b""
        self._ended = False

    def listen(self, seconds: float, *, until: str = "", times: int = 1) -> bool:
        """Take in promises for so long, or until this was heard so many times; whether it was."""
        before, deadline = len(self._heard), time.monotonic() + seconds
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            if until and self._heard.count(until.encode(), before) >= times:
                return True
            if select.select([self._reading], [], [], left)[0]:
                piece = os.read(self._reading, 65536)
                self._ended = not piece
                self._heard += piece
        return bool(until) and self._heard.count(until.encode(), before) >= times

    def kill(self) -> list[list[str]]:
        """`kill -9`, and what it had promised. It must not have ended before."""
        self.interrupt()
        return self._promises(by_itself=False)

    def interrupt(self) -> None:
        """`kill -9`, and no more."""
        os.kill(self._pid, signal.SIGKILL)

    def finished(self) -> list[list[str]]:
        """Its promises, when it has ended: by itself, or interrupted."""
        return self._promises(by_itself=True)

    def _promises(self, *, by_itself: bool) -> list[list[str]]:
        while piece := os.read(self._reading, 65536):
            self._heard += piece
        os.close(self._reading)
        _, status = os.waitpid(self._pid, 0)
        if not os.WIFSIGNALED(status) and (status or not by_itself):
            code = os.waitstatus_to_exitcode(status)
            raise RuntimeError(f"a process ended by itself with {code}")
        lines = self._heard.decode().split("\n")[:-1]  # what is not ended was not promised
        return [line.split() for line in lines]


def killed(*works: Work, dice: random.Random, most: int = 1) -> list[list[str]]:
    """Start victims, kill them together at a random moment, and give their promises. One time in
    five that is in the first tenth of a second, whatever they are doing; else some time after the
    last one's first promise, or after as many as the dice say, `most` at most."""
    victims = [Running(work) for work in works]
    if dice.random() < 0.2:
        victims[-1].listen(dice.uniform(0.0, 0.1))
    else:
        victims[-1].listen(PATIENCE, until="\n", times=dice.randint(1, most))
        victims[-1].listen(dice.uniform(0.0, 0.2))
    for victim in victims:
        victim.interrupt()
    return [line for victim in victims for line in victim.finished()]


def asked(work: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - JSON
    """What work gives, done in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)

        async def told() -> None:
            answer = await work()
            _tell(writing, json.dumps(answer))

        _in_child(told)
    os.close(writing)
    heard = b""
    while piece := os.read(reading, 65536):
        heard += piece
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a process failed with {os.waitstatus_to_exitcode(status)}")
    return json.loads(heard)


def _tell(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


def _in_child(work: Callable[[], Awaitable[None]]) -> None:
    """Do it, and never come back into the parent's code."""
    code = 0
    try:
        asyncio.run(_awaited(work))
    except BaseException:  # noqa: BLE001 - the end of a process
        traceback.print_exc()
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()
