"""Results of moving owners from one database to another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MigratedOwner:
    """An owner who is now in the target database, with every row verified."""

    rows: int
    known: bool
    """Whether the target already had the same data."""


@dataclass(frozen=True, kw_only=True)
class MigrationResult:
    """Result of moving several owners."""

    owners: int
    known: int
    """Owners who were already there, identical in every row."""
    rows: int
    """Rows verified, of all owners."""
    refused: tuple[str, ...]
    """Why owners or keys were skipped: the target has different data for them."""
    keys: int = 0
    """API keys that are now in the target."""
