"""API keys: each belongs to one tenant and has scopes.

They are stored in a small SQLite file beside the database, or in the database itself if that is a
database server. `omoide keys revoke` takes effect at once for all running servers (within a second
if the keys are in a database server; `current_keys` has what counts while that is out of reach). A
key is `omo_<id>_<secret>`. The id is public; the secret, 256 random bits, is shown once and stored
only as a BLAKE2b hash with its own salt. A slower hash is unnecessary, because the secret cannot be
guessed and every request pays for the hash.
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

from omoide.domain.text import checked_name, normal_name
from omoide.errors import BadInput, StoreError
from omoide.ports.keys import StoredKey
from omoide.server.current_keys import CurrentKeys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omoide.ports.keys import KeyStore

KEY_PREFIX = "omo_"
_FORM = re.compile(r"omo_([0-9a-f]{10})_([A-Za-z0-9_-]{43})")
_TABLE = """
CREATE TABLE IF NOT EXISTS keys (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
  salt BLOB NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL, revoked INTEGER
) STRICT
"""
_COLUMNS = "id, tenant, name, scopes, salt, hash, created, revoked"


class Scope(StrEnum):
    """What a key may do. No scope includes another."""

    READ = "read"
    """Read what is stored: recall, facts, summaries, turns, export."""
    WRITE = "write"
    """Record, end sessions, correct and roll back. A chat needs `read` as well."""
    ADMIN = "admin"
    """Erase, and read the metrics of the whole server."""


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key without its secret."""

    id: str
    tenant: str
    name: str
    scopes: frozenset[Scope]
    created: datetime
    revoked: datetime | None = None

    @property
    def prefix(self) -> str:
        """The public part of the key."""
        return f"omo_{self.id}"


@dataclass(frozen=True, kw_only=True)
class CreatedKey:
    """A new key with its secret, which is never shown again."""

    key: ApiKey
    secret: str


class ApiKeys:
    """The API keys of one database, in a file or another key store."""

    def __init__(self, rows: Path | KeyStore) -> None:
        self._rows = KeyFile(rows) if isinstance(rows, Path) else rows
        self._current = CurrentKeys(self._rows)

    @classmethod
    def for_file(cls, database: Path) -> ApiKeys:
        """The keys of a SQLite database file."""
        return cls(database.with_name(f"{database.name}.keys"))

    def any(self) -> bool:
        """Whether a key was ever created. Revoking the last one does not make access free again."""
        return bool(self._rows.read())

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, revoked ones too, oldest first."""
        return tuple(_key(row) for row in self._rows.read())

    def create(
        self, *, tenant: str, name: str, scopes: Iterable[Scope], at: datetime
    ) -> CreatedKey:
        """Create a key."""
        tenant = normal_name(tenant, "the tenant")
        checked_name(name, "the key's name")
        if not (granted := frozenset(scopes)):
            raise BadInput("a key needs at least one scope: give read, write or admin")
        key = ApiKey(id=secrets.token_hex(5), tenant=tenant, name=name, scopes=granted, created=at)
        secret, salt = secrets.token_urlsafe(32), secrets.token_bytes(16)
        row = StoredKey(
            id=key.id,
            tenant=tenant,
            name=name,
            scopes=" ".join(sorted(granted)),
            salt=salt,
            hash=_hash(secret, salt),
            created=int(at.timestamp()),
        )
        self._rows.add(row)
        return CreatedKey(key=key, secret=f"{key.prefix}_{secret}")

    def revoke(self, prefix: str, *, at: datetime) -> ApiKey:
        """Revoke a key, from the next request on."""
        id_ = prefix.removeprefix("omo_").split("_")[0]
        row = _with_id(self._rows.read(), id_)
        if row is None:
            raise BadInput(f"there is no key {prefix[:14]!r}: see omoide keys list")
        if row.revoked is None:
            row = replace(row, revoked=int(at.timestamp()))
            self._rows.revoke(id_, int(at.timestamp()))
        return _key(row)

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret, if there is one and it was not revoked."""
        return matching(self._rows.read(), secret)

    async def current(self) -> Sequence[StoredKey]:
        """All keys as they are stored, without blocking the event loop. For `matching`."""
        return await self._current.read()


def _with_id(rows: Iterable[StoredKey], id_: str) -> StoredKey | None:
    return next((row for row in rows if row.id == id_), None)


def matching(rows: Iterable[StoredKey], secret: str) -> ApiKey | None:
    """The key with this secret, if there is one and it was not revoked."""
    match = _FORM.fullmatch(secret)
    row = _with_id(rows, match.group(1)) if match else None
    if match is None or row is None:
        return None
    valid = hmac.compare_digest(_hash(match.group(2), row.salt), row.hash)
    return _key(row) if valid and row.revoked is None else None


class KeyFile:
    """`KeyStore` in a small SQLite file. Each call reopens it, since other processes change it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int, bytes] | None = None
        self._cached: tuple[StoredKey, ...] = ()

    def fresh(self) -> tuple[StoredKey, ...] | None:
        """See `KeyStore.fresh`. None if the file has changed since it was read."""
        return self._cached if self._found() == self._stamp else None

    def read(self) -> tuple[StoredKey, ...]:
        """See `KeyStore.read`. Cached until the file changes."""
        stamp = self._found()
        if stamp != self._stamp:
            self._cached = self._read() if stamp else ()
            self._stamp = stamp
        return self._cached

    def _found(self) -> tuple[int, int, int, bytes] | None:
        """What changes with the file; None if there is none."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino, self._change_counter()

    def _change_counter(self) -> bytes:
        """What SQLite counts up in the file with each change: two may fall into one tick of the
        file system's clock. Empty if it cannot be read."""
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(24)
                return file.read(4)
        except OSError:  # whoever reads the keys is told why
            return b""

    def _read(self) -> tuple[StoredKey, ...]:
        with self._open(create=False) as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM keys ORDER BY created, rowid"  # noqa: S608
            ).fetchall()
        names = _COLUMNS.split(", ")
        return tuple(StoredKey(**dict(zip(names, row, strict=True))) for row in rows)

    def add(self, row: StoredKey) -> None:
        """See `KeyStore.add`."""
        with self._open(create=True) as connection:
            connection.execute(
                f"INSERT INTO keys ({_COLUMNS}) VALUES "  # noqa: S608
                "(:id, :tenant, :name, :scopes, :salt, :hash, :created, :revoked)",
                asdict(row),
            )

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - as in `KeyStore`
        """See `KeyStore.revoke`."""
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
            raise StoreError(
                f"the API keys in {self._path} cannot be read or written: {error}"
            ) from error


def _hash(secret: str, salt: bytes) -> bytes:
    return hashlib.blake2b(secret.encode(), key=salt, person=b"omoide-api-key").digest()


def _key(row: StoredKey) -> ApiKey:
    return ApiKey(
        id=row.id,
        tenant=row.tenant,
        name=row.name,
        scopes=frozenset(Scope(scope) for scope in row.scopes.split()),
        created=datetime.fromtimestamp(row.created, UTC),
        revoked=datetime.fromtimestamp(row.revoked, UTC) if row.revoked is not None else None,
    )
