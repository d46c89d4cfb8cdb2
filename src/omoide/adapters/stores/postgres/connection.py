"""Connections of a pool, used in threads, each transaction within one tenant.

Between `BEGIN` and `COMMIT` a transaction that writes holds one owner's row, so that what is
written for an owner is written one after the other, by however many servers and workers.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors, sql

from omoide.adapters.stores.postgres.failures import told
from omoide.adapters.stores.postgres.translation import translated
from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from psycopg_pool import ConnectionPool

    Work = Callable[["PostgresConnection"], "T"]

T = TypeVar("T")

WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TRIES = 3
"""How often a transaction is begun again that deadlocked with another."""


class PostgresConnection:
    """A `Connection` of psycopg's within a transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._changed = 0

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """See `Connection.execute`."""
        cursor = self._connection.cursor()
        cursor.execute(translated(statement).encode(), _clean(values))
        self._changed = cursor.rowcount
        return cursor

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> _Joined:
        """See `Connection.executemany`: sent all at once, without waiting for each."""
        cursor = self._connection.cursor()
        asks = statement.startswith("SELECT")
        cursor.executemany(translated(statement).encode(), map(_clean, values), returning=asks)
        self._changed = cursor.rowcount
        return _Joined(chain.from_iterable(cursor.results()) if asks else iter(()))

    def changes(self) -> int:
        """See `Connection.changes`."""
        return self._changed


class _Joined:
    """The rows of many statements, one after the other."""

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
    """PostgreSQL's text cannot hold NUL. No one can say it (`checked_text`), but a model's answer
    that is set aside, or an error, may hold one: it becomes the sign for what cannot be shown."""
    return [
        value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        if isinstance(value, str) and "\0" in value
        else value
        for value in values
    ]


class PostgresDatabase:
    """`Database` on a server."""

    def __init__(self, *, where: str, pool: ConnectionPool[psycopg.Connection[Any]]) -> None:
        self.where = where
        self.wrap = PostgresConnection
        """What work gets to see of a connection; a benchmark looks over its shoulder."""
        self._pool = pool
        self._threads = ThreadPoolExecutor(pool.max_size, thread_name_prefix="omoide-postgres")
        self._closed = False

    async def write(self, tenant: str, work: Work[T]) -> T:
        """See `Database.write`."""
        return await self._in_thread(WRITE, tenant, work)

    async def read(self, tenant: str, work: Work[T]) -> T:
        """See `Database.read`."""
        return await self._in_thread(READ, tenant, work)

    def look(self, tenant: str, work: Work[T]) -> T:
        """See `Database.look`."""
        return self._transact(READ, tenant, work)

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
        with told(self.where):
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
        """A connection with a transaction begun on it, for one tenant. Those that died while
        nobody used them, with a restart of the server, are thrown away here."""
        left = self._pool.max_size
        while True:
            connection = self._pool.getconn()
            named = sql.Literal(tenant).as_string(connection)
            try:
                connection.execute(f"{begin}; SET LOCAL omoide.tenant = {named}".encode())
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
