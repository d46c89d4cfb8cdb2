"""How far a run is: cases done, calls a second, time left; on stderr."""

from __future__ import annotations

import sys
import time

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Told of every case and every call."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, methods: int) -> None:
        """A run of so many methods begins."""
        self._methods = methods
        self._names: list[str] = []
        self._began = self._shown = self._method_began = time.monotonic()
        self._calls = 0

    def called(self) -> None:
        """A call was answered."""
        self._calls += 1

    def case(self, method: str, done: int, total: int) -> None:
        """A case of a method is done."""
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
        place = f"{len(self._names)}/{self._methods}"
        return (
            f"[{place}] {method}: {done:,} of {total:,}, {self._calls:,} calls, "
            f"{rate:.1f}/s, {clock(left)} left"
        )


def clock(seconds: float) -> str:
    """Minutes and seconds, or hours as well.

    >>> clock(75), clock(3700)
    ('1:15', '1:01:40')
    """
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, seconds_ = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds_:02}" if hours else f"{minutes}:{seconds_:02}"
