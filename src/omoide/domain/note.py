"""Notes: short texts that a mechanism keeps about a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Note:
    """One text under a kind and a key, such as a day's summary under its date."""

    kind: str
    key: str
    text: str
    time: datetime
    session: int | None = None
    """The session it was last rewritten from."""
