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
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import apsw

from omoide.adapters.stores.sql.archive import NOTHING, SqlArchive
from omoide.adapters.stores.sql.items import TURNS, postings_of
from omoide.adapters.stores.sqlite import slices
from omoide.adapters.stores.sqlite.page_cleaning import MOST_PAGES, PageCleaner, truncate_log
from omoide.errors import StoreLocked
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omoide.adapters.stores.sql.archive import StartedErasure
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.erasing import ErasurePlan
    from omoide.adapters.stores.sql.items import Posting
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sqlite.connection import SqliteDatabase
    from omoide.adapters.stores.sqlite.slices import UnfinishedErasure
    from omoide.adapters.stores.sqlite.vector_cache import VectorCache

T = TypeVar("T")

REWRITTEN = 4 * 2**20
"""Bytes in use up to which a file is rewritten: that blocks nobody for longer than 50 ms."""
_RETRY = 0.01
"""Seconds between two tries to clean a piece while another connection is in the way."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
"""Seconds between two slices of an erasure, or two pieces of a file. Whoever waits for the lock
asks for it once in a millisecond, so a shorter pause could be missed."""


class SqliteArchive(SqlArchive):
    """`Archive` on SQLite. Large erasures are made in slices, and all clean the file."""

    TURNS_AT_ONCE = slices.FIRST_TURNS

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
        await self._finish(None)
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
        await self._repeated(lambda connection: self._truncate_log(connection, mark))

    def _remove_owner(self, connection: Connection, number: int) -> Erased:
        removed = slices.remove_rows(connection, number)
        if not removed.done:
            slices.note_owner(connection, number)
        return removed.erased

    def _leave_turns(
        self, connection: Connection, plan: ErasurePlan, positions: Sequence[int]
    ) -> None:
        slices.note_turns(connection, plan.owner, positions, session=plan.session)

    async def _finish(self, started: StartedErasure | None) -> Erased:
        """Remove what this erasure left, and what others left that were interrupted."""
        erased = started.erased if started else NOTHING
        for erasure in await self._file.read("", slices.unfinished):
            if not erasure.whole:
                await self._finish_turns(erasure)
                continue
            more = await self._finish_owner(erasure)
            if started and started.number == erasure.owner:
                erased = _sum(erased, more)
        return erased

    async def _finish_owner(self, erasure: UnfinishedErasure) -> Erased:
        erased, done = NOTHING, False
        size = slices.SliceSize(size=slices.FIRST_ROWS, most=slices.ROWS)
        while not done:
            removing = partial(slices.remove_slice, erasure=erasure, rows=size.size)
            removed = await self._slice(removing, size)
            erased, done = _sum(erased, removed.erased), removed.done
        return erased

    async def _finish_turns(self, erasure: UnfinishedErasure) -> None:
        left = erasure.positions or ()
        size = slices.SliceSize(size=slices.FIRST_TURNS, most=slices.TURNS)
        while left:
            chosen, left = left[: size.size], left[size.size :]

            def look(connection: Connection, chosen: Sequence[int] = chosen) -> list[Posting]:
                return postings_of(connection, erasure.owner, TURNS, chosen)

            removing = partial(
                slices.remove_turns,
                erasure=erasure,
                positions=chosen,
                postings=await self._file.read("", look),
                last=not left,
            )
            await self._slice(removing, size)

    async def _slice(self, work: Callable[[apsw.Connection], T], size: slices.SliceSize) -> T:
        """Run a slice, choose the size of the next, and leave the others as much time."""

        def timed(connection: apsw.Connection) -> T:
            began = time.monotonic()
            result = work(connection)
            size.adapt(time.monotonic() - began)
            return result

        began = time.monotonic()
        result = await self._file.write("", timed)
        await _leave_time(time.monotonic() - began)
        return result

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
        try:
            while not cleaner.done:
                began = time.monotonic()
                await self._repeated(cleaner.clean_piece)
                await _leave_time(time.monotonic() - began)
        finally:
            await self._file.without_transaction(lambda _: cleaner.close())

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

    def _truncate_log(self, connection: apsw.Connection, mark: str) -> bool:
        if not truncate_log(connection):
            return False
        # Another process may have erased something since: then the mark is another, and stays.
        connection.execute("DELETE FROM meta WHERE name = 'traces' AND value = ?", (mark,))
        return True

    def _left_behind(self) -> StoreLocked:
        return StoreLocked(
            "the data is erased, but bytes of it remain in the write-ahead log of "
            f"{self._file.where} while another process reads it; close that process and "
            "erase again, or reopen the database"
        )


async def _leave_time(taken: float) -> None:
    """Let others write for as long as they had to wait."""
    await asyncio.sleep(min(max(taken, _SHORTEST_PAUSE), _LONGEST_PAUSE))


def _sum(one: Erased, other: Erased) -> Erased:
    """The counts of two erasures together."""
    return Erased(
        sessions=one.sessions + other.sessions,
        turns=one.turns + other.turns,
        sentences=one.sentences + other.sentences,
        facts=one.facts + other.facts,
        events=one.events + other.events,
        memos=one.memos + other.memos,
        notes=one.notes + other.notes,
        rejected=one.rejected + other.rejected,
    )


def _mark_of(connection: apsw.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE name = 'traces'").fetchone()
    return str(row[0]) if row else None
