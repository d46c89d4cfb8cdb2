"""How erasures reach Qdrant, and how it is brought in line with the database otherwise."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.qdrant.points import Item, Whose
from omoide.adapters.stores.sql.elsewhere import Doom, buried, grave_name
from omoide.adapters.stores.sql.items import EVENTS, MEMOS, TURNS
from omoide.adapters.stores.sql.jobs import AT_ONCE, insert_job, queue_embedding
from omoide.adapters.stores.sql.rows import held_owner_id, owner_id, settled_owner_id
from omoide.domain import Owner, Task
from omoide.errors import VectorsUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.adapters.stores.qdrant.place import Place
    from omoide.adapters.stores.qdrant.points import Points
    from omoide.adapters.stores.sql.connection import Connection, Database

log = logging.getLogger(__name__)

GRACE = 60_000_000
"""Microseconds after the end of a worker's hold by which whatever it sent has arrived."""


class Removing:
    """`Elsewhere` for the points of a database."""

    def __init__(self, database: Database, points: Points, place: Place) -> None:
        self._database = database
        self._points = points
        self._place = place

    def doom(self, connection: Connection, owner: Owner, number: int, *, whole: bool) -> Doom:
        """See `Elsewhere.doom`. The job is as old as the last thing said: stores read no clock."""
        [(until,)] = connection.execute(
            "SELECT max(until) FROM jobs WHERE owner = ? AND task = 'embed' "
            "AND state IN ('waiting', 'running') AND state = 'running'",
            (number,),
        )
        [(last,)] = connection.execute(
            "SELECT coalesce(max(last), 0) FROM sessions WHERE owner = ?", (number,)
        )
        if whole:
            grave = settled_owner_id(connection, _grave(owner, number))
            insert_job(
                connection,
                owner=grave,
                task=Task.EMBED,
                session=None,
                created=last,
                due=AT_ONCE if until is None else until + GRACE,
            )
        else:
            queue_embedding(connection, owner=number, created=last)
        return Doom(owner=owner, number=number, whole=whole, awaited=until is not None)

    async def remove(self, doom: Doom) -> bool:
        """See `Elsewhere.remove`."""
        try:
            if not doom.whole:
                await self._sweep(doom.owner, doom.number)
            elif not doom.awaited:
                await self._bury(_grave(doom.owner, doom.number), doom.number)
            else:
                await self._remove_all(doom.owner.tenant, doom.number)
        except VectorsUnavailable as error:
            log.warning("vectors of what was erased are removed as soon as possible: %s", error)
            return False
        return True

    async def tidy(self, owner: Owner) -> None:
        """See `Derived.tidy`. Points are counted, and only if there are too many or too few are
        they looked at."""
        if (number := buried(owner.user)) is not None:
            await self._bury(owner, number)
            return

        def ledger(connection: Connection) -> list[tuple[int, Whose, int]]:
            known = owner_id(connection, owner)
            if known is None:
                return []
            counted: list[Any] = connection.execute(
                "SELECT space, count(*) FROM vectors WHERE owner = ? GROUP BY space", (known,)
            ).fetchall()
            counts = dict(counted)
            return [
                (space, self._place.whose(connection, known, space), counts.get(space, 0))
                for space in self._spaces(connection)
            ]

        for space, whose, count in await self._database.read(owner.tenant, ledger):
            if await asyncio.to_thread(self._points.count, whose) != count:
                held = await self._sweep_space(owner, whose)
                await self._let_go(owner, space, held)

    def _spaces(self, connection: Connection) -> list[int]:
        rows = connection.execute("SELECT id, name FROM spaces ORDER BY id").fetchall()
        return [number for number, name in rows if name.endswith(self._place.suffix)]

    async def _sweep(self, owner: Owner, number: int) -> None:
        def where(connection: Connection) -> list[Whose]:
            return [
                self._place.whose(connection, number, space) for space in self._spaces(connection)
            ]

        for whose in await self._database.read(owner.tenant, where):
            await self._sweep_space(owner, whose)

    async def _sweep_space(self, owner: Owner, whose: Whose) -> frozenset[Item]:
        """Remove the points of what a search could not find any more; what is left. What is
        just being put has its item, so that this may happen at any time."""
        held = await asyncio.to_thread(self._points.items, whose)

        def found(connection: Connection) -> frozenset[Item]:
            return _findable(connection, whose.owner, held)

        left = await self._database.read(owner.tenant, found)
        if gone := sorted(held - left):
            await asyncio.to_thread(self._points.remove, whose, gone)
        return left

    async def _let_go(self, owner: Owner, space: int, held: frozenset[Item]) -> None:
        """Strike out of the ledger what has no point, so that it is embedded again."""

        def work(connection: Connection) -> None:
            number = held_owner_id(connection, owner)
            rows: list[Any] = connection.execute(
                "SELECT kind, item FROM vectors WHERE owner = ? AND space = ?", (number, space)
            ).fetchall()
            for kind, item in (row for row in rows if Item(*row) not in held):
                connection.execute(
                    "DELETE FROM vectors WHERE owner = ? AND space = ? AND kind = ? AND item = ?",
                    (number, space, kind, item),
                )
                connection.execute(
                    "UPDATE embedded SET upto = ?1 - 1 WHERE owner = ?2 AND space = ?3 "
                    "AND kind = ?4 AND upto >= ?1",
                    (item, number, space, kind),
                )

        await self._database.write(owner.tenant, work)

    async def _remove_all(self, tenant: str, number: int) -> None:
        spaces = await self._database.read(tenant, self._spaces)
        for space in spaces:
            whose = Whose(collection=self._place.collection(space), tenant=tenant, owner=number)
            await asyncio.to_thread(self._points.remove, whose)

    async def _bury(self, grave: Owner, number: int) -> None:
        """Remove all points of an erased owner, and then what stood in for them."""
        await self._remove_all(grave.tenant, number)

        def work(connection: Connection) -> None:
            if row := held_owner_id(connection, grave):
                for statement in (
                    "DELETE FROM jobs WHERE owner = ?",
                    "DELETE FROM owners WHERE id = ?",
                ):
                    connection.execute(statement, (row,))

        await self._database.write(grave.tenant, work)


def _grave(owner: Owner, number: int) -> Owner:
    return Owner(tenant=owner.tenant, user=grave_name(number))


def _findable(connection: Connection, owner: int, items: Iterable[Item]) -> frozenset[Item]:
    by_kind: dict[int, list[int]] = {}
    for item in items:
        by_kind.setdefault(item.kind, []).append(item.number)
    found: set[Item] = set()
    for shelf in (TURNS, EVENTS, MEMOS):
        numbers: Sequence[int] = by_kind.get(shelf.kind, ())
        rows = connection.execute(
            f"SELECT {shelf.item} FROM {shelf.table} WHERE owner = ? "  # noqa: S608
            f"AND {shelf.item} IN (SELECT value FROM json_each(?)) AND {shelf.successor} IS NULL",
            (owner, sorted(numbers)),
        )
        found |= {Item(shelf.kind, row[0]) for row in rows}
    return frozenset(found)
