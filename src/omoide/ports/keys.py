"""Where the server's API keys are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class KeyRow:
    """A key as it is stored: never its secret."""

    id: str
    tenant: str
    name: str
    scopes: str
    """What it may do, parted by blanks."""
    salt: bytes
    hash: bytes
    created: int
    """In seconds since 1970, as is the next."""
    revoked: int | None = None


class KeyRows(Protocol):
    """Keys beside or in a database. Blocks shortly: it is asked at every request."""

    def read(self) -> Sequence[KeyRow]:
        """All of them, oldest first, as they were at most a second ago. Empty where there is no
        such database yet. Raises `StoreError`."""

    def add(self, row: KeyRow) -> None:
        """Keep a new one; makes the place for it if there is none. Raises `StoreError`."""

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - a key's word for it
        """Note when a key was revoked. Raises `StoreError`."""
