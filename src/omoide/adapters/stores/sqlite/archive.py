"""Who there is, and removal for good.

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

from omoide.adapters.stores.sqlite.erasing import doomed, erase_owner
from omoide.adapters.stores.sqlite.putting_back import put_back
from omoide.adapters.stores.sqlite.rows import owner_id
from omoide.domain import Owner
from omoide.errors import StoreLocked
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sqlite.connection import Database
    from omoide.adapters.stores.sqlite.matrices import Matrices
    from omoide.adapters.stores.sqlite.outlines import Outlines
    from omoide.domain import Session, Turn

_NOTHING = Erased(sessions=0, turns=0, sentences=0)


class SqliteArchive:
    """`Archive` on SQLite."""

    def __init__(self, database: Database, matrices: Matrices, outlines: Outlines) -> None:
        self._database = database
        self._matrices = matrices
        self._outlines = outlines

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """See `Archive.owners`."""

        def work(connection: apsw.Connection) -> tuple[Owner, ...]:
            rows = connection.execute(
                "SELECT user FROM owners WHERE tenant = ? ORDER BY user", (tenant,)
            )
            return tuple(Owner(tenant=tenant, user=user) for (user,) in rows)

        return await self._database.read(work)

    async def put_back(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """See `Archive.put_back`."""

        def work(connection: apsw.Connection) -> tuple[int, int]:
            return put_back(connection, owner, sessions=sessions, turns=turns)

        return await self._database.write(work)

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
    ) -> Erased:
        """See `Archive.erase`. What is not there is passed over, so that an erasure which could
        not be finished may be asked for again. Notes of versions, and errors of jobs, go along:
        they may quote what was said."""
        whole = session is None and turns is None and sentences is None

        def work(connection: apsw.Connection) -> Erased:
            number = owner_id(connection, owner)
            if number is None:
                return _NOTHING
            connection.execute("INSERT INTO erasing VALUES (?)", (number,))
            if whole:
                erased = erase_owner(connection, number)
            else:
                erased = doomed(
                    connection,
                    number,
                    session=session,
                    turns=turns or (),
                    sentences=sentences or (),
                ).erase(connection)
            connection.execute("DELETE FROM erasing")
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('traces', 'yes')")
            return erased

        erased = await self._database.write(work)
        self._matrices.clear()
        self._outlines.clear()
        await self.remove_traces()
        return erased

    async def remove_traces(self) -> None:
        """Rid the files of bytes that erasures left behind, if there are any."""
        if not self._database.in_memory:
            await self._database.alone(self._remove_traces)

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
                f"{self._database.where} for as long as another process reads there; close that "
                "process and erase again, or open the database anew"
            )
        connection.execute("DELETE FROM meta WHERE name = 'traces'")
