"""Who there is, bringing one back, and removal for good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.elsewhere import is_grave
from omoide.adapters.stores.sql.erasing import doomed, erase_owner
from omoide.adapters.stores.sql.putting_back import put_back
from omoide.adapters.stores.sql.rows import held_owner_id
from omoide.domain import Owner
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.elsewhere import Doom, Elsewhere
    from omoide.adapters.stores.sql.nearness import Nearness
    from omoide.adapters.stores.sql.outlines import Outlines
    from omoide.domain import Session, Turn

_NOTHING = Erased(sessions=0, turns=0, sentences=0)


class SqlArchive:
    """`Archive` in SQL, as far as rows go; what they leave in files is each database's matter."""

    TENANTS = "SELECT DISTINCT tenant FROM owners ORDER BY tenant"

    def __init__(self, database: Database, nearness: Nearness, outlines: Outlines) -> None:
        self._database = database
        self._nearness = nearness
        self._outlines = outlines
        self.elsewhere: Elsewhere | None = None
        """What else is kept of owners, outside the database."""

    async def tenants(self) -> tuple[str, ...]:
        """See `Archive.tenants`."""

        def work(connection: Connection) -> tuple[str, ...]:
            rows = connection.execute(self.TENANTS)
            return tuple(name for (name,) in rows)

        return await self._database.read("", work)

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """See `Archive.owners`."""

        def work(connection: Connection) -> tuple[Owner, ...]:
            rows = connection.execute(
                'SELECT "user" FROM owners WHERE tenant = ? ORDER BY "user"', (tenant,)
            )
            return tuple(Owner(tenant=tenant, user=user) for (user,) in rows if not is_grave(user))

        return await self._database.read(tenant, work)

    async def put_back(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """See `Archive.put_back`."""

        def work(connection: Connection) -> tuple[int, int]:
            return put_back(connection, owner, sessions=sessions, turns=turns)

        return await self._database.write(owner.tenant, work)

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

        dooms: list[Doom] = []

        def work(connection: Connection) -> Erased:
            number = held_owner_id(connection, owner)
            if number is None:
                return _NOTHING
            if self.elsewhere:
                dooms[:] = [self.elsewhere.doom(connection, owner, number, whole=whole)]
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
            connection.execute("DELETE FROM erasing WHERE owner = ?", (number,))
            self._mark(connection)
            return erased

        erased = await self._database.write(owner.tenant, work)
        self._nearness.clear()
        self._outlines.clear()
        if self.elsewhere and dooms and not await self.elsewhere.remove(dooms[0]):
            erased = replace(erased, pending=True)
        await self.remove_traces()
        return erased

    async def remove_traces(self) -> None:
        """Rid the files of what erasures left behind, where that can be done from here."""

    def _mark(self, connection: Connection) -> None:
        """Note in the erasure's transaction that its traces are still to be removed."""
