"""Erasure down to the bytes of the file.

Deleting rows is not enough. `secure_delete` zeroes deleted bytes, but when SQLite rebalances a tree
it moves rows and leaves their old bytes in the unused middle of pages (seen with 3.54: a few in
20 MB). A small file is rewritten with VACUUM, which removes those and makes the file smaller. That
blocks other writers for about 10 ms per MB, so a larger file is cleaned in place, a piece at a time
(`page_cleaning`); its freed pages are used again. An encrypted file can only be rewritten. Then the
write-ahead log, which holds older copies of pages, is cleaned too (`log_cleaning`), or truncated if
it is encrypted. A mark in the database says that this is still to be done; if the process dies or
gives up, the next opening does it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING

import apsw

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.archive import SqlArchive
from omoide.adapters.stores.sqlite.checkpoints import move_pages
from omoide.adapters.stores.sqlite.log_cleaning import LogCleaner
from omoide.adapters.stores.sqlite.page_cleaning import MOST_PAGES, PageCleaner
from omoide.errors import StoreLocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sqlite.connection import SqliteDatabase
    from omoide.adapters.stores.sqlite.vector_cache import VectorCache
    from omoide.ports import Erased

REWRITTEN = 4 * 2**20
"""Bytes in use up to which a file is rewritten: that blocks nobody for longer than 50 ms."""
_RETRY = 0.01
"""Seconds between two tries to clean a piece while another connection is in the way."""


class SqliteArchive(SqlArchive):
    """`Archive` on SQLite. Large erasures are made in slices, and all clean the file."""

    FIRST, TIMES = 5, 1.0

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

    async def resume(self) -> None:
        """Finish what an interrupted erasure left to be done, in tables and in files."""
        await super().resume()
        await self.scrub()

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
        if self._file.encrypted:
            await self._repeated(_truncate_log)
        else:
            await self._clean_log()
        await run(lambda connection: self._remove_mark(connection, mark))

    def _remove_owner(self, connection: Connection, number: int) -> Erased:
        erased, done = self._remove_more(connection, number, slices.TableSliceSizes())
        if not done:
            self._notes.add_owner(connection, number)
        return erased

    def _remove_more(
        self, connection: Connection, number: int, sizes: slices.TableSliceSizes
    ) -> tuple[Erased, bool]:
        """A slice: the lock is for the whole file."""
        removed = slices.remove_rows(connection, number, sizes)
        return removed.erased, removed.done

    async def _pages_written(self) -> int:
        def count(connection: apsw.Connection) -> int:
            return int(connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)[0])

        return await self._file.without_transaction(count)

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
        connection.execute("PRAGMA temp_store = FILE")  # an encrypted file may be large
        try:
            connection.execute("VACUUM")
        except apsw.BusyError:
            raise self._left_behind() from None
        finally:
            connection.execute("PRAGMA temp_store = MEMORY")

    async def _clean_pages(self) -> None:
        """Once, or twice if others wrote meanwhile."""
        run = self._file.without_transaction
        cleaner = await run(lambda _: PageCleaner(self._file.where))
        try:
            await self._in_pieces(cleaner)
            if cleaner.disturbed:
                cleaner.begin()
                await self._in_pieces(cleaner)
            await run(lambda _: cleaner.synchronise())
        finally:
            await run(lambda _: cleaner.close())

    async def _clean_log(self) -> None:
        run = self._file.without_transaction
        cleaner = await run(lambda _: LogCleaner(self._file.where))
        try:
            await self._in_pieces(cleaner)
            await run(lambda _: cleaner.synchronise())
        finally:
            await run(lambda _: cleaner.close())

    async def _in_pieces(self, cleaner: PageCleaner | LogCleaner) -> None:
        """Piece by piece, so that others write in between."""
        while not cleaner.done:
            began, locked = time.monotonic(), cleaner.locked
            await self._repeated(cleaner.clean_piece)
            if cleaner.locked > locked:
                await slices.leave_time(time.monotonic() - began)

    async def _repeated(self, work: Callable[[apsw.Connection], bool]) -> None:
        """Run `work` until it returns True. It waits for no other connection: to wait for a reader
        with the write lock would stop all writers as long."""

        def once(connection: apsw.Connection) -> bool:
            connection.set_busy_timeout(0)
            try:
                return work(connection)
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(round(self._file.patience * 1000))

        deadline = time.monotonic() + self._file.patience
        while not await self._file.without_transaction(once):
            if time.monotonic() > deadline:
                raise self._left_behind()
            await asyncio.sleep(_RETRY)

    def _remove_mark(self, connection: apsw.Connection, mark: str) -> None:
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


def _truncate_log(connection: apsw.Connection) -> bool:
    """Move all pages of the log into the file and empty it; False if others are in the way. Most of
    them are moved first without the write lock."""
    move_pages(connection)
    [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not busy
