"""Opening a file: is it there, is it ours, is its schema ours, may we write it.

A file of another program is never touched: its header is read before SQLite sees it.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import apsw

from omoide.adapters.stores.sql.outlines import days_named
from omoide.adapters.stores.sql.rows import moment
from omoide.adapters.stores.sqlite.cipher import checked_key, is_sealed, unlock
from omoide.adapters.stores.sqlite.connection import (
    NO_SPACE,
    READERS,
    SqliteDatabase,
    full,
    transaction,
    translated,
)
from omoide.errors import (
    StoreCorrupt,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    StoreSealed,
    StoreTooNew,
)
from omoide.language.terms import endings, telling, terms
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

APPLICATION_ID = 0x6F6D6F69  # "omoi"
MEMORY = ":memory:"

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_WRITE = apsw.SQLITE_OPEN_READWRITE
_READ = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_creating = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How a database is to be opened."""

    path: str
    create: bool
    patience: float
    """Seconds to wait for another process's lock."""
    max_pages: int | None
    key: str = field(default="", repr=False)
    """What the file is encrypted with; empty if it is not."""

    def open(self) -> SqliteDatabase:
        """Open it, bringing a new or older file up to date. Blocks."""
        if self.path == MEMORY:
            writer = self._connect(MEMORY, _WRITE)
            self._migrate(writer)
            return SqliteDatabase(where="the database in memory", writer=writer)
        _see_to_file(Path(self.path), create=self.create)
        _check_header(self.path, sealed=bool(self.key))
        try:
            return self._open_to_write()
        except StoreReadOnly:
            if self.create:
                raise
            return self._open_to_read()

    def _open_to_write(self) -> SqliteDatabase:
        opened: list[apsw.Connection] = []
        try:
            opened.append(self._connect(self.path, _WRITE))
            with translated(self.path, opened[0]):
                self._check_writable(opened[0])
                self._migrate(opened[0])
                self._use_log(opened[0])
                for _ in range(READERS):
                    opened.append(self._connect(self.path, _WRITE))
                    opened[-1].execute("PRAGMA query_only = ON")
            return SqliteDatabase(where=self.path, writer=opened[0], readers=opened[1:])
        except BaseException:
            _close(opened)
            raise

    def _check_writable(self, connection: apsw.Connection) -> None:
        if connection.readonly("main"):
            raise StoreReadOnly(
                f"{self.path} may not be written; change its permissions, "
                "or open it without creating to only read it"
            )

    def _open_to_read(self) -> SqliteDatabase:
        """Read a file that may not be written. Where SQLite cannot even place its lock file, the
        file is taken as it is, which is right only if no log holds newer pages."""
        name = f"file:{quote(str(Path(self.path).absolute()))}?mode=ro"
        log = Path(f"{self.path}-wal")
        for source in (name, f"{name}&immutable=1"):
            opened: list[apsw.Connection] = []
            try:
                for _ in range(1 + READERS):
                    opened.append(self._connect(source, _READ))
                    with translated(self.path, opened[-1]):
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
            f"{self.path} may not be written, and {log.name} beside it holds changes that only a "
            "process which may write can bring in; open it once with such rights"
        )

    def _connect(self, name: str, flags: int) -> apsw.Connection:
        with translated(self.path):
            connection = apsw.Connection(name, flags=flags)
            connection.convert_binding = _list_as_json
        try:
            with translated(self.path, connection):
                if self.key and name != MEMORY:
                    unlock(connection, checked_key(self.key), self.path)
                self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(round(self.patience * 1000))
        connection.execute("PRAGMA page_size = 16384")  # heeded by a new file only
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: make the drive itself write
        if self.max_pages is not None:
            connection.execute(f"PRAGMA max_page_count = {int(self.max_pages)}").fetchall()

    def _migrate(self, connection: apsw.Connection) -> None:
        """Apply the steps that are missing, all in one transaction, once among processes."""
        if self.key:
            _check_ours(self.path, connection)
        if _check_version(self.path, connection, exactly=False) == len(_steps()):
            return
        with transaction(connection, "IMMEDIATE"):
            version = _check_version(self.path, connection, exactly=False)
            # First of all, so that the file's very first page already says whose it is.
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _teach(connection)
            for number, sql in _steps()[version:]:
                connection.execute(sql)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('written_by', ?)", (__version__,)
            )

    def _use_log(self, connection: apsw.Connection) -> None:
        """Switch to write-ahead logging, which lasts. SQLite does not wait for others here."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


def _list_as_json(cursor: object, place: int, value: object) -> str:
    """A list that is bound to `json_each(?)`."""
    return json.dumps(value, ensure_ascii=False)


def _teach(connection: apsw.Connection) -> None:
    """Let SQL of a migration read texts as recording does."""
    readers: dict[str, Callable[..., Any]] = {
        "term_count": lambda text: len(terms(text)),
        "endings": lambda text: json.dumps(endings(text)),
        "telling": telling,
        "days_named": lambda text, time: days_named(text, moment(time).date()),
    }
    for name, reader in readers.items():
        connection.create_scalar_function(name, reader)


def _steps() -> list[tuple[int, str]]:
    folder = resources.files("omoide.adapters.stores.sqlite.migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text("utf-8")) for f in files]


def _check_version(path: str, connection: apsw.Connection, *, exactly: bool) -> int:
    [(version,)] = connection.execute("PRAGMA user_version")
    wanted = len(_steps())
    if version > wanted:
        writer = "a newer omoide"
        with suppress(apsw.Error):
            row = connection.execute("SELECT value FROM meta WHERE name = 'written_by'").fetchone()
            writer = f"omoide {row[0]}" if row else writer
        raise StoreTooNew(
            f"{path} was written by {writer} (schema {version}); this is omoide {__version__}, "
            f"which knows schemas up to {wanted}: upgrade omoide to open it"
        )
    if exactly and version < wanted:
        raise StoreReadOnly(
            f"{path} has schema {version} and must be brought to {wanted}, but may not be written"
        )
    return int(version)


def _see_to_file(path: Path, *, create: bool) -> None:
    """Make sure that there is a file, readable by its user alone if it is new.

    Under a lock, since closing a file drops this process's locks on it (POSIX), even those of
    another connection: nobody may connect before the new file has been closed.
    """
    with _creating:
        try:
            if path.is_dir():
                raise StoreCorrupt(f"{path} is a folder; name a file in it")
            if path.exists():
                if not os.access(path, os.R_OK):
                    raise PermissionError(errno.EACCES, "it may not be read")
                return
            if not create:
                raise StoreMissing(
                    f"there is no database at {path}; check the path, or let omoide create it"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass  # another process was quicker
        except OSError as error:
            if error.errno in NO_SPACE:
                raise full(str(path), str(error.strerror)) from error
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise StoreError(
                    f"{path} cannot be created ({error.strerror}); check it"
                ) from error
            raise StoreReadOnly(
                f"{path} cannot be created or reached ({error.strerror}); "
                "choose another folder or change its permissions"
            ) from error


def _check_header(path: str, *, sealed: bool) -> None:
    """Refuse a file that is not ours, without leaving a trace on it.

    Read through SQLite's own file layer, which knows not to drop the locks of this process.
    """
    with translated(path):
        file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        try:
            size = file.xFileSize()
            header = file.xRead(min(size, _HEADER), 0) if size else b""
        finally:
            file.xClose()
    if not header:
        return  # new
    if sealed and header.startswith(_MAGIC):
        raise StoreSealed(
            f"{path} is not encrypted, and a key was given: encrypt it with `omoide encrypt`, or "
            "leave the key out"
        )
    if sealed and is_sealed(header):
        return  # whether it is ours is seen when it is unlocked
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        raise StoreCorrupt(
            f"{path} is not a database (it begins with {header[:8]!r}); name another file, or if "
            "it is one of ours that was encrypted, give its key in OMOIDE_KEY or --key-file"
        )
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreCorrupt(
            f"{path} is an SQLite database of another program, left untouched; name another file"
        )


def _check_ours(path: str, connection: apsw.Connection) -> None:
    """Refuse an encrypted file of another program, whose key was given."""
    [(application,)] = connection.execute("PRAGMA application_id")
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_schema")
    if tables and application != APPLICATION_ID:
        raise StoreCorrupt(
            f"{path} is an SQLite database of another program, left untouched; name another file"
        )


def _close(connections: list[apsw.Connection]) -> None:
    for connection in connections:
        connection.close()
