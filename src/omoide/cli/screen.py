"""The screen of a chat: lines, a reply as it streams, and a spinner."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Protocol

import click

from omoide.cli.progress import downloads
from omoide.cli.show import clean, dim, last_columns, one_line
from omoide.cli.wrapping import Wrapper, wrapped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import TextIO

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
EVERY = 0.1
"""Seconds between two frames of the spinner."""
CLEAR = "\r\x1b[K"
"""Moves to the start of the line and clears it."""


class Screen(Protocol):
    """What a chat is shown on."""

    @property
    def rows(self) -> int:
        """How many lines fit on it."""

    def line(self, text: str = "") -> None:
        """Show one or more whole lines, which may contain colours."""

    def piece(self, text: str) -> None:
        """Show a piece of a reply, directly after the previous one."""

    def waiting(self, what: str) -> Waiting:
        """Show that something takes time, until it is stopped."""


class Waiting(Protocol):
    """A sign that something is going on."""

    async def __aenter__(self) -> Waiting: ...

    async def __aexit__(self, *raised: object) -> None: ...

    def watch(self, forming: Callable[[], str]) -> None:
        """Show the words that are forming as soon as there are any."""

    def stop(self) -> None:
        """Remove the sign; calling it again does nothing."""


class TerminalScreen:
    """A screen on the current `sys.stdout`, which prompt_toolkit may have replaced."""

    def __init__(self, *, colour: bool | None = None) -> None:
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "") == "dumb"
        self.colour = not plain if colour is None else colour
        self.lively = os.environ.get("TERM", "") != "dumb"
        self._spinner: Spinner | None = None
        self._wrapper: Wrapper | None = None

    @property
    def rows(self) -> int:
        """How many lines fit on it."""
        return shutil.get_terminal_size().lines

    def line(self, text: str = "") -> None:
        """Write whole lines, wrapped on a terminal."""
        if self._wrapper is not None:
            self._write(self._wrapper.end())
            self._wrapper = None
        if sys.stdout.isatty():
            text = wrapped(text, shutil.get_terminal_size().columns)
        self._write(f"{text}\n")

    def piece(self, text: str) -> None:
        """Write a piece of a reply, without control characters and wrapped on a terminal."""
        if self._wrapper is None and sys.stdout.isatty():
            self._wrapper = Wrapper(shutil.get_terminal_size().columns)
        text = clean(text)
        self._write(self._wrapper.feed(text) if self._wrapper is not None else text)

    def waiting(self, what: str) -> Spinner:
        """A spinner, or on a dumb terminal a line."""
        self._spinner = Spinner(
            what,
            stream=sys.stdout,
            lively=self.lively,
            columns=shutil.get_terminal_size().columns,
            colour=self.colour,
        )
        return self._spinner

    def progress(self, done: int, total: int, what: str) -> None:
        """Show the progress of a download: in the spinner if one is shown, else as a bar."""
        if self._spinner is not None and self._spinner.turning:
            self._spinner.say(downloads.line(done, total, what))
        else:
            downloads(done, total, what)

    def _write(self, text: str) -> None:
        stream = sys.stdout
        stream.write(text if self.colour and stream.isatty() else click.unstyle(text))
        stream.flush()


class Spinner:
    """A spinner with a text, removed when it is stopped. Shown only on a terminal."""

    def __init__(
        self,
        what: str,
        *,
        stream: TextIO,
        lively: bool,
        columns: int = 80,
        colour: bool = False,
    ) -> None:
        self._what = what
        self._stream = stream
        self._lively = lively
        self._colour = colour
        self._columns = columns
        self._forming: Callable[[], str] = str
        self._turning: asyncio.Task[None] | None = None

    @property
    def turning(self) -> bool:
        """Whether it is shown."""
        return self._turning is not None

    def say(self, what: str) -> None:
        """Change the text."""
        self._what = what

    def watch(self, forming: Callable[[], str]) -> None:
        """Show the end of what is forming, faint, in place of the text."""
        self._forming = forming

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
        """Stop the spinner and clear the line."""
        if self._turning is not None:
            self._turning.cancel()
            self._turning = None
            self._write(CLEAR)

    async def _turn(self) -> None:
        step = 0
        while True:
            frame = _SPINNER[step % len(_SPINNER)] if self._unicode else "|/-\\"[step % 4]
            # Never a whole line: one that is wrapped cannot be cleared.
            room = self._columns - 3
            text = self._what[:room]
            if forming := one_line(self._forming()):
                text = last_columns(forming, room)
                text = dim(text) if self._colour else text
            self._write(f"{CLEAR}{frame} {text}")
            step += 1
            await asyncio.sleep(EVERY)

    @property
    def _unicode(self) -> bool:
        return (self._stream.encoding or "").lower().startswith("utf")

    def _write(self, text: str) -> None:
        with suppress(ValueError):  # the stream was closed meanwhile
            self._stream.write(text)
            self._stream.flush()


@asynccontextmanager
async def cancelled(task: asyncio.Task[None]) -> AsyncIterator[asyncio.Task[None]]:
    """Runs a task during the block, and cancels it afterwards."""
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
