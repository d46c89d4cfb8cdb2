"""The embedded store: one file, seen from its several sides."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.outlines import Outlines
from omoide.adapters.stores.sql.sides import SqlStore
from omoide.adapters.stores.sqlite.matrices import Matrices
from omoide.adapters.stores.sqlite.opening import MEMORY, Opening
from omoide.adapters.stores.sqlite.traces import SqliteArchive
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sqlite.connection import SqliteDatabase

CACHE_BYTES = 256 * 1024 * 1024


class SqliteStore(SqlStore):
    """`Store` on one SQLite file, or in memory. Open it with `open`, and close it."""

    def __init__(self, database: SqliteDatabase, *, cache_bytes: int = CACHE_BYTES) -> None:
        matrices, outlines = Matrices(cache_bytes), Outlines(cache_bytes // 4)
        super().__init__(database, matrices, outlines)
        self.archive = SqliteArchive(database, matrices, outlines)
        self.file = database

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        create: bool = True,
        patience: float = 10.0,
        max_pages: int | None = None,
        cache_bytes: int = CACHE_BYTES,
        key: str = "",
    ) -> SqliteStore:
        """Open the database at `path` (":memory:" for one that dies with it).

        A file that is missing is created, readable by its user alone, unless `create` is False:
        then `StoreMissing` is raised, and a file that may not be written is opened for reading.
        `patience` is how many seconds to wait for another process's lock before `StoreLocked`;
        `max_pages` limits the file to so many pages of 16 KB, beyond which `StoreFull` is raised;
        `cache_bytes` limits the vectors kept in memory, and a quarter of it the outlines; `key`
        encrypts the file, or opens one that was encrypted with it (see `cipher`).
        """
        name = path if path == MEMORY else os.fspath(path)
        opening = Opening(
            path=str(name), create=create, patience=patience, max_pages=max_pages, key=key
        )
        database = await asyncio.to_thread(opening.open)
        store = cls(database, cache_bytes=cache_bytes)
        try:
            if not database.read_only:
                with suppress(StoreLocked):  # a later opening will do
                    await store.archive.remove_traces()
        except BaseException:
            await store.close()
            raise
        return store
