"""Who is told how far something has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called as the work goes on, from any thread, and must return soon."""

    def __call__(self, done: int, total: int, what: str, /) -> None:
        """So much of so much is done, and this is being done now."""
