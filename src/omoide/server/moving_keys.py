"""API keys from one database's place to another's, checked row by row.

What is carried is what is stored, salts and hashes; so each secret opens the same tenant there as
here. A key that was revoked at either stays, or becomes, revoked: moving never brings one back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.errors import StoreCorrupt
from omoide.server.keys import KeyFile

if TYPE_CHECKING:
    from omoide.ports.keys import KeyRow, KeyRows


@dataclass(frozen=True, kw_only=True)
class MovedKeys:
    """Keys that are now at the target, each read back and compared."""

    keys: int
    known: int
    """Those that were there before."""
    refused: tuple[str, ...]
    """Why some were left alone: the target has another key of that id."""


def move_keys(
    source: Path | KeyRows, target: Path | KeyRows, *, tenant: str | None = None
) -> MovedKeys:
    """Bring every key over, or those of one tenant. It may be broken off and run again. Raises
    `StoreCorrupt` if what was written is not what was read."""
    here, there = (KeyFile(rows) if isinstance(rows, Path) else rows for rows in (source, target))
    wanted = [row for row in here.read() if tenant in (None, row.tenant)]
    before = {row.id: row for row in there.read()} if wanted else {}
    refused: list[str] = []
    expected: list[KeyRow] = []
    for row in wanted:
        known = before.get(row.id)
        if known is None:
            there.add(row)
        elif replace(known, revoked=None) != replace(row, revoked=None):
            refused.append(
                f"the target has another key omo_{row.id}; revoke this one and make a new one there"
            )
            continue
        elif known.revoked is None and row.revoked is not None:
            there.revoke(row.id, row.revoked)
        elif known.revoked is not None:
            row = replace(row, revoked=known.revoked)
        expected.append(row)
    after = {row.id: row for row in there.read()} if wanted else {}
    for row in expected:
        if after.get(row.id) != row:
            raise StoreCorrupt(
                f"the key omo_{row.id} is at the target not what was read: revoke it there and "
                "make a new one"
            )
    return MovedKeys(
        keys=len(expected),
        known=sum(row.id in before for row in expected),
        refused=tuple(refused),
    )
