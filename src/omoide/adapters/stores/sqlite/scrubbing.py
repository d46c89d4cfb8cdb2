"""Erasure down to the bytes of the file.

Deleting rows is not enough. `secure_delete` zeroes deleted bytes, but when SQLite rebalances a tree
it moves rows and leaves their old bytes in the unused middle of pages (seen with 3.54: a few in
20 MB). A small file is rewritten with VACUUM, which removes those and makes the file smaller. That
blocks other writers for about 10 ms per MB, so a larger file is cleaned in place, a piece at a time
(`page_cleaning`); its freed pages are used again. An encrypted file can only be rewritten. Then the
write-ahead log, which holds older copies of pages, is truncated. A mark in the database says that
this is still to be done; if the process dies or gives up, the next opening does it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw

from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sqlite.page_cleaning import MOST_PAGES, PageCleaner
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sqlite.connection import SqliteDatabase
    from omoide.adapters.stores.sqlite.vector_cache import VectorCache


REWRITTEN = 4 * 2**20
"""Bytes in use up to which a file is rewritten: that blocks nobody for longer than 50 ms."""
_RETRY = 0.01
"""Seconds between two tries to clean a piece while another connection is in the way."""


class SqliteArchive(SqlArchive):
    """`Archive` on SQLite. Erasures also clean the file."""

    def __init__(
        self,
        database: SqliteDatabase,
        matrices: VectorCache,
        turn_tables: TurnTableCache,
        *,
        rewritten: int = REWRITTEN,
    ) -> None:
        super().__init__(database, matrices, turn_tables)
        self._file = database
        self._rewritten = rewritten

    async def scrub(self) -> None:
        """Remove the bytes that erasures left in the files, if any."""
        if self._file.in_memory:
            return
        run = self._file.without_transaction
        if (mark := await run(_mark_of)) is None:
            return
        if await run(self._is_rewritten):
            await run(self._rewrite)
        else:
            await self._clean_pages()
        await run(lambda connection: self._truncate_log(connection, mark))

    def _mark(self, connection: Connection) -> None:
        mark = secrets.token_hex(8)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('traces', ?)", (mark,))

    def _is_rewritten(self, connection: apsw.Connection) -> bool:
        [(pages, free, size)] = connection.execute(
            "SELECT page_count, freelist_count, page_size "
            "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        )
        small: bool = (pages - free) * size <= self._rewritten
        return self._file.encrypted or small or pages >= MOST_PAGES

    def _rewrite(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("VACUUM")
        except apsw.BusyError:
            raise self._left_behind() from None

    async def _clean_pages(self) -> None:
        """Piece by piece, so that others write in between."""
        cleaner = await self._file.without_transaction(lambda _: PageCleaner(self._file.where))
        deadline = time.monotonic() + self._file.patience
        try:
            while not cleaner.done:
                if await self._file.without_transaction(cleaner.clean_piece):
                    deadline = time.monotonic() + self._file.patience
                elif time.monotonic() > deadline:
                    raise self._left_behind()
                else:
                    await asyncio.sleep(_RETRY)
        finally:
            await self._file.without_transaction(lambda _: cleaner.close())

    def _truncate_log(self, connection: apsw.Connection, mark: str) -> None:
        busy: Any = True
        with suppress(apsw.BusyError):
            [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise self._left_behind()
        # Another process may have erased something since: then the mark is another, and stays.
        connection.execute("DELETE FROM meta WHERE name = 'traces' AND value = ?", (mark,))

    def _left_behind(self) -> StoreLocked:
        return StoreLocked(
            "the data is erased, but bytes of it remain in the write-ahead log of "
            f"{self._file.where} while another process reads it; close that process and "
            "erase again, or reopen the database"
        )


def _mark_of(connection: apsw.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE name = 'traces'").fetchone()
    return str(row[0]) if row else None
