"""Where a conversation is shown: lines, a reply as it comes, and a sign that it is thinking."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Protocol

import click

from omoide.cli.progress import bar, progress_line
from omoide.cli.show import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import TextIO

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
EVERY = 0.1
"""Seconds between two turns of the sign."""
CLEAR = "\r\x1b[K"
"""Back to the start of the line, and nothing left on it."""


class Screen(Protocol):
    """What a conversation needs to be seen."""

    def line(self, text: str = "") -> None:
        """One or more whole lines. Colours may be in them."""

    def piece(self, text: str) -> None:
        """A piece of a reply, just behind the one before."""

    def waiting(self, what: str) -> Waiting:
        """Show that something takes its time, until it is stopped."""


class Waiting(Protocol):
    """A sign that something is being done."""

    async def __aenter__(self) -> Waiting: ...

    async def __aexit__(self, *raised: object) -> None: ...

    def stop(self) -> None:
        """Take the sign away; calling it again does nothing."""


class TerminalScreen:
    """A screen on stdout as it is at the moment, which prompt_toolkit may have replaced."""

    def __init__(self, *, colour: bool | None = None) -> None:
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "") == "dumb"
        self.colour = not plain if colour is None else colour
        self.lively = os.environ.get("TERM", "") != "dumb"
        self._spinner: Spinner | None = None

    def line(self, text: str = "") -> None:
        """Whole lines."""
        self._write(f"{text}\n")

    def piece(self, text: str) -> None:
        """A piece of a reply; what a model says cannot steer the terminal."""
        self._write(clean(text))

    def waiting(self, what: str) -> Spinner:
        """A turning sign, or on a dumb terminal a line."""
        self._spinner = Spinner(
            what,
            stream=sys.stdout,
            lively=self.lively,
            columns=shutil.get_terminal_size().columns,
        )
        return self._spinner

    def progress(self, done: int, total: int, what: str) -> None:
        """How far a download is: in the place of the sign that turns, if one does."""
        if self._spinner is not None and self._spinner.turning:
            self._spinner.say(progress_line(done, total, what))
        else:
            bar(done, total, what)

    def _write(self, text: str) -> None:
        stream = sys.stdout
        stream.write(text if self.colour and stream.isatty() else click.unstyle(text))
        stream.flush()


class Spinner:
    """A line that turns until it is stopped, and then is gone. Only on a terminal."""

    def __init__(self, what: str, *, stream: TextIO, lively: bool, columns: int = 80) -> None:
        self._what = what
        self._stream = stream
        self._lively = lively
        self._columns = columns
        self._turning: asyncio.Task[None] | None = None

    @property
    def turning(self) -> bool:
        """Whether it is to be seen."""
        return self._turning is not None

    def say(self, what: str) -> None:
        """Other words from now on."""
        self._what = what

    async def __aenter__(self) -> Spinner:
        if not self._stream.isatty():
            return self
        if self._lively:
            self._turning = asyncio.create_task(self._turn())
        else:
            self._write(f"({self._what} …)\n")
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop turning and clear the line."""
        if self._turning is not None:
            self._turning.cancel()
            self._turning = None
            self._write(CLEAR)

    async def _turn(self) -> None:
        step = 0
        while True:
            sign = _SPINNER[step % len(_SPINNER)] if self._fancy else "|/-\\"[step % 4]
            line = f"{sign} {self._what}"[: self._columns - 1]  # a wrapped line cannot be cleared
            self._write(f"{CLEAR}{line}")
            step += 1
            await asyncio.sleep(EVERY)

    @property
    def _fancy(self) -> bool:
        return (self._stream.encoding or "").lower().startswith("utf")

    def _write(self, text: str) -> None:
        with suppress(ValueError):  # the stream was closed while it turned
            self._stream.write(text)
            self._stream.flush()


@asynccontextmanager
async def cancelled(task: asyncio.Task[None]) -> AsyncIterator[asyncio.Task[None]]:
    """A task that runs as long as the block, and is gone after it."""
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
