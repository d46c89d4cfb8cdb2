"""What came of moving an owner from one database into another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Moved:
    """An owner who is now at the target, every row checked."""

    rows: int
    known: bool
    """Whether the same was there before."""


@dataclass(frozen=True, kw_only=True)
class Migrated:
    """What came of moving many."""

    owners: int
    known: int
    """Owners who were there before, the same in every row."""
    rows: int
    """Rows checked, of all owners."""
    refused: tuple[str, ...]
    """Why owners or keys were left alone: the target has something else of theirs."""
    keys: int = 0
    """API keys that are there now."""
