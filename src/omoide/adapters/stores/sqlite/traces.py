"""Erasure down to the bytes of the file.

Deleting rows is not enough. `secure_delete` zeroes what is deleted, but when SQLite rebalances a
tree it moves rows and leaves their old bytes in the unused middle of pages (seen with 3.54: a few
in 20 MB). Only VACUUM, which writes every page anew, rids the file of those; then the write-ahead
log, which holds older copies of pages, is emptied. Both cost time in proportion to the whole file
(about 10 ms a MB), which an erasure is worth. A mark in the database says that this
is still to be done, so that it is, at the next opening, if the process died or had to give up.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw

from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.outlines import Outlines
    from omoide.adapters.stores.sqlite.connection import SqliteDatabase
    from omoide.adapters.stores.sqlite.matrices import Matrices


class SqliteArchive(SqlArchive):
    """`Archive` on SQLite, which cleans its file."""

    def __init__(self, database: SqliteDatabase, matrices: Matrices, outlines: Outlines) -> None:
        super().__init__(database, matrices, outlines)
        self._file = database

    async def remove_traces(self) -> None:
        """Rid the files of bytes that erasures left behind, if there are any."""
        if not self._file.in_memory:
            await self._file.alone(self._remove_traces)

    def _mark(self, connection: Connection) -> None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('traces', 'yes')")

    def _remove_traces(self, connection: apsw.Connection) -> None:
        if not connection.execute("SELECT 1 FROM meta WHERE name = 'traces'").fetchall():
            return
        busy: Any = True
        with suppress(apsw.BusyError):
            connection.execute("VACUUM")
            [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreLocked(
                "what was asked for is erased, but bytes of it remain in the write-ahead log of "
                f"{self._file.where} for as long as another process reads there; close that "
                "process and erase again, or open the database anew"
            )
        connection.execute("DELETE FROM meta WHERE name = 'traces'")
