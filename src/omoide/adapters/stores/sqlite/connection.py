"""Connections in their own threads, one writer and a few readers, and the mapping of SQLite's
errors to omoide's.

The event loop never waits for the disk. A database in memory has a single connection.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING, TypeVar

import apsw

from omoide.adapters.stores.sql.connection import finished
from omoide.adapters.stores.sqlite.checkpoints import Checkpoints
from omoide.adapters.stores.sqlite.executor import BatchingExecutor
from omoide.adapters.stores.sqlite.transactions import joined_writes, transaction
from omoide.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omoide.adapters.stores.sql.connection import Reads
    from omoide.adapters.stores.sqlite.transactions import JoinedWrites

    Work = Callable[[apsw.Connection], "T"]

T = TypeVar("T")

READERS = 2
"""Number of reading connections."""


class _JoinedReads(threading.local):
    """The connection of the reads that run together in this thread, if any do."""

    connection: apsw.Connection | None = None


class SqliteDatabase:
    """`Database` on one file: its connections and their threads."""

    def __init__(
        self,
        *,
        where: str,
        writer: apsw.Connection,
        readers: Sequence[apsw.Connection] = (),
        read_only: bool = False,
        encrypted: bool = False,
        patience: float = 0.0,
        connect: Callable[[], apsw.Connection] | None = None,
    ) -> None:
        """`connect` opens one more connection, which moves what is written from the write-ahead log
        into the file; without it, SQLite does so in its commits."""
        self.where = where
        self.encrypted = encrypted
        self.patience = patience
        """Seconds to wait for another process's lock."""
        self.in_memory = not readers
        self.read_only = read_only
        self._writer = writer
        self._all = [writer, *readers]
        # The last one used comes first: it has in memory what was just read.
        self._free: LifoQueue[apsw.Connection] = LifoQueue()
        for reader in readers:
            self._free.put(reader)
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="omoide-write")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="omoide-read")
        self._to_write = BatchingExecutor(self._writing, around=self._writes)
        self._on_writer = BatchingExecutor(self._writing)
        self._to_read = BatchingExecutor(self._reading, around=self._snapshot)
        self._joined = _JoinedReads()
        self._checkpoints = Checkpoints(writer, connect) if connect else None
        self._closed = False

    @property
    def round_trips(self) -> int:
        """How often work was sent to a thread."""
        return sum(executor.trips for executor in self._executors)

    @property
    def _executors(self) -> tuple[BatchingExecutor, ...]:
        return self._to_write, self._on_writer, self._to_read

    async def write(self, tenant: str, work: Work[T]) -> T:
        """See `Database.write`. `tenant` is not needed: the statements themselves separate
        tenants."""
        del tenant
        return await self._in_thread(self._to_write, self._write_within, work)

    async def without_transaction(self, work: Work[T]) -> T:
        """Run `work` on the writing connection outside a transaction."""
        return await self._in_thread(self._on_writer, self._without_transaction, work)

    async def read(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read`."""
        del tenant
        if (connection := self._joined.connection) is not None:
            return self._read_within(connection, work)
        if self.in_memory:
            return await self._in_thread(self._on_writer, self._read_on, self._writer, work)
        return await self._in_thread(self._to_read, self._read_within, work)

    async def read_together(self, tenant: str, reads: Reads[T]) -> T:
        """See `Database.read_together`."""
        del tenant
        if self.in_memory:
            return await self._in_thread(self._on_writer, self._finish, self._writer, reads)
        return await self._in_thread(self._to_read, self._finish, reads)

    def read_inline(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read_inline`."""
        del tenant
        return self._read_on(self._writer, work) if self.in_memory else self._read_on_free(work)

    async def close(self) -> None:
        """See `Database.close`."""
        if not self._closed:
            self._closed = True
            for executor in self._executors:
                executor.flush()
            await asyncio.to_thread(self._shut)

    async def _in_thread(
        self, executor: BatchingExecutor, work: Callable[..., T], *arguments: object
    ) -> T:
        if self._closed:
            raise StoreError(f"{self.where} was closed; open it again")
        return await executor.run(work, *arguments)

    @contextmanager
    def _writes(self, count: int) -> Iterator[tuple[JoinedWrites]]:
        """The writing connection in a transaction, for all writes of a batch."""
        self._check_writable()
        with (
            translate_errors(self.where, self._writer),
            joined_writes(self._writer, count) as joined,
        ):
            yield (joined,)

    def _write_within(self, joined: JoinedWrites, work: Work[T]) -> T:
        with translate_errors(self.where, self._writer):
            return joined.run(work)

    def _without_transaction(self, work: Work[T]) -> T:
        self._check_writable()
        with translate_errors(self.where, self._writer):
            return work(self._writer)

    def _read_on_free(self, work: Work[T]) -> T:
        connection = self._free.get()
        try:
            return self._read_on(connection, work)
        finally:
            self._free.put(connection)

    @contextmanager
    def _snapshot(self, count: int) -> Iterator[tuple[apsw.Connection]]:
        """A free connection in a transaction, for all reads of a batch."""
        del count
        connection = self._free.get()
        try:
            with translate_errors(self.where, connection):
                connection.execute("BEGIN DEFERRED")
                try:
                    yield (connection,)
                finally:
                    if connection.in_transaction:  # a failure may have rolled it back
                        connection.execute("ROLLBACK")
        finally:
            self._free.put(connection)

    def _read_within(self, connection: apsw.Connection, work: Work[T]) -> T:
        with translate_errors(self.where, connection):
            return work(connection)

    def _finish(self, connection: apsw.Connection, reads: Reads[T]) -> T:
        """Run all reads on a connection, in its thread."""
        self._joined.connection = connection
        try:
            return finished(reads())
        finally:
            self._joined.connection = None

    def _read_on(self, connection: apsw.Connection, work: Work[T]) -> T:
        with translate_errors(self.where, connection), transaction(connection, "DEFERRED"):
            return work(connection)

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreReadOnly(
                f"{self.where} was opened read-only, because it is not writable; "
                "change its permissions or copy it elsewhere"
            )

    def _shut(self) -> None:
        self._writing.shutdown()
        self._reading.shutdown()
        if self._checkpoints:
            self._checkpoints.close()
        for connection in reversed(self._all):  # the writer last, to checkpoint the log
            connection.close()


@contextmanager
def translate_errors(where: str, connection: apsw.Connection | None = None) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except apsw.Error as error:
        number = connection.system_errno if connection is not None else 0
        raise _translate(error, where, number) from error
    except (ValueError, KeyError) as error:
        # A row that cannot be read: text that is not UTF-8 or JSON, an unknown speaker or state.
        # What was stored is valid, so something else changed it.
        raise _damaged(where, type(error).__name__) from error


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk is full, a quota is exceeded, or the file size is limited (`ulimit -f`)."""
_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)


def _translate(error: apsw.Error, where: str, number: int) -> StoreError:
    extended = getattr(error, "extendedresult", 0)
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreLocked(
                f"another process is writing {where} and did not finish in time; "
                "wait for it or stop it, then try again"
            )
        case apsw.FullError():
            return disk_full(where, str(error))
        case apsw.IOError() | apsw.CantOpenError() if (
            number in NO_SPACE or extended == apsw.SQLITE_IOERR_SHMSIZE
        ):
            return disk_full(where, str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return _forbidden(where, error)
        case apsw.CantOpenError() | apsw.IOError() if number in _TOO_MANY_FILES:
            return StoreError(
                f"{where}: too many files are open ({os.strerror(number)}); nothing was stored. "
                "Close some, or raise the limit (ulimit -n), then try again"
            )
        case apsw.CantOpenError():
            # The file itself was opened before, so this is the log or lock file beside it.
            return _forbidden(where, error)
        # We store nothing near SQLite's limit, so such a length means corruption.
        case apsw.CorruptError() | apsw.NotADBError() | apsw.TooBigError():
            return _damaged(where, str(error))
        case apsw.IOError():
            reason = f"{error}, {os.strerror(number)}" if number else str(error)
            return StoreError(
                f"{where} could not be read or written ({reason}); nothing was stored. "
                "Check the disk, its free space and the limits of this process "
                "(ulimit -a), then try again"
            )
        case _:
            return StoreError(f"{where}: {type(error).__name__}: {error}")


def _damaged(where: str, why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{where} is damaged or is not a database ({why}); restore a backup, "
        "or move it away to start with an empty one"
    )


def disk_full(where: str, why: str) -> StoreFull:
    """The error for a full disk or an exceeded limit."""
    return StoreFull(
        f"no space is left for {where} ({why}); nothing was stored. "
        "Free some disk space, or raise the limit (a quota, or ulimit -f), then try again"
    )


def _forbidden(where: str, error: apsw.Error) -> StoreReadOnly:
    return StoreReadOnly(
        f"{where} is not writable ({error}); check the permissions of the file and its folder"
    )
