"""The store on a PostgreSQL server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sql.store import SqlStore
from omoide.adapters.stores.sql.turn_tables import TurnTableCache
from omoide.errors import MissingExtra, StoreLocked, StoreReadOnly

if TYPE_CHECKING:
    from omoide.adapters.stores.postgres.connection import PostgresDatabase

CACHE_BYTES = 64 * 1024 * 1024
CONNECTIONS = 8


class PostgresArchive(SqlArchive):
    """`Archive` on PostgreSQL. An erasure removes the rows from every table; when their bytes
    leave the server's files depends on the server (docs/postgres.md). A lock is for one owner, so
    all rows of an owner whose name was taken away are removed in one transaction."""

    META = "omoide_meta"
    TENANTS = "SELECT name FROM tenants ORDER BY name"


class PostgresStore(SqlStore):
    """`Store` on a PostgreSQL server. Open it with `open`; close it after use."""

    def __init__(self, database: PostgresDatabase, *, cache_bytes: int = CACHE_BYTES) -> None:
        from omoide.adapters.stores.postgres.vectors import Pgvector

        comparer, turn_tables = Pgvector(), TurnTableCache(cache_bytes)
        super().__init__(database, comparer, turn_tables)
        self.archive = PostgresArchive(database, comparer, turn_tables)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        create: bool = True,
        patience: float = 10.0,
        connections: int = CONNECTIONS,
        partitions: int | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> PostgresStore:
        """Open the database at `url`, which must exist: `postgresql://user:password@host/name`.

        Missing tables are created, unless `create` is False: then `StoreMissing` is raised.
        `partitions` is the number of partitions of each large table. It applies to new databases
        only and cannot be changed later; with 0 the tables are not partitioned, for an extension
        that distributes them. `patience` is how many seconds to wait for a free connection, or for
        a lock, before `StoreLocked` is raised; `connections` is the most open connections;
        `cache_bytes` limits the cache of turn tables.
        """
        try:
            from omoide.adapters.stores.postgres.opening import PARTITIONS, PostgresOpening
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"PostgreSQL needs {error.name}: pip install 'omoide[postgres]'"
            ) from error
        opening = PostgresOpening(
            url=url,
            create=create,
            max_wait=patience,
            connections=connections,
            partitions=PARTITIONS if partitions is None else partitions,
        )
        database = await asyncio.to_thread(opening.open)
        store = cls(database, cache_bytes=cache_bytes)
        try:
            with suppress(StoreLocked, StoreReadOnly):  # a later opening will retry
                await store.archive.resume()
        except BaseException:
            await store.close()
            raise
        return store
