"""Progress of a run on stderr: cases done, calls per second, time left."""

from __future__ import annotations

import sys
import time

EVERY = 10.0
"""Seconds between two lines if stderr is not a terminal."""


class RunProgress:
    """Counts cases and calls, and prints how far the run is."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, methods: int) -> None:
        """Start a run with this number of methods."""
        self._methods = methods
        self._names: list[str] = []
        self._began = self._shown = self._method_began = time.monotonic()
        self._calls = 0

    def called(self) -> None:
        """Count one answered call."""
        self._calls += 1

    def case(self, method: str, done: int, total: int) -> None:
        """Report that `done` of `total` cases of a method are done."""
        now = time.monotonic()
        if method not in self._names:
            self._names.append(method)
            self._method_began = now
        finished = done == total
        tty = sys.stderr.isatty()
        if not finished and now - self._shown < (0.2 if tty else EVERY):
            return
        self._shown = now
        line = self._line(method, done, total, now)
        sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if finished else "") if tty else f"{line}\n")
        sys.stderr.flush()

    def _line(self, method: str, done: int, total: int, now: float) -> str:
        rate = self._calls / max(now - self._began, 1e-9)
        spent = now - self._method_began
        left = spent / max(done - 1, 1) * (total - done)
        position = f"{len(self._names)}/{self._methods}"
        return (
            f"[{position}] {method}: {done:,} of {total:,}, {self._calls:,} calls, "
            f"{rate:.1f}/s, {clock(left)} left"
        )


def clock(seconds: float) -> str:
    """Seconds as `m:ss`, or `h:mm:ss` from one hour on.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds_ = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds_:02}" if hours else f"{minutes}:{seconds_:02}"
