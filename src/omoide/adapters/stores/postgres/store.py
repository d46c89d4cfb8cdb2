"""The store on a server, seen from its several sides."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sql.outlines import Outlines
from omoide.adapters.stores.sql.sides import SqlStore
from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide.adapters.stores.postgres.connection import PostgresDatabase

CACHE_BYTES = 64 * 1024 * 1024
CONNECTIONS = 8


class PostgresArchive(SqlArchive):
    """`Archive` on PostgreSQL. An erasure removes the rows from every table; when their bytes
    leave the server's files is the server's matter (docs/postgres.md)."""

    TENANTS = "SELECT name FROM tenants ORDER BY name"


class PostgresStore(SqlStore):
    """`Store` on a PostgreSQL server. Open it with `open`, and close it."""

    def __init__(self, database: PostgresDatabase, *, cache_bytes: int = CACHE_BYTES) -> None:
        from omoide.adapters.stores.postgres.nearness import Pgvector

        nearness, outlines = Pgvector(), Outlines(cache_bytes)
        super().__init__(database, nearness, outlines)
        self.archive = PostgresArchive(database, nearness, outlines)

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

        Its tables are made if they are missing, unless `create` is False: then `StoreMissing` is
        raised. `partitions` counts only for new ones: so many parts each table has that grows,
        for good; with 0 they are left whole, for an extension to distribute. `patience` is how
        many seconds to wait for a free connection, or for another's lock, before `StoreLocked`;
        `connections` how many are open at most; `cache_bytes` limits the outlines of users' turns
        that are kept in memory.
        """
        try:
            from omoide.adapters.stores.postgres.opening import PARTITIONS, Opening
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"PostgreSQL needs {error.name}: pip install 'omoide[postgres]'"
            ) from error
        opening = Opening(
            url=url,
            create=create,
            patience=patience,
            connections=connections,
            partitions=PARTITIONS if partitions is None else partitions,
        )
        database = await asyncio.to_thread(opening.open)
        return cls(database, cache_bytes=cache_bytes)
