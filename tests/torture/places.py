"""Where the data is: a file, or a database on a server (`places_postgres.py`)."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import apsw

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.cipher import MAGIC, unlock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.ports import Store
    from omoide.settings import Address

PAGE = 16384


class Place(Protocol):
    """One database under torture, and what can be done to it from outside. It is opened in child
    processes alone: what is here only says where it is."""

    @property
    def where(self) -> Path | Address:
        """As `omoide migrate` wants it."""

    @property
    def spool(self) -> Path:
        """The folder for words that wait to be stored in it."""

    async def open(self, *, patience: float = 5.0) -> Store:
        """A store over it, whose calls wait so many seconds for others."""

    async def cramped(self, trial: int) -> Store:
        """A store over it for which there is little room left. It may raise `StoreError`."""

    def relieve(self) -> None:
        """Give room again."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts nobody else can write for any user."""

    def traces(self, words: set[str]) -> int:
        """How many of the words are still there, wherever that can be looked."""

    def left_behind(self, words: set[str]) -> str:
        """What else is to be told of erased words, in a few words of its own."""

    def tables(self) -> set[str]:
        """The names of its tables; none if there is nothing yet."""

    @contextmanager
    def raw(self) -> Iterator[Any]:
        """A connection that knows nothing of omoide and sees all rows: `execute` gives them."""


class Places(Protocol):
    """Makes databases of one kind."""

    @property
    def name(self) -> str:
        """The kind."""

    def create(self, name: str) -> Place:
        """A new one, empty."""

    def discard(self, place: Place) -> None:
        """It is needed no more."""


def waiting_bytes(place: Place) -> bytes:
    """All bytes of the files with words that wait."""
    return b"".join(path.read_bytes() for path in place.spool.glob("*"))


@dataclass(frozen=True)
class SqlitePlace:
    """A file, encrypted if there is a key."""

    path: Path
    key: str = ""

    @property
    def where(self) -> Path:
        """See `Place.where`."""
        return self.path

    @property
    def spool(self) -> Path:
        """See `Place.spool`."""
        return Path(f"{self.path}.spool")

    async def open(self, *, patience: float = 5.0) -> Store:
        """See `Place.open`."""
        return await SqliteStore.open(self.path, patience=patience, key=self.key)

    async def cramped(self, trial: int) -> Store:
        """By SQLite's own count of pages, or by the kernel, which refuses the write."""
        with self.raw() as connection:  # what a process left in the log counts as well
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        limit = None
        if trial % 2:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            size = max(self._size, 300_000) + 200_000
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        else:
            limit = self._size // PAGE + 12
        return await SqliteStore.open(self.path, max_pages=limit, patience=5.0, key=self.key)

    def relieve(self) -> None:
        """The limit went with the process that had it."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """See `Place.held`."""
        with self.raw() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    def traces(self, words: set[str]) -> int:
        """In the bytes of the file, its write-ahead log, and what waits. With a key also in all
        rows of all tables: no other bytes of the file can be decrypted."""
        held = waiting_bytes(self)
        for path in (self.path, Path(f"{self.path}-wal")):
            with suppress(FileNotFoundError):
                held += path.read_bytes()
        if self.key:
            assert MAGIC not in held, "the file is not encrypted"
            with self.raw() as connection:
                for table in self.tables():
                    held += repr(connection.execute(f"SELECT * FROM {table}").fetchall()).encode()  # noqa: S608
        return sum(word.encode() in held for word in words)

    def left_behind(self, words: set[str]) -> str:
        """Nothing: `traces` sees all bytes."""
        return ""

    def tables(self) -> set[str]:
        """See `Place.tables`."""
        if not self.path.exists():
            return set()
        with self.raw() as connection:
            named = "SELECT name FROM sqlite_master WHERE type = 'table'"
            return {name for (name,) in connection.execute(named)}

    @contextmanager
    def raw(self) -> Iterator[apsw.Connection]:
        """See `Place.raw`."""
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(10_000)
        if self.key:
            unlock(connection, self.key, str(self.path))
        try:
            yield connection
        finally:
            connection.close()

    @property
    def _size(self) -> int:
        with suppress(FileNotFoundError):
            return self.path.stat().st_size
        return 0


@dataclass(frozen=True)
class SqlitePlaces:
    """Files in one folder."""

    folder: Path
    name: str = "sqlite"
    key: str = ""

    def create(self, name: str) -> SqlitePlace:
        """See `Places.create`."""
        return SqlitePlace(self.folder / f"{name}.sqlite", self.key)

    def discard(self, place: Place) -> None:
        """See `Places.discard`."""
        for end in ("", "-wal", "-shm"):
            Path(f"{os.fspath(place.where)}{end}").unlink(missing_ok=True)
