"""API keys: who may call, for which tenant, and to do what.

They lie in a small SQLite file beside the database, or in the database where that is a server's,
so that `omoide keys revoke` counts at once (there: within a second) for all servers that run. A
key is `omo_<id>_<secret>`; the id is shown, the secret only once. Of the secret, 256 random bits,
only a keyed BLAKE2b hash under a salt of its own is kept: nothing that can be guessed needs a
slower one, and each request has to pay for it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sqlite3
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.domain.text import checked_name
from omoide.errors import BadInput, StoreError
from omoide.ports.keys import KeyRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omoide.ports.keys import KeyRows

_FORM = re.compile(r"omo_([0-9a-f]{10})_([A-Za-z0-9_-]{43})")
_TABLE = """
CREATE TABLE IF NOT EXISTS keys (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
  salt BLOB NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL, revoked INTEGER
) STRICT
"""
_COLUMNS = "id, tenant, name, scopes, salt, hash, created, revoked"


class Scope(StrEnum):
    """What a key may do. None of them holds another."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    """Erase, and see the figures of the whole server."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key as it may be shown."""

    id: str
    tenant: str
    name: str
    scopes: frozenset[Scope]
    created: datetime
    revoked: datetime | None = None

    @property
    def prefix(self) -> str:
        """The part of it that is no secret."""
        return f"omo_{self.id}"


@dataclass(frozen=True, kw_only=True)
class Made:
    """A key just made, with the secret that is never seen again."""

    key: Key
    secret: str


class Keys:
    """The keys of one database, in a file or wherever else they are kept."""

    def __init__(self, rows: Path | KeyRows) -> None:
        self._rows = KeyFile(rows) if isinstance(rows, Path) else rows

    @classmethod
    def beside(cls, database: Path) -> Keys:
        """Those that guard this file."""
        return cls(database.with_name(f"{database.name}.keys"))

    def any(self) -> bool:
        """Whether a key was ever made. Revoking the last one does not open the door again."""
        return bool(self._rows.read())

    def list(self) -> tuple[Key, ...]:
        """All keys, revoked ones too, oldest first."""
        return tuple(_key(row) for row in self._rows.read())

    def create(self, *, tenant: str, name: str, scopes: Iterable[Scope], at: datetime) -> Made:
        """Make a key."""
        checked_name(tenant, "the tenant")
        checked_name(name, "the key's name")
        if not (wanted := frozenset(scopes)):
            raise BadInput("a key without a scope can do nothing: give read, write or admin")
        key = Key(id=secrets.token_hex(5), tenant=tenant, name=name, scopes=wanted, created=at)
        secret, salt = secrets.token_urlsafe(32), secrets.token_bytes(16)
        row = KeyRow(
            id=key.id,
            tenant=tenant,
            name=name,
            scopes=" ".join(sorted(wanted)),
            salt=salt,
            hash=_hash(secret, salt),
            created=int(at.timestamp()),
        )
        self._rows.add(row)
        return Made(key=key, secret=f"{key.prefix}_{secret}")

    def revoke(self, prefix: str, *, at: datetime) -> Key:
        """Make a key useless, from the next request on."""
        id_ = prefix.removeprefix("omo_").split("_")[0]
        found = self._row(id_)
        if found is None:
            raise BadInput(f"there is no key {prefix[:14]!r}: see omoide keys list")
        if found.revoked is None:
            found = replace(found, revoked=int(at.timestamp()))
            self._rows.revoke(id_, int(at.timestamp()))
        return _key(found)

    def find(self, secret: str) -> Key | None:
        """The key with this secret, if there is one and it was not revoked."""
        form = _FORM.fullmatch(secret)
        row = self._row(form.group(1)) if form else None
        if form is None or row is None:
            return None
        right = hmac.compare_digest(_hash(form.group(2), row.salt), row.hash)
        return _key(row) if right and row.revoked is None else None

    def _row(self, id_: str) -> KeyRow | None:
        return next((row for row in self._rows.read() if row.id == id_), None)


class KeyFile:
    """`KeyRows` in a small SQLite file. Each call opens it anew: it may change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[KeyRow, ...] = ()

    def read(self) -> tuple[KeyRow, ...]:
        """See `KeyRows.read`. Read again when the file has changed."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            self._seen, self._known = None, ()
            return self._known
        seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if seen != self._seen:
            with self._open(create=False) as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM keys ORDER BY created, rowid"  # noqa: S608
                ).fetchall()
            names = _COLUMNS.split(", ")
            self._known = tuple(KeyRow(**dict(zip(names, row, strict=True))) for row in rows)
            self._seen = seen
        return self._known

    def add(self, row: KeyRow) -> None:
        """See `KeyRows.add`."""
        with self._open(create=True) as connection:
            connection.execute(
                f"INSERT INTO keys ({_COLUMNS}) VALUES "  # noqa: S608
                "(:id, :tenant, :name, :scopes, :salt, :hash, :created, :revoked)",
                asdict(row),
            )

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - as in `KeyRows`
        """See `KeyRows.revoke`."""
        with self._open(create=False) as connection:
            connection.execute("UPDATE keys SET revoked = ? WHERE id = ?", (at, id))

    @contextmanager
    def _open(self, *, create: bool) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(self._path, timeout=5.0)
            try:
                with connection:
                    if create:
                        connection.execute(_TABLE)
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the keys in {self._path} cannot be used: {error}") from error


def _hash(secret: str, salt: bytes) -> bytes:
    return hashlib.blake2b(secret.encode(), key=salt, person=b"omoide-api-key").digest()


def _key(row: KeyRow) -> Key:
    return Key(
        id=row.id,
        tenant=row.tenant,
        name=row.name,
        scopes=frozenset(Scope(scope) for scope in row.scopes.split()),
        created=datetime.fromtimestamp(row.created, UTC),
        revoked=datetime.fromtimestamp(row.revoked, UTC) if row.revoked is not None else None,
    )
