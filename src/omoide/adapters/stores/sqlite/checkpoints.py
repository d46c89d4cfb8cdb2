"""Moves pages from the write-ahead log into the file, in a thread of its own.

By default SQLite does that in the commit after which the log is long. Then whoever writes a little
has to move what somebody else wrote before, another process that erases much perhaps: seen were 600
pages in the commit of one turn. Here no commit moves any page. Moving pages keeps nobody from
reading or writing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGES = 80
"""The log's length from which its pages are moved, some 1.3 MB. 250 scattered pages kept a disk
busy for up to 200 ms, and with it everybody who commits."""
LONG = 50 * PAGES
"""The length from which writers are kept out for a moment so that the log can begin anew. Else it
would grow as long as others write all the time."""


class Checkpoints:
    """Watches the commits of one connection."""

    def __init__(self, writer: apsw.Connection, connect: Callable[[], apsw.Connection]) -> None:
        """`connect` opens another connection to the same file, when it is first needed."""
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="omoide-checkpoint")
        self._scheduled = False
        writer.set_wal_hook(self._committed)  # in place of SQLite's own checkpoints

    def close(self) -> None:
        """Wait for the thread, and close its connection."""
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()

    def _committed(self, connection: apsw.Connection, name: str, pages: int) -> int:
        """What SQLite calls after a commit, with the length of the log."""
        if pages >= PAGES and not self._scheduled:
            self._scheduled = True
            with suppress(RuntimeError):  # the interpreter is shutting down
                self._thread.submit(self._move)
        return apsw.SQLITE_OK

    def _move(self) -> None:
        self._scheduled = False
        # Nothing is lost if it fails: the pages stay in the log, and a later commit tries again.
        with suppress(apsw.Error):
            if self._connection is None:
                self._connection = self._connect()
                self._connection.set_busy_timeout(0)
            if move_pages(self._connection) >= LONG:
                restart_log(self._connection)


def move_pages(connection: apsw.Connection) -> int:
    """Move what can be moved while others read and write; how many pages the log has."""
    found: list[Any] = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    [(_, pages, _)] = found
    return int(pages)


def restart_log(connection: apsw.Connection) -> bool:
    """Move all pages, so that the log begins anew with the next transaction; False if others are
    in the way. Most pages are moved first without the write lock."""
    move_pages(connection)
    [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    return not busy


class LogLock:
    """The write lock, held by a connection of its own for a moment, and what the log has then."""

    def __init__(self, path: str) -> None:
        self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        # What it commits need not survive a crash. SQLite synchronises a log that begins anyway.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.set_wal_hook(self._committed)
        self._length = 0
        [(self.page_size,)] = self._connection.execute("PRAGMA page_size")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it, or raise `BusyError`."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @property
    def version(self) -> int:
        """A number that is another one after other connections have written."""
        version: int = self._connection.pragma("data_version")
        return version

    def commit(self) -> bool:
        """Commit a transaction, after which every other connection drops the pages it has in
        memory. Whether the log has begun anew with it."""
        written = apsw.SQLITE_DBSTATUS_CACHE_WRITE
        self._connection.status(written, True)
        # Writes the first page. For an UPDATE to the same value SQLite would write none.
        [(number,)] = self._connection.execute("PRAGMA user_version")
        self._connection.execute(f"PRAGMA user_version = {number}")
        self._connection.execute("COMMIT")
        return self._length == self._connection.status(written)[0]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _committed(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._length = pages
        return apsw.SQLITE_OK


def log_length(connection: apsw.Connection) -> tuple[int, int]:
    """How many pages the log has, and how many of them are in the file. Moves none."""
    found: list[Any] = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchall()
    [(_, pages, moved)] = found
    return int(pages), int(moved)
