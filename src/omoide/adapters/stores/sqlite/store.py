"""The embedded store: one SQLite file."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.store import SqlStore
from omoide.adapters.stores.sql.turn_tables import TurnTableCache
from omoide.adapters.stores.sqlite.opening import MEMORY, SqliteOpening
from omoide.adapters.stores.sqlite.scrubbing import SqliteArchive
from omoide.adapters.stores.sqlite.vector_cache import VectorCache
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sqlite.connection import SqliteDatabase

CACHE_BYTES = 256 * 1024 * 1024


class SqliteStore(SqlStore):
    """`Store` on one SQLite file, or in memory. Open it with `open`; close it after use."""

    archive: SqliteArchive

    def __init__(self, database: SqliteDatabase, *, cache_bytes: int = CACHE_BYTES) -> None:
        matrices, turn_tables = VectorCache(cache_bytes), TurnTableCache(cache_bytes // 4)
        super().__init__(database, matrices, turn_tables)
        self.archive = SqliteArchive(database, matrices, turn_tables)
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
        """Open the database at `path` (":memory:" for one in memory).

        A missing file is created, readable by its user only, unless `create` is False: then
        `StoreMissing` is raised, and a file that is not writable is opened read-only. `patience` is
        how many seconds to wait for another process's lock before `StoreLocked` is raised;
        `max_pages` limits the file to that many pages of 16 KB, beyond which `StoreFull` is raised;
        `cache_bytes` limits the cache of vectors, and a quarter of it the cache of turn tables;
        `key` encrypts a new file or opens an encrypted one (see `cipher`).
        """
        name = path if path == MEMORY else os.fspath(path)
        opening = SqliteOpening(
            path=str(name), create=create, max_wait=patience, max_pages=max_pages, key=key
        )
        database = await asyncio.to_thread(opening.open)
        store = cls(database, cache_bytes=cache_bytes)
        try:
            if not database.read_only:
                with suppress(StoreLocked):  # a later opening will retry
                    await store.archive.resume()
        except BaseException:
            await store.close()
            raise
        return store
