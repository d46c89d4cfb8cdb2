"""Listing, restoring and erasing owners."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.erased_owners import note_erasure, noted_erasure
from omoide.adapters.stores.sql.erased_rows import (
    erase_owner,
    erase_turns,
    index_traces,
    remove_session,
)
from omoide.adapters.stores.sql.erasing import ErasureRequest, erasure_plan
from omoide.adapters.stores.sql.external import users_of
from omoide.adapters.stores.sql.items import TURNS, postings_of
from omoide.adapters.stores.sql.restoring import restore_turns
from omoide.adapters.stores.sql.rows import locked_owner_id, mark_of, marked_owner, owner_id
from omoide.domain import Owner
from omoide.domain.erasure_note import note_name
from omoide.ports import Erased
from omoide.ports.store import IndexTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.erasing import ErasurePlan
    from omoide.adapters.stores.sql.erasure_findings import FoundMemories
    from omoide.adapters.stores.sql.external import ExternalErasure, ExternalStorage
    from omoide.adapters.stores.sql.items import Posting
    from omoide.adapters.stores.sql.slices import UnfinishedErasure
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Session, Turn

T = TypeVar("T")

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

    META = "meta"
    """The table with values of the whole database."""
    TENANTS = "SELECT DISTINCT tenant FROM owners ORDER BY tenant"

    def __init__(
        self, database: Database, comparer: VectorComparer, turn_tables: TurnTableCache
    ) -> None:
        self._database = database
        self._comparer = comparer
        self._turn_tables = turn_tables
        self._notes = slices.ErasureNotes(table=self.META)
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
        users = await self._database.read(tenant, partial(users_of, tenant=tenant))
        return tuple(Owner(tenant=tenant, user=user) for user in users)

    async def erasure_mark(self, owner: Owner) -> str:
        """See `Archive.erasure_mark`."""
        return await self._database.read(owner.tenant, partial(mark_of, owner=owner))

    async def traces(
        self, owner: Owner, turns: Sequence[Turn], *, terms: Sequence[str], mark: str
    ) -> IndexTraces:
        """See `Archive.traces`."""
        if not mark:
            return IndexTraces()
        look = partial(index_traces, turns=turns, terms=terms, owner=marked_owner(mark))
        return await self._database.read(owner.tenant, look)

    async def note_erasure(self, owner: Owner, *, at: datetime) -> None:
        """See `Archive.note_erasure`."""
        name = note_name(await self.receipt_key(), owner)
        await self._database.write("", partial(note_erasure, table=self.META, name=name, at=at))

    async def last_erasure(self, owner: Owner) -> datetime | None:
        """See `Archive.last_erasure`."""
        name = note_name(await self.receipt_key(), owner)
        return await self._database.read("", partial(noted_erasure, table=self.META, name=name))

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
        at_once = plan.positions[: slices.FIRST_TURNS]
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
        at_once = plan.positions[: slices.FIRST_TURNS]
        if at_once:
            erase_turns(connection, number, at_once, postings=found.postings)
        if len(at_once) < len(plan.positions):
            self._notes.add_turns(connection, plan, plan.positions[len(at_once) :])
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
        """Remove the rows of an owner, or begin with it and leave the rest to `_finish`. Here a
        large one only loses the name and the jobs: whoever writes under it meanwhile does not wait,
        and no worker does."""
        [(items,)] = connection.execute(
            "SELECT coalesce(sum(given), 0) FROM counts WHERE owner = ?", (number,)
        )
        if items <= slices.TURNS:
            return erase_owner(connection, number)
        self._notes.add_owner(connection, number)
        connection.execute("DELETE FROM jobs WHERE owner = ?", (number,))
        return NOTHING

    def _remove_more(
        self, connection: Connection, number: int, sizes: slices.TableSliceSizes
    ) -> tuple[Erased, bool]:
        """Remove some rows of an owner without a name, or all; whether all are."""
        del sizes
        return erase_owner(connection, number), True

    async def resume(self) -> None:
        """Finish what interrupted erasures left to be done."""
        await self._finish(None)

    async def _finish(self, started: StartedErasure | None) -> Erased:
        """Remove what the first transaction of this erasure left, and what others left that were
        interrupted. Returns what this one removed in all."""
        erased = started.erased if started else NOTHING
        for erasure in await self._database.read("", self._notes.all):
            ours = started is not None and started.number == erasure.owner
            if erasure.positions is not None:
                await self._finish_turns(erasure, erasure.positions, wait=ours)
            else:
                more = await self._finish_owner(erasure, wait=ours)
                erased = _sum(erased, more) if ours else erased
        return erased

    async def _finish_owner(self, erasure: UnfinishedErasure, *, wait: bool) -> Erased:
        """Remove everything of an owner. Without `wait` another process may be doing it."""
        sizes = slices.TableSliceSizes()

        def work(connection: Connection) -> tuple[Erased, bool]:
            if not self._notes.hold(connection, erasure, wait=wait):
                return NOTHING, True
            connection.execute("INSERT INTO erasing VALUES (?)", (erasure.owner,))
            erased, done = self._remove_more(connection, erasure.owner, sizes)
            connection.execute("DELETE FROM erasing WHERE owner = ?", (erasure.owner,))
            if done:
                self._notes.remove(connection, erasure)
            return erased, done

        erased, done = NOTHING, False
        while not done:
            more, done = await self._slice(erasure.tenant, work, sizes)
            erased = _sum(erased, more)
        return erased

    async def _finish_turns(
        self, erasure: UnfinishedErasure, positions: Sequence[int], *, wait: bool
    ) -> None:
        """Remove turns of an owner, and with the last of them the session."""
        size = slices.SliceSize(size=slices.FIRST_TURNS, most=slices.TURNS)
        while positions:
            chosen, positions = positions[: size.size], positions[size.size :]
            look = partial(postings_of, owner=erasure.owner, table=TURNS, items=chosen)
            removing = partial(
                self._remove_turns,
                erasure=erasure,
                positions=chosen,
                postings=await self._database.read(erasure.tenant, look),
                last=not positions,
                wait=wait,
            )
            if not await self._slice(erasure.tenant, removing, size):
                return

    def _remove_turns(
        self,
        connection: Connection,
        *,
        erasure: UnfinishedErasure,
        positions: Sequence[int],
        postings: Sequence[Posting],
        last: bool,
        wait: bool,
    ) -> bool:
        """Remove some of the turns, and after the last the note; False if another process does."""
        if not self._notes.hold(connection, erasure, wait=wait):
            return False
        connection.execute("INSERT INTO erasing VALUES (?)", (erasure.owner,))
        erase_turns(connection, erasure.owner, positions, postings=postings)
        if last and erasure.session is not None:
            remove_session(connection, erasure.owner, erasure.session)
        connection.execute("DELETE FROM erasing WHERE owner = ?", (erasure.owner,))
        if last:
            self._notes.remove(connection, erasure)
        return True

    async def _slice(
        self,
        tenant: str,
        work: Callable[[Connection], T],
        size: slices.SliceSize | slices.TableSliceSizes,
    ) -> T:
        """Run a slice, choose the size of the next, and leave the others as much time."""

        def timed(connection: Connection) -> tuple[T, float]:
            began = time.monotonic()
            return work(connection), time.monotonic() - began

        began = time.monotonic()
        result, seconds = await self._database.write(tenant, timed)
        taken = time.monotonic() - began
        size.adapt(seconds, await self._pages_written())
        await slices.leave_time(taken)
        return result

    async def _pages_written(self) -> int:
        """How many pages were written since the last call, if the database counts them."""
        return 0

    async def scrub(self) -> None:
        """Clean the files of what erasures left behind, if the database can."""

    def _mark(self, connection: Connection) -> None:
        """Mark, in the erasure's transaction, that the files still need cleaning."""


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
