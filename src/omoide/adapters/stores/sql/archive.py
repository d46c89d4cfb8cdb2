"""Listing, restoring and erasing owners."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erased_rows import erase_owner, erase_turns, remove_session
from omoide.adapters.stores.sql.erasing import ErasureRequest, erasure_plan
from omoide.adapters.stores.sql.external import is_erased_owner
from omoide.adapters.stores.sql.items import TURNS, postings_of
from omoide.adapters.stores.sql.restoring import restore_turns
from omoide.adapters.stores.sql.rows import erasure_mark, locked_owner_id, owner_id
from omoide.domain import Owner
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.erasing import ErasurePlan
    from omoide.adapters.stores.sql.erasure_findings import FoundMemories
    from omoide.adapters.stores.sql.external import ExternalErasure, ExternalStorage
    from omoide.adapters.stores.sql.items import Posting
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Session, Turn

NOTHING = Erased(sessions=0, turns=0, sentences=0)
"""The outcome if nothing is there to be erased."""
_TRIES = 3
"""How often an erasure looks for what must go without a lock."""


@dataclass(frozen=True, kw_only=True)
class FoundErasure:
    """What was found before an erasure of a part took its lock."""

    memories: FoundMemories
    postings: list[Posting]
    """Those of the first turns."""


@dataclass(frozen=True, kw_only=True)
class StartedErasure:
    """The outcome of the first transaction of an erasure."""

    erased: Erased
    number: int | None = None
    """The owner's number; None if there was nothing to erase."""
    elsewhere: ExternalErasure | None = None


class SqlArchive:
    """`Archive` in SQL. Removes rows; each database handles what they leave in its files."""

    TURNS_AT_ONCE: int | None = None
    """Most turns that one transaction removes; None if there is no limit, because the database
    locks only the owner."""
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
        wanted = ErasureRequest(
            session=session,
            turns=tuple(turns or ()),
            sentences=tuple(sentences or ()),
            facts=tuple(facts or ()),
        )
        whole = session is None and turns is None and sentences is None and facts is None
        started = await (self._erase_owner(owner) if whole else self._erase_part(owner, wanted))
        if started.number is not None:
            self._comparer.clear(started.number)
            self._turn_tables.clear(started.number)
        erased = await self._finish(started)
        if self.elsewhere and started.elsewhere:
            removed = await self.elsewhere.remove(started.elsewhere)
            erased = erased if removed else replace(erased, pending=True)
        await self.scrub()
        return erased

    async def _erase_part(self, owner: Owner, wanted: ErasureRequest) -> StartedErasure:
        """Look for what must go without a lock, and remove it if nothing changed meanwhile. After
        a few vain tries, or for texts, both is done under the lock."""
        for _ in range(_TRIES if wanted.only_turns else 0):

            def look(connection: Connection) -> FoundErasure | None:
                number = owner_id(connection, owner)
                plan = None if number is None else erasure_plan(connection, number, wanted)
                return None if plan is None or plan.empty else self._found(connection, plan)

            found = await self._database.read(owner.tenant, look)
            if found is None:
                break
            apply = partial(self._apply_part, owner=owner, wanted=wanted, found=found)
            if started := await self._database.write(owner.tenant, apply):
                return started
        apply = partial(self._apply_part, owner=owner, wanted=wanted, found=None)
        return await self._database.write(owner.tenant, apply) or StartedErasure(erased=NOTHING)

    def _found(self, connection: Connection, plan: ErasurePlan) -> FoundErasure:
        """What must go with the plan, and the postings of the turns that the same transaction
        removes."""
        at_once = plan.positions[: self.TURNS_AT_ONCE]
        return FoundErasure(
            memories=plan.find(connection),
            postings=postings_of(connection, plan.owner, TURNS, at_once),
        )

    def _apply_part(
        self,
        connection: Connection,
        owner: Owner,
        wanted: ErasureRequest,
        found: FoundErasure | None,
    ) -> StartedErasure | None:
        """Remove the memories and the first turns. None if they are not as they were found."""
        number = locked_owner_id(connection, owner)
        plan = None if number is None else erasure_plan(connection, number, wanted)
        if number is None or plan is None or plan.empty:
            return StartedErasure(erased=NOTHING)
        if found is None:
            found = self._found(connection, plan)
        elif not plan.holds(connection, found.memories):
            return None
        external = None
        if self.elsewhere:
            external = self.elsewhere.plan_erasure(connection, owner, number, whole=False)
        connection.execute("INSERT INTO erasing VALUES (?)", (number,))
        erased = plan.erase_memories(connection, found.memories)
        at_once = plan.positions[: self.TURNS_AT_ONCE]
        if at_once:
            erase_turns(connection, number, at_once, postings=found.postings)
        if len(at_once) < len(plan.positions):
            self._leave_turns(connection, plan, plan.positions[len(at_once) :])
        elif plan.session is not None:
            remove_session(connection, number, plan.session)
        connection.execute("DELETE FROM erasing WHERE owner = ?", (number,))
        self._mark(connection)
        return StartedErasure(erased=erased, number=number, elsewhere=external)

    async def _erase_owner(self, owner: Owner) -> StartedErasure:
        def work(connection: Connection) -> StartedErasure:
            number = locked_owner_id(connection, owner)
            if number is None:
                return StartedErasure(erased=NOTHING)
            external = None
            if self.elsewhere:
                external = self.elsewhere.plan_erasure(connection, owner, number, whole=True)
            connection.execute("INSERT INTO erasing VALUES (?)", (number,))
            erased = self._remove_owner(connection, number)
            connection.execute("DELETE FROM erasing WHERE owner = ?", (number,))
            self._mark(connection)
            return StartedErasure(erased=erased, number=number, elsewhere=external)

        return await self._database.write(owner.tenant, work)

    def _remove_owner(self, connection: Connection, number: int) -> Erased:
        """Remove the rows of an owner, or begin with it and leave the rest to `_finish`."""
        return erase_owner(connection, number)

    def _leave_turns(
        self, connection: Connection, plan: ErasurePlan, positions: Sequence[int]
    ) -> None:
        """Note, in the erasure's transaction, which turns `_finish` has to remove. Needed only with
        `TURNS_AT_ONCE`."""
        raise NotImplementedError

    async def _finish(self, started: StartedErasure) -> Erased:
        """Remove what the first transaction of an erasure left, and return what was removed in
        all."""
        return started.erased

    async def scrub(self) -> None:
        """Clean the files of what erasures left behind, if the database can."""

    def _mark(self, connection: Connection) -> None:
        """Mark, in the erasure's transaction, that the files still need cleaning."""
