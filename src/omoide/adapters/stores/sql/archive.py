"""Listing, restoring and erasing owners."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erasing import erase_owner, erasure_plan
from omoide.adapters.stores.sql.external import is_erased_owner
from omoide.adapters.stores.sql.restoring import restore_turns
from omoide.adapters.stores.sql.rows import erasure_mark, locked_owner_id
from omoide.domain import Owner
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.external import ExternalErasure, ExternalStorage
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Session, Turn

_NOTHING = Erased(sessions=0, turns=0, sentences=0)


class SqlArchive:
    """`Archive` in SQL. Removes rows; each database handles what they leave in its files."""

    META = "meta"
    """The table with values of the whole database."""
    TENANTS = "SELECT DISTINCT tenant FROM owners ORDER BY tenant"

    def __init__(
        self, database: Database, comparer: VectorComparer, turn_tables: TurnTableCache
    ) -> None:
        self._database = database
        self._comparer = comparer
        self._turn_tables = turn_tables
        self.elsewhere: ExternalStorage | None = None
        """Storage outside the database that erasures must reach too, if any."""

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
            return tuple(
                Owner(tenant=tenant, user=user) for (user,) in rows if not is_erased_owner(user)
            )

        return await self._database.read(tenant, work)

    async def erasure_mark(self, owner: Owner) -> str:
        """See `Archive.erasure_mark`."""

        def work(connection: Connection) -> str:
            row: Any = connection.execute(
                'SELECT id, erasures FROM owners WHERE tenant = ? AND "user" = ?',
                (owner.tenant, owner.user),
            ).fetchone()
            return erasure_mark(*row) if row else ""

        return await self._database.read(owner.tenant, work)

    async def receipt_key(self) -> bytes:
        """See `Archive.receipt_key`."""
        read = f"SELECT value FROM {self.META} WHERE name = 'receipt_key'"  # noqa: S608

        def find(connection: Connection) -> Any:  # noqa: ANN401 - a row or None
            return connection.execute(read).fetchone()

        def make(connection: Connection) -> Any:  # noqa: ANN401
            connection.execute(
                f"INSERT INTO {self.META} (name, value) VALUES ('receipt_key', ?) "  # noqa: S608
                "ON CONFLICT DO NOTHING",
                (secrets.token_hex(32),),
            )
            return find(connection)

        row = await self._database.read("", find) or await self._database.write("", make)
        return bytes.fromhex(row[0])

    async def restore(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """See `Archive.restore`."""

        def work(connection: Connection) -> tuple[int, int]:
            return restore_turns(connection, owner, sessions=sessions, turns=turns)

        return await self._database.write(owner.tenant, work)

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
    ) -> Erased:
        """See `Archive.erase`. Missing items are ignored, so an unfinished erasure can be repeated.
        Also removes notes of versions and errors of jobs, which may quote the text."""
        whole = session is None and turns is None and sentences is None and facts is None
        external: list[ExternalErasure] = []
        numbers: list[int] = []

        def work(connection: Connection) -> Erased:
            number = locked_owner_id(connection, owner)
            if number is None:
                return _NOTHING
            plan = None
            if not whole:
                plan = erasure_plan(
                    connection,
                    number,
                    session=session,
                    turns=turns or (),
                    sentences=sentences or (),
                    facts=facts or (),
                )
                if plan.empty:
                    return _NOTHING
            numbers[:] = [number]
            if self.elsewhere:
                external[:] = [self.elsewhere.plan_erasure(connection, owner, number, whole=whole)]
            connection.execute("INSERT INTO erasing VALUES (?)", (number,))
            erased = plan.erase(connection) if plan else erase_owner(connection, number)
            connection.execute("DELETE FROM erasing WHERE owner = ?", (number,))
            self._mark(connection)
            return erased

        erased = await self._database.write(owner.tenant, work)
        for number in numbers:
            self._comparer.clear(number)
            self._turn_tables.clear(number)
        if self.elsewhere and external and not await self.elsewhere.remove(external[0]):
            erased = replace(erased, pending=True)
        await self.scrub()
        return erased

    async def scrub(self) -> None:
        """Clean the files of what erasures left behind, if the database can."""

    def _mark(self, connection: Connection) -> None:
        """Mark, in the erasure's transaction, that the files still need cleaning."""
