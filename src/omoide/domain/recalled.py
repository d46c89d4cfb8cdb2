"""What comes to mind for a query."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain.turn import Speaker


class Kind(StrEnum):
    """What sort of memory an item is."""

    TURN = "turn"
    EVENT = "event"
    MEMO = "memo"
    SENTENCE = "sentence"
    """Of the summary."""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """One item that came to mind, best first in a list of them."""

    kind: Kind
    text: str
    score: float
    """Comparable within one recall only."""
    sources: tuple[str, ...]
    """The turns it rests on; for a turn, itself."""
    time: datetime
    tokens: int
    session: int | None = None
    speaker: Speaker | None = None
    """Who said it, for a turn."""
