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

    from tests.torture.victims import Victim


def killed(victim: Victim, url: str, run: str, *, dice: random.Random) -> list[list[str]]:
    """Start a victim, kill it at a random moment, and give its promises. One in five is killed in
    the first tenth of a second, whatever it is doing; the others some time after a promise."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(lambda: victim(url, run, lambda line: _tell(writing, line)))
    os.close(writing)
    heard = b""
    if dice.random() < 0.2:
        deadline = time.monotonic() + dice.uniform(0.0, 0.1)
    else:
        select.select([reading], [], [], 20.0)
        deadline = time.monotonic() + dice.uniform(0.0, 0.2)
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reading], [], [], left)
        if ready:
            piece = os.read(reading, 65536)
            if not piece:
                break  # it ended by itself, which it never should
            heard += piece
    os.kill(child, signal.SIGKILL)
    while piece := os.read(reading, 65536):
        heard += piece
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise RuntimeError(f"a victim ended by itself with {os.waitstatus_to_exitcode(status)}")
    lines = heard.decode().split("\n")[:-1]  # what is not ended was not promised
    return [line.split() for line in lines]


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


def started(work: Callable[[Callable[[str], None]], Awaitable[None]]) -> tuple[int, int]:
    """A process that goes on by itself: its number, and where its promises come out."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(lambda: work(lambda line: _tell(writing, line)))
    os.close(writing)
    return child, reading


def finished(child: int, reading: int) -> list[list[str]]:
    """The promises of a process, when it has ended, however it did."""
    heard = b""
    while piece := os.read(reading, 65536):
        heard += piece
    os.close(reading)
    os.waitpid(child, 0)
    return [line.split() for line in heard.decode().split("\n")[:-1]]


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
