"""Progress lines on stderr, so that stdout stays clean."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

from omoide.cli.show import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

_CLEAR = "\r\x1b[K"
_SOON = 2.0
"""Seconds after which the time left is estimated."""


def bar(done: int, total: int, what: str) -> None:
    """Show how much of `what` is done; on a terminal the line is overwritten."""
    _show(progress_line(done, total, what), finished=bool(total) and done >= total)


def progress_line(done: int, total: int, what: str) -> str:
    """How much of it is done, in one line."""
    share = f"{100 * done // total:3d} %" if total else f"{done:,}"
    return f"{one_line(what, max_chars=60)} {share}"


class DownloadProgress:
    """The progress of downloads, in bytes, with the time left."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._what = ""
        self._first = 0
        self._began = 0.0

    def __call__(self, done: int, total: int, what: str) -> None:
        """Show it; on a terminal the line is overwritten."""
        _show(self.line(done, total, what), finished=done >= total)

    def line(self, done: int, total: int, what: str) -> str:
        """Size, share and time left, in one line. Bytes of an earlier attempt do not count for the
        speed."""
        if what != self._what or done < self._first:
            self._what, self._first, self._began = what, done, self._clock()
        size = f"{done / 1e9:.2f} of {total / 1e9:.2f} GB" if total else f"{done / 1e9:.2f} GB"
        share = f", {100 * done // total} %" if total else ""
        return f"{one_line(what, max_chars=40)}: {size}{share}{self._left(done, total)}"

    def _left(self, done: int, total: int) -> str:
        took, came = self._clock() - self._began, done - self._first
        if done >= total:
            return ""
        if done == total - 1:  # all bytes are here, see `Cache`
            return ", being checked"
        if took < _SOON or came <= 0:
            return ""
        seconds = (total - done) * took / came
        return f", {duration(seconds)} left"


def duration(seconds: float) -> str:
    """About how long, in words: "40 s", "3 min", "2 h"."""
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min"
    return f"about {round(seconds / 3600)} h"


downloads = DownloadProgress()
"""The progress of this process's downloads."""


def _show(line: str, *, finished: bool) -> None:
    stream = sys.stderr
    if stream.isatty():
        stream.write(f"{_CLEAR}{line} " + ("\n" if finished else ""))
        stream.flush()
    elif finished:
        stream.write(f"{line}\n")
