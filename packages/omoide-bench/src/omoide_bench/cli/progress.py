"""Progress of a run on stderr: cases done, calls per second, time left."""

from __future__ import annotations

import sys
import time

EVERY = 10.0
"""Seconds between two lines if stderr is not a terminal."""


class RunProgress:
    """Counts cases and calls, and prints how far the run is."""

    def __init__(self, *, every: float = EVERY) -> None:
        self._every = every
        self.start(0)

    def start(self, methods: int) -> None:
        """Start a run with this number of methods."""
        self._methods = methods
        self._names: list[str] = []
        self._began = self._shown = self._method_began = time.monotonic()
        self._calls = 0

    def called(self) -> None:
        """Count one answered call. Calls are told too: a judge is tested before the first case,
        and one case may take many calls of a slow model."""
        self._calls += 1
        now = time.monotonic()
        if self._methods:
            self._tell(f"{self._position()}{self._pace(now)}", now)

    def case(self, method: str, done: int, total: int) -> None:
        """Report that `done` of `total` cases of a method are done."""
        now = time.monotonic()
        if method not in self._names:
            self._names.append(method)
            self._method_began = now
        left = (now - self._method_began) / max(done - 1, 1) * (total - done)
        line = (
            f"{self._position()}{method}: {done:,} of {total:,}, {self._pace(now)}, "
            f"{clock(left)} left"
        )
        self._tell(line, now, always=done == total)

    def _tell(self, line: str, now: float, *, always: bool = False) -> None:
        """Print a line, unless the last one is fresh. At a terminal it replaces the last one."""
        tty = sys.stderr.isatty()
        if not always and now - self._shown < (0.2 if tty else self._every):
            return
        self._shown = now
        sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if always else "") if tty else f"{line}\n")
        sys.stderr.flush()

    def _position(self) -> str:
        return f"[{len(self._names)}/{self._methods}] "

    def _pace(self, now: float) -> str:
        rate = self._calls / max(now - self._began, 1e-9)
        return f"{self._calls:,} calls, {rate:.{1 if rate >= 1 else 2}f}/s"


def clock(seconds: float) -> str:
    """Seconds as `m:ss`, or `h:mm:ss` from one hour on.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds_ = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds_:02}" if hours else f"{minutes}:{seconds_:02}"
