"""Connections in threads of their own: one writes, a few read, and what SQLite says when it
fails becomes one of omoide's errors.

The event loop never waits for the disk. In memory there is only the one connection.
"""

from __future__ import annotations

import asyncio
import errno
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal, TypeVar

import apsw

from omoide.adapters.stores.sqlite.errands import Errands
from omoide.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Work = Callable[[apsw.Connection], "T"]

T = TypeVar("T")

READERS = 2
"""Connections that read while the writer writes."""


class SqliteDatabase:
    """`Database` on one file: the open connections and the threads they are used in."""

    def __init__(
        self,
        *,
        where: str,
        writer: apsw.Connection,
        readers: Sequence[apsw.Connection] = (),
        read_only: bool = False,
    ) -> None:
        self.where = where
        self.in_memory = not readers
        self.read_only = read_only
        self._writer = writer
        self._all = [writer, *readers]
        self._free: SimpleQueue[apsw.Connection] = SimpleQueue()
        for reader in readers:
            self._free.put(reader)
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="omoide-write")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="omoide-read")
        self._to_write, self._to_read = Errands(self._writing), Errands(self._reading)
        self._closed = False

    @property
    def trips(self) -> int:
        """How often work went to a thread and back."""
        return self._to_write.trips + self._to_read.trips

    async def write(self, tenant: str, work: Work[T]) -> T:
        """See `Database.write`. A file is open to its user alone: tenants are kept apart by the
        statements."""
        del tenant
        return await self._in_thread(self._to_write, self._transact, work)

    async def alone(self, work: Work[T]) -> T:
        """Do `work` on the writing connection without a transaction around it."""
        return await self._in_thread(self._to_write, self._plainly, work)

    async def read(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read`."""
        del tenant
        if self.in_memory:
            return await self._in_thread(self._to_write, self._look, self._writer, work)
        return await self._in_thread(self._to_read, self._borrow, work)

    def look(self, tenant: str, work: Work[T]) -> T:
        """See `Database.look`."""
        del tenant
        return self._look(self._writer, work) if self.in_memory else self._borrow(work)

    async def close(self) -> None:
        """Finish what was begun and close every connection. Calling it again does nothing."""
        if not self._closed:
            self._closed = True
            for errands in (self._to_write, self._to_read):
                errands.set_off()
            await asyncio.to_thread(self._shut)

    async def _in_thread(self, errands: Errands, work: Callable[..., T], *arguments: object) -> T:
        if self._closed:
            raise StoreError(f"{self.where} was closed; open it again")
        return await errands.do(work, *arguments)

    def _transact(self, work: Work[T]) -> T:
        self._check_writable()
        with (
            translated(self.where, self._writer),
            transaction(self._writer, "IMMEDIATE"),
        ):
            return work(self._writer)

    def _plainly(self, work: Work[T]) -> T:
        self._check_writable()
        with translated(self.where, self._writer):
            return work(self._writer)

    def _borrow(self, work: Work[T]) -> T:
        connection = self._free.get()
        try:
            return self._look(connection, work)
        finally:
            self._free.put(connection)

    def _look(self, connection: apsw.Connection, work: Work[T]) -> T:
        with translated(self.where, connection), transaction(connection, "DEFERRED"):
            return work(connection)

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreReadOnly(
                f"{self.where} was opened for reading only, because it may not be written; "
                "change its permissions or copy it elsewhere"
            )

    def _shut(self) -> None:
        self._writing.shutdown()
        self._reading.shutdown()
        for connection in reversed(self._all):  # the writer last: it tidies the log away
            connection.close()


@contextmanager
def transaction(
    connection: apsw.Connection, mode: Literal["DEFERRED", "IMMEDIATE"]
) -> Iterator[None]:
    """All or nothing of what happens inside."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have rolled it back already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(where: str, connection: apsw.Connection | None = None) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except apsw.Error as error:
        number = connection.system_errno if connection is not None else 0
        raise _translate(error, where, number) from error


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk is full, or a quota, or a file may not grow any more (`ulimit -f`)."""
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
            return full(where, str(error))
        case apsw.IOError() | apsw.CantOpenError() if (
            number in NO_SPACE or extended == apsw.SQLITE_IOERR_SHMSIZE
        ):
            return full(where, str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return _forbidden(where, error)
        case apsw.CantOpenError() | apsw.IOError() if number in _TOO_MANY_FILES:
            return StoreError(
                f"{where}: too many files are open ({os.strerror(number)}); nothing of this call "
                "was kept. Close some, or raise the limit (ulimit -n), then try again"
            )
        case apsw.CantOpenError():
            # The file itself was seen before: it is the log or the lock file beside it.
            return _forbidden(where, error)
        # Far above any limit of ours, a length can only be a damaged one.
        case apsw.CorruptError() | apsw.NotADBError() | apsw.TooBigError():
            return StoreCorrupt(
                f"{where} is damaged or is not a database ({error}); bring back a copy of it, "
                "or move it away to begin anew"
            )
        case apsw.IOError():
            reason = f"{error}, {os.strerror(number)}" if number else str(error)
            return StoreError(
                f"{where} could not be read or written ({reason}); nothing of this call was kept. "
                "Look at the disk, at what is free on it and at the limits of this process "
                "(ulimit -a), then try again"
            )
        case _:
            return StoreError(f"{where}: {type(error).__name__}: {error}")


def full(where: str, why: str) -> StoreFull:
    """There is no space, or no more is allowed."""
    return StoreFull(
        f"no space is left for {where} ({why}); nothing of this call was kept. "
        "Free some space on the disk, or raise the limit (a quota, or ulimit -f), then try again"
    )


def _forbidden(where: str, error: apsw.Error) -> StoreReadOnly:
    return StoreReadOnly(
        f"{where} cannot be written ({error}); check the permissions of the file and its folder"
    )
