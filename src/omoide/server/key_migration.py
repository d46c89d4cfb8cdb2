"""Copies API keys from one database to another and verifies each row.

Salts and hashes are copied as stored, so each secret keeps opening the same tenant. A key that is
revoked on either side ends up revoked: a migration never reactivates one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.errors import StoreCorrupt
from omoide.server.keys import KeyFile

if TYPE_CHECKING:
    from omoide.ports.keys import KeyStore, StoredKey


@dataclass(frozen=True, kw_only=True)
class MigratedKeys:
    """Result of a migration. Every counted key was read back and compared."""

    keys: int
    known: int
    """How many of them the target had already."""
    refused: tuple[str, ...]
    """Why some were skipped: the target has a different key with that id."""


def migrate_keys(
    source: Path | KeyStore, target: Path | KeyStore, *, tenant: str | None = None
) -> MigratedKeys:
    """Copy every key, or those of one tenant. Safe to interrupt and run again. Raises
    `StoreCorrupt` if a key reads back differently than it was written."""
    source_keys, target_keys = (
        KeyFile(rows) if isinstance(rows, Path) else rows for rows in (source, target)
    )
    to_copy = [row for row in source_keys.read() if tenant in (None, row.tenant)]
    before = {row.id: row for row in target_keys.read()} if to_copy else {}
    refused: list[str] = []
    expected: list[StoredKey] = []
    for row in to_copy:
        existing = before.get(row.id)
        if existing is None:
            target_keys.add(row)
        elif replace(existing, revoked=None) != replace(row, revoked=None):
            refused.append(
                f"the target has a different key omo_{row.id}; "
                "revoke this one and create a new one there"
            )
            continue
        elif existing.revoked is None and row.revoked is not None:
            target_keys.revoke(row.id, row.revoked)
        elif existing.revoked is not None:
            row = replace(row, revoked=existing.revoked)
        expected.append(row)
    after = {row.id: row for row in target_keys.read()} if to_copy else {}
    for row in expected:
        if after.get(row.id) != row:
            raise StoreCorrupt(
                f"the key omo_{row.id} reads back from the target differently than it was written: "
                "revoke it there and create a new one"
            )
    return MigratedKeys(
        keys=len(expected),
        known=sum(row.id in before for row in expected),
        refused=tuple(refused),
    )
