"""Progress reporting."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback that reports progress. Called from any thread; must return quickly."""

    def __call__(self, done: int, total: int, what: str, /) -> None:
        """`done` of `total` steps are finished; `what` names the current one."""
