"""Listing, restoring and erasing owners."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, replace
from functools import partial
from sys import maxsize
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.adapters.stores.sql import slices
from omoide.adapters.stores.sql.erased_owners import note_erasure, noted_erasure
from omoide.adapters.stores.sql.erased_rows import erase_owner, index_traces
from omoide.adapters.stores.sql.erasing import erasure_plan
from omoide.adapters.stores.sql.erasure_findings import (
    NOTHING,
    ErasureRequest,
)
from omoide.adapters.stores.sql.external import users_of
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
    from omoide.adapters.stores.sql.erasure_findings import ErasureSlice, FoundMemories
    from omoide.adapters.stores.sql.external import ExternalErasure, ExternalStorage
    from omoide.adapters.stores.sql.slices import UnfinishedErasure
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Session, Turn

T = TypeVar("T")

_TRIES = 3
"""How often an erasure looks for what must go without a lock."""
_STANDSTILL = 0.25
"""Seconds in which an erasure that goes on removes something."""


@dataclass(frozen=True, kw_only=True)
class StartedErasure:
    """The outcome of an erasure but for what is noted of it."""

    erased: Erased
    number: int | None = None
    """The owner's number; None if there was nothing to erase."""
    elsewhere: ExternalErasure | None = None


@dataclass(frozen=True, kw_only=True)
class PartErasure:
    """How far the erasure of a part is."""

    owner: Owner
    wanted: ErasureRequest
    note: UnfinishedErasure | None = None
    """What is noted of it once something is removed."""
    ours: bool = True
    """Whether this process began with it."""
    plan: ErasurePlan | None = None
    found: FoundMemories | None = None
    """What is left of what was found; None if it has to be looked for."""
    erased: Erased = NOTHING

    @property
    def so_far(self) -> StartedErasure:
        """The outcome if nothing is left for this process."""
        return StartedErasure(erased=self.erased, number=self.note.owner if self.note else None)


class SqlArchive:
    """`Archive` in SQL. Removes rows; each database handles what they leave in its files."""

    META = "meta"
    """The table with values of the whole database."""
    TENANTS = "SELECT DISTINCT tenant FROM owners ORDER BY tenant"
    FIRST, TIMES = slices.ITEMS, 2.5
    """How many items the first slice of a part may remove, and how often `slices.WANTED` each may
    take: a server plans some twenty statements for each."""

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
        part = PartErasure(owner=owner, wanted=wanted)
        started = await (self._erase_owner(owner) if whole else self._erase_part(part))
        if started.number is not None:
            self._comparer.clear(started.number)
            self._turn_tables.clear(started.number)
        erased = await self._finish(started)
        if self.elsewhere and started.elsewhere:
            removed = await self.elsewhere.remove(started.elsewhere)
            erased = erased if removed else replace(erased, pending=True)
        await self.scrub()
        return erased

    async def _erase_part(self, part: PartErasure) -> StartedErasure:
        """Look for what must go without a lock, and remove it if nothing changed meanwhile, in one
        transaction or several. After a few vain tries, or for texts, both is done under the
        lock, for texts all at once."""
        size = slices.SliceSize(size=self.FIRST, most=slices.ITEMS, times=self.TIMES)
        tries = _TRIES if part.wanted.only_turns else 0
        while True:
            most = size.size if part.wanted.only_turns else maxsize
            look = partial(self._look, part=part, most=most)
            found = await self._database.read(part.owner.tenant, look) if tries else None
            work = partial(self._apply_part, part=part, found=found, most=most)
            if found is None or found.last:
                done = await self._database.write(part.owner.tenant, work)
            else:
                done = await self._slice(part.owner.tenant, work, size)
            if isinstance(done, StartedErasure):
                return done
            tries = _TRIES if done else tries - 1
            part = done or replace(part, found=None)

    def _look(self, connection: Connection, part: PartErasure, most: int) -> ErasureSlice | None:
        """What the next transaction removes; None if nothing of it exists."""
        if part.found:
            return part.found.slice(connection, most)
        plan = erasure_plan(connection, owner_id(connection, part.owner) or 0, part.wanted)
        return None if plan.empty else plan.find(connection).slice(connection, most)

    def _apply_part(
        self, connection: Connection, part: PartErasure, found: ErasureSlice | None, most: int
    ) -> PartErasure | StartedErasure | None:
        """Remove what was found; None if it is not as it was found."""
        note, done = part.note, part.so_far
        if note and not self._notes.hold(connection, note, wait=part.ours):
            return done  # another process has finished it, or goes on with it
        number = locked_owner_id(connection, part.owner) or 0
        if part.plan and found and not (found.found.fresh or found.last):
            plan = part.plan
        else:
            plan = erasure_plan(connection, number, part.wanted)
        if not number or plan.empty or (note and note.owner != number):
            if note:
                self._notes.remove(connection, note)
            return done
        if found is None:
            found = plan.find(connection).slice(connection, most)
        elif not plan.holds(connection, found):
            return None
        external = None
        if self.elsewhere:
            external = self.elsewhere.plan_erasure(connection, part.owner, number, whole=False)
        connection.execute("INSERT INTO erasing VALUES (?)", (number,))
        erased = _sum(part.erased, plan.erase(connection, found))
        connection.execute("DELETE FROM erasing WHERE owner = ?", (number,))
        self._mark(connection)
        if found.last:
            if note:
                self._notes.remove(connection, note)
            return StartedErasure(erased=erased, number=number, elsewhere=external)
        note = note or self._notes.add_part(connection, part.owner, number, part.wanted)
        left = replace(found.left, state=plan.state(connection))
        return replace(part, note=note, plan=plan, found=left, erased=erased)

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
        if items <= slices.ITEMS:
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
        noted = await self._database.read("", self._notes.all)
        await self._finish_parts([erasure for erasure in noted if erasure.wanted])
        for erasure in noted:
            if not erasure.wanted:
                ours = started is not None and started.number == erasure.owner
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

    async def _finish_parts(self, noted: Sequence[UnfinishedErasure]) -> None:
        """Go on with erasures that were interrupted: with those that nobody goes on with."""

        async def states() -> list[Any]:
            return [await self._database.read(note.tenant, note.state) for note in noted]

        before = await states()
        await asyncio.sleep(_STANDSTILL if noted else 0)
        for note, old, row in zip(noted, before, await states(), strict=True):
            if row == old and note.wanted:
                owner = Owner(tenant=note.tenant, user=row[0] if row else "-")
                await self._erase_part(
                    PartErasure(owner=owner, wanted=note.wanted, note=note, ours=False)
                )

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
