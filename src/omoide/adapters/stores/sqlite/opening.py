"""Opening a file: checking that it is ours, migrating its schema, falling back to read-only.

A file of another program is never modified: its header is read before SQLite opens it.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import apsw

from omoide.adapters.stores.sql.reindexing import redate, reindex
from omoide.adapters.stores.sql.rows import from_micros
from omoide.adapters.stores.sql.turn_tables import spans_text
from omoide.adapters.stores.sqlite.cipher import checked_key, is_encrypted, unlock
from omoide.adapters.stores.sqlite.connection import (
    NO_SPACE,
    READERS,
    SqliteDatabase,
    disk_full,
    translate_errors,
)
from omoide.adapters.stores.sqlite.transactions import transaction
from omoide.errors import (
    StoreCorrupt,
    StoreEncrypted,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
)
from omoide.language.terms import informativeness, last_characters, terms
from omoide.mechanisms.search.features import spans_of
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

APPLICATION_ID = 0x6F6D6F69  # "omoi"
MEMORY = ":memory:"

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_WRITE = apsw.SQLITE_OPEN_READWRITE
_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_SPLIT_OTHERWISE = 9
"""The first schema whose texts are split into terms as they are now."""
_DATED_OTHERWISE = 10
"""The first schema whose turns name the days that they name now."""
_creating = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class SqliteOpening:
    """Options for opening a database."""

    path: str
    create: bool
    max_wait: float
    """Seconds to wait for another process's lock."""
    max_pages: int | None
    key: str = field(default="", repr=False)
    """The encryption key; empty if the file is not encrypted."""

    def open(self) -> SqliteDatabase:
        """Open it, and migrate a new or older file. Blocks."""
        if self.path == MEMORY:
            return self._open_in_memory()
        if self.key and self.create and not Path(self.path).exists():
            self._create_encrypted(Path(self.path))
        _ensure_file(Path(self.path), create=self.create)
        _check_header(self.path, encrypted=bool(self.key))
        try:
            return self._open_to_write()
        except StoreReadOnly:
            if self.create:
                raise
            return self._open_to_read()

    def _create_encrypted(self, path: Path) -> None:
        """Make a new encrypted file under another name, and give it its own when it is complete.
        Each process encrypts the first page of a new file in a way of its own, so of several that
        did so in one file all but one could not read it."""
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        _ensure_file(fresh, create=True)
        try:
            connection = self._connect(str(fresh), _WRITE)
            try:
                with translate_errors(self.path, connection):
                    self._migrate(connection)
            finally:
                connection.close()
            with suppress(OSError):  # another was first, or there are no hard links here
                os.link(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)

    def _open_in_memory(self) -> SqliteDatabase:
        """Open a new database, with its tables copied from an empty one, as tests open many."""
        writer = self._connect(MEMORY, _WRITE)
        with (
            _creating,
            translate_errors(self.path, writer),
            writer.backup("main", self._empty(), "main") as copying,
        ):
            copying.step(-1)
        return SqliteDatabase(where="the database in memory", writer=writer)

    @classmethod
    @cache
    def _empty(cls) -> apsw.Connection:
        opening = cls(path=MEMORY, create=True, max_wait=0.0, max_pages=None)
        connection = opening._connect(MEMORY, _WRITE)
        opening._migrate(connection)
        return connection

    def _open_to_write(self) -> SqliteDatabase:
        opened: list[apsw.Connection] = []
        try:
            opened.append(self._connect(self.path, _WRITE))
            with translate_errors(self.path, opened[0]):
                self._check_writable(opened[0])
                self._migrate(opened[0])
                self._use_log(opened[0])
                # Else what a statement changes is first copied to a temporary file, words and all.
                opened[0].execute("PRAGMA temp_store = MEMORY")
                for _ in range(READERS):
                    opened.append(self._connect(self.path, _WRITE))
                    opened[-1].execute("PRAGMA query_only = ON")
            return SqliteDatabase(
                where=self.path,
                writer=opened[0],
                readers=opened[1:],
                encrypted=bool(self.key),
                patience=self.max_wait,
                connect=lambda: self._connect(self.path, _WRITE),
            )
        except BaseException:
            _close(opened)
            raise

    def _check_writable(self, connection: apsw.Connection) -> None:
        if connection.readonly("main"):
            raise StoreReadOnly(
                f"{self.path} is not writable; change its permissions, "
                "or open it with create=False to read it only"
            )

    def _open_to_read(self) -> SqliteDatabase:
        """Open a file read-only. If SQLite cannot create its lock file, open it as immutable, which
        is correct only if the write-ahead log has no newer pages."""
        name = f"file:{quote(str(Path(self.path).absolute()))}?mode=ro"
        log = Path(f"{self.path}-wal")
        for source in (name, f"{name}&immutable=1"):
            opened: list[apsw.Connection] = []
            try:
                for _ in range(1 + READERS):
                    opened.append(self._connect(source, _READ))
                    with translate_errors(self.path, opened[-1]):
                        _check_version(self.path, opened[-1], exactly=True)
                return SqliteDatabase(
                    where=self.path, writer=opened[0], readers=opened[1:], read_only=True
                )
            except BaseException as error:
                _close(opened)
                if not isinstance(error.__cause__, (apsw.CantOpenError, apsw.ReadOnlyError)):
                    raise
                if log.exists() and log.stat().st_size:
                    break
        raise StoreReadOnly(
            f"{self.path} is not writable, and {log.name} beside it has changes that only a "
            "process with write access can apply; open it once with write access"
        )

    def _connect(self, name: str, flags: int) -> apsw.Connection:
        with translate_errors(self.path):
            connection = apsw.Connection(name, flags=flags)
            connection.convert_binding = _list_as_json
        try:
            with translate_errors(self.path, connection):
                # First, as to unlock a file reads it, and another process may just be opening it.
                connection.set_busy_timeout(round(self.max_wait * 1000))
                if self.key and name != MEMORY:
                    unlock(connection, checked_key(self.key), self.path)
                self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        # Else SQLite compiles a statement again for each bound value that may decide its plan.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.execute("PRAGMA page_size = 16384")  # only affects a new file
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: make the drive itself write
        if self.max_pages is not None:
            connection.execute(f"PRAGMA max_page_count = {int(self.max_pages)}").fetchall()

    def _migrate(self, connection: apsw.Connection) -> None:
        """Apply missing migrations in one transaction; only one process does so at a time."""
        if self.key:
            _check_ours(self.path, connection)
        if _check_version(self.path, connection, exactly=False) == len(_steps()):
            return
        with transaction(connection, "IMMEDIATE"):
            version = _check_version(self.path, connection, exactly=False)
            # First, so that the file's first page already identifies it as ours.
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _register_functions(connection)
            for number, sql in _steps()[version:]:
                connection.execute(sql)
                connection.execute(f"PRAGMA user_version = {number}")
            if version < _SPLIT_OTHERWISE:
                reindex(connection)
            if version < _DATED_OTHERWISE:
                redate(connection)
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('written_by', ?)", (__version__,)
            )

    def _use_log(self, connection: apsw.Connection) -> None:
        """Switch to write-ahead logging, permanently. SQLite does not use its busy timeout here."""
        deadline = time.monotonic() + self.max_wait
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


_encode = json.JSONEncoder(ensure_ascii=False).encode
"""One encoder for all lists: `json.dumps` would make one for each."""


def _list_as_json(cursor: object, number: int, value: object) -> str:
    """Encode a list that is bound to `json_each(?)`."""
    return _encode(value)


def _register_functions(connection: apsw.Connection) -> None:
    """Define SQL functions for migrations that process texts as recording does."""
    functions: dict[str, Callable[..., Any]] = {
        "term_count": lambda text: len(terms(text)),
        "endings": lambda text: json.dumps(last_characters(text)),
        "telling": informativeness,
        "days_named": lambda text, time: spans_text(spans_of(text, from_micros(time).date())),
    }
    for name, function in functions.items():
        connection.create_scalar_function(name, function)


@cache
def _steps() -> tuple[tuple[int, str], ...]:
    """The migrations in order. Cached: they are part of the package."""
    folder = resources.files("omoide.adapters.stores.sqlite.migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple((int(f.name[:4]), f.read_text("utf-8")) for f in files)


def _check_version(path: str, connection: apsw.Connection, *, exactly: bool) -> int:
    [(version,)] = connection.execute("PRAGMA user_version")
    supported = len(_steps())
    if version > supported:
        writer = "a newer omoide"
        with suppress(apsw.Error):
            row = connection.execute("SELECT value FROM meta WHERE name = 'written_by'").fetchone()
            writer = f"omoide {row[0]}" if row else writer
        raise StoreTooNew(
            f"{path} was written by {writer} (schema {version}); this is omoide {__version__}, "
            f"which supports schemas up to {supported}: upgrade omoide to open it"
        )
    if exactly and version < supported:
        raise StoreReadOnly(
            f"{path} has schema {version} and must be migrated to {supported}, but is not "
            "writable; change its permissions"
        )
    return int(version)


def _ensure_file(path: Path, *, create: bool) -> None:
    """Make sure that the file exists. A new file is readable by its user only.

    Under a lock, because closing a file drops all of this process's locks on it (POSIX), even those
    of other connections: no connection may open the new file before it is closed.
    """
    with _creating:
        try:
            if path.is_dir():
                raise StoreCorrupt(f"{path} is a folder; name a file in it")
            if path.exists():
                if not os.access(path, os.R_OK):
                    raise PermissionError(errno.EACCES, "it is not readable")
                return
            if not create:
                raise StoreMissing(
                    f"there is no database at {path}: check --db, or begin one with `omoide chat`"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass  # another process created it first
        except OSError as error:
            if error.errno in NO_SPACE:
                raise disk_full(str(path), str(error.strerror)) from error
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise StoreError(
                    f"{path} cannot be created ({error.strerror}); check the path"
                ) from error
            raise StoreReadOnly(
                f"{path} cannot be created or opened ({error.strerror}); "
                "choose another folder or change its permissions"
            ) from error


def _check_header(path: str, *, encrypted: bool) -> None:
    """Reject a file that is not ours, without modifying it.

    Read through SQLite's VFS, which does not drop the locks of this process.
    """
    with translate_errors(path):
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            size = file.xFileSize()
            header = file.xRead(min(size, _HEADER), 0) if size else b""
        finally:
            file.xClose()
    if not header:
        return  # new
    if encrypted and header.startswith(_MAGIC):
        raise StoreEncrypted(
            f"{path} is not encrypted, but a key was given: encrypt it with `omoide encrypt`, or "
            "leave the key out"
        )
    if encrypted and is_encrypted(header):
        return  # checked after it is unlocked
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        raise StoreCorrupt(
            f"{path} is not a database (it begins with {header[:8]!r}); choose another file; if "
            "it is an encrypted omoide database, pass its key in OMOIDE_KEY or --key-file"
        )
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreCorrupt(
            f"{path} is an SQLite database of another program and was not changed; choose "
            "another file"
        )


def _check_ours(path: str, connection: apsw.Connection) -> None:
    """Reject an encrypted file of another program."""
    [(application,)] = connection.execute("PRAGMA application_id")
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_schema")
    if tables and application != APPLICATION_ID:
        raise StoreCorrupt(
            f"{path} is an SQLite database of another program and was not changed; choose "
            "another file"
        )


def _close(connections: list[apsw.Connection]) -> None:
    for connection in connections:
        connection.close()
