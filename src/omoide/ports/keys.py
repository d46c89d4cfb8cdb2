"""Storage of the server's API keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class StoredKey:
    """A key as it is stored: a hash, never the secret."""

    id: str
    tenant: str
    name: str
    scopes: str
    """What it may do, separated by spaces."""
    salt: bytes
    hash: bytes
    created: int
    """Seconds since 1970, like `revoked`."""
    revoked: int | None = None


class KeyStore(Protocol):
    """Stores API keys, in the database or in a file beside it. All calls but `fresh` may block for
    seconds, if a database is out of reach or locked; a server makes them in threads."""

    def fresh(self) -> Sequence[StoredKey] | None:
        """What `read` would return, if that is known without asking the database; else None. Never
        blocks: it runs at every request."""

    def read(self) -> Sequence[StoredKey]:
        """All keys, oldest first, at most one second out of date. Empty if there is no database
        yet. Raises `StoreError`."""

    def add(self, row: StoredKey) -> None:
        """Store a new key, creating the file or table if needed. Raises `StoreError`."""

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - the field is called id
        """Mark a key as revoked at that time. Raises `StoreError`."""
