"""Erasure down to the bytes of the file.

Deleting rows is not enough. `secure_delete` zeroes deleted bytes, but when SQLite rebalances a tree
it moves rows and leaves their old bytes in the unused middle of pages (seen with 3.54: a few in
20 MB). Only VACUUM, which rewrites every page, removes those. Then the write-ahead log, which holds
older copies of pages, is truncated. Both take time proportional to the file (about 10 ms per MB),
which an erasure is worth. A mark in the database says that this is still to be done; if the process
dies or gives up, the next opening does it.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw

from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sqlite.connection import SqliteDatabase
    from omoide.adapters.stores.sqlite.vector_cache import VectorCache


class SqliteArchive(SqlArchive):
    """`Archive` on SQLite. Erasures also clean the file."""

    def __init__(
        self, database: SqliteDatabase, matrices: VectorCache, turn_tables: TurnTableCache
    ) -> None:
        super().__init__(database, matrices, turn_tables)
        self._file = database

    async def scrub(self) -> None:
        """Remove the bytes that erasures left in the files, if any."""
        if not self._file.in_memory:
            await self._file.without_transaction(self._remove_traces)

    def _mark(self, connection: Connection) -> None:
        mark = secrets.token_hex(8)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('traces', ?)", (mark,))

    def _remove_traces(self, connection: apsw.Connection) -> None:
        marks = connection.execute("SELECT value FROM meta WHERE name = 'traces'").fetchall()
        if not marks:
            return
        busy: Any = True
        with suppress(apsw.BusyError):
            connection.execute("VACUUM")
            [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreLocked(
                "the data is erased, but bytes of it remain in the write-ahead log of "
                f"{self._file.where} while another process reads it; close that process and "
                "erase again, or reopen the database"
            )
        # Another process may have erased something since: then the mark is another, and stays.
        connection.execute("DELETE FROM meta WHERE name = 'traces' AND value = ?", marks[0])
