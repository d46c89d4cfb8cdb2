"""Pooled connections, used in threads. Each transaction is limited to one tenant.

A writing transaction locks its owner's row, so that writes for one owner are serialised across all
servers and workers.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors, sql

from omoide.adapters.stores.postgres.failures import translate_damage, translate_errors
from omoide.adapters.stores.postgres.translation import to_postgres
from omoide.adapters.stores.sql.connection import finished
from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from psycopg_pool import ConnectionPool

    from omoide.adapters.stores.sql.connection import Reads

    Work = Callable[["PostgresConnection"], "T"]

T = TypeVar("T")

WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TRIES = 3
"""How often a transaction is tried if it deadlocks with another."""


class PostgresConnection:
    """`Connection` over a psycopg connection in a transaction."""

    ITEMS_AT_ONCE = 20
    """The postings of so many items are read or removed by one statement."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._changed = 0

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """See `Connection.execute`."""
        cursor = self._connection.cursor()
        cursor.execute(to_postgres(statement).encode(), _clean(values))
        self._changed = cursor.rowcount
        return cursor

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> _Joined:
        """See `Connection.executemany`: pipelined, without waiting for each."""
        cursor = self._connection.cursor()
        selects = statement.startswith("SELECT")
        cursor.executemany(to_postgres(statement).encode(), map(_clean, values), returning=selects)
        self._changed = cursor.rowcount
        return _Joined(chain.from_iterable(cursor.results()) if selects else iter(()))

    def changes(self) -> int:
        """See `Connection.changes`."""
        return self._changed


class _Joined:
    """The rows of several statements, chained."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:  # noqa: ANN401 - see `Rows`
        """The next row, or None."""
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


def _clean(values: Sequence[Any]) -> list[Any]:
    """Replace NUL, which PostgreSQL's text cannot hold, by the replacement character. Turns never
    contain it (`checked_text`), but a rejected answer or an error may."""
    return [
        value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        if isinstance(value, str) and "\0" in value
        else value
        for value in values
    ]


class _JoinedReads(threading.local):
    """The connection of the reads that run together in this thread, if any do."""

    connection: PostgresConnection | None = None


class PostgresDatabase:
    """`Database` on a server."""

    def __init__(self, *, where: str, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self.where = where
        self.wrap = PostgresConnection
        """Wraps the connection for the work; a benchmark replaces it to observe statements."""
        self._pool = pool
        self._threads = ThreadPoolExecutor(pool.max_size, thread_name_prefix="omoide-postgres")
        self._joined = _JoinedReads()
        self._closed = False

    async def write(self, tenant: str, work: Work[T]) -> T:
        """See `Database.write`."""
        return await self._in_thread(WRITE, tenant, self._checked(work))

    async def read(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read`."""
        if (connection := self._joined.connection) is not None:
            with translate_errors(self.where):
                return self._checked(work)(connection)
        return await self._in_thread(READ, tenant, self._checked(work))

    async def read_together(self, tenant: str, reads: Reads[T]) -> T:
        """See `Database.read_together`."""

        def work(connection: PostgresConnection) -> T:
            self._joined.connection = connection
            try:
                return finished(reads())
            finally:
                self._joined.connection = None

        return await self._in_thread(READ, tenant, work)

    def read_inline(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read_inline`."""
        return self._transact(READ, tenant, self._checked(work))

    def _checked(self, work: Work[T]) -> Work[T]:
        """Work of a store, whose rows may be damaged; `read_together` also runs a caller's code."""

        def checked(connection: PostgresConnection) -> T:
            with translate_damage(self.where):
                return work(connection)

        return checked

    async def close(self) -> None:
        """See `Database.close`."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._shut)

    async def _in_thread(self, begin: str, tenant: str, work: Work[T]) -> T:
        if self._closed:
            raise StoreError(f"{self.where} was closed; open it again")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._transact, begin, tenant, work)

    def _transact(self, begin: str, tenant: str, work: Work[T]) -> T:
        with translate_errors(self.where):
            for left in reversed(range(_TRIES)):
                try:
                    return self._once(begin, tenant, work)
                except errors.DeadlockDetected:
                    if not left:
                        raise
            raise AssertionError  # unreachable: the last try returns or raises

    def _once(self, begin: str, tenant: str, work: Work[T]) -> T:
        connection = self._begun(begin, tenant)
        try:
            result = work(self.wrap(connection))
            connection.execute("COMMIT")
        except BaseException:
            if not connection.closed:
                connection.rollback()
            raise
        else:
            return result
        finally:
            self._pool.putconn(connection)

    def _begun(self, begin: str, tenant: str) -> psycopg.Connection[Any]:
        """A connection with an open transaction for one tenant. Connections that broke while idle,
        such as after a server restart, are discarded here."""
        left = self._pool.max_size
        while True:
            connection = self._pool.getconn()
            quoted = sql.Literal(tenant).as_string(connection)
            try:
                connection.execute(f"{begin}; SET LOCAL omoide.tenant = {quoted}".encode())
            except psycopg.OperationalError:
                broken = connection.broken
                self._pool.putconn(connection)
                if not broken or not left:
                    raise
                left -= 1
            else:
                return connection

    def _shut(self) -> None:
        self._threads.shutdown()
        self._pool.close()
