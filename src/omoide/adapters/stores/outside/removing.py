"""Removes erased vectors from the vector index and reconciles it with the database."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.external import ExternalErasure, erased_owner, erased_owner_name
from omoide.adapters.stores.sql.items import ITEM_TABLES
from omoide.adapters.stores.sql.jobs import AT_ONCE, insert_job, queue_embedding
from omoide.adapters.stores.sql.rows import ensured_owner_id, locked_owner_id, owner_id
from omoide.domain import JobTask, Owner
from omoide.errors import VectorsUnavailable
from omoide.ports.vectors import VectorItem, VectorOwner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.adapters.stores.outside.place import Place
    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.ports.vectors import VectorIndex

log = logging.getLogger(__name__)

GRACE = 60_000_000
"""Microseconds after the end of a worker's lease until everything it sent must have arrived."""


class VectorRemoval:
    """`ExternalStorage` for vectors in a `VectorIndex`."""

    def __init__(self, database: Database, vectors: VectorIndex, place: Place) -> None:
        self._database = database
        self._vectors = vectors
        self._place = place

    def plan_erasure(
        self, connection: Connection, owner: Owner, number: int, *, whole: bool
    ) -> ExternalErasure:
        """See `ExternalStorage.plan_erasure`. The job's creation time is that of the last turn,
        since stores read no clock."""
        [(until,)] = connection.execute(
            "SELECT max(until) FROM jobs WHERE owner = ? AND task = 'embed' "
            "AND state IN ('waiting', 'running') AND state = 'running'",
            (number,),
        )
        [(last,)] = connection.execute(
            "SELECT coalesce(max(last), 0) FROM sessions WHERE owner = ?", (number,)
        )
        if whole:
            placeholder = ensured_owner_id(connection, _placeholder(owner, number))
            insert_job(
                connection,
                owner=placeholder,
                task=JobTask.EMBED,
                session=None,
                created=last,
                due=AT_ONCE if until is None else until + GRACE,
            )
        else:
            queue_embedding(connection, owner=number, created=last)
        return ExternalErasure(owner=owner, number=number, whole=whole, awaited=until is not None)

    async def remove(self, erasure: ExternalErasure) -> bool:
        """See `ExternalStorage.remove`."""
        try:
            if not erasure.whole:
                await self._sweep(erasure.owner, erasure.number)
            elif not erasure.awaited:
                await self._finish_owner(
                    _placeholder(erasure.owner, erasure.number), erasure.number
                )
            else:
                await self._remove_all(erasure.owner.tenant, erasure.number)
        except VectorsUnavailable as error:
            log.warning("erased vectors will be removed later, by a job: %s", error)
            return False
        return True

    async def reconcile(self, owner: Owner) -> None:
        """See `ExternalVectors.reconcile`. Compares counts first, and reads the items only if they
        differ."""
        if (number := erased_owner(owner.user)) is not None:
            await self._finish_owner(owner, number)
            return

        def ledger(connection: Connection) -> list[tuple[int, VectorOwner, int]]:
            known = owner_id(connection, owner)
            if known is None:
                return []
            counted: list[Any] = connection.execute(
                "SELECT space, count(*) FROM vectors WHERE owner = ? GROUP BY space", (known,)
            ).fetchall()
            counts = dict(counted)
            return [
                (space, self._place.owner_points(connection, known, space), counts.get(space, 0))
                for space in self._spaces(connection)
            ]

        for space, points, count in await self._database.read(owner.tenant, ledger):
            if await asyncio.to_thread(self._vectors.count, points) != count:
                left = await self._sweep_space(owner, points)
                await self._forget_missing(owner, space, left)

    def _spaces(self, connection: Connection) -> list[int]:
        rows = connection.execute("SELECT id, name FROM spaces ORDER BY id").fetchall()
        return [number for number, name in rows if name.endswith(self._place.suffix)]

    async def _sweep(self, owner: Owner, number: int) -> None:
        def where(connection: Connection) -> list[VectorOwner]:
            return [
                self._place.owner_points(connection, number, space)
                for space in self._spaces(connection)
            ]

        for points in await self._database.read(owner.tenant, where):
            await self._sweep_space(owner, points)

    async def _sweep_space(self, owner: Owner, points: VectorOwner) -> frozenset[VectorItem]:
        """Remove the vectors of items that a search can no longer find, and return the rest. Safe
        at any time: an item exists before its vector is put."""
        indexed = await asyncio.to_thread(self._vectors.items, points)

        def work(connection: Connection) -> frozenset[VectorItem]:
            return _findable(connection, points.owner, indexed)

        left = await self._database.read(owner.tenant, work)
        if gone := sorted(indexed - left):
            await asyncio.to_thread(self._vectors.remove, points, gone)
        return left

    async def _forget_missing(
        self, owner: Owner, space: int, indexed: frozenset[VectorItem]
    ) -> None:
        """Remove items without a vector from the ledger, so that they are embedded again."""

        def work(connection: Connection) -> None:
            number = locked_owner_id(connection, owner)
            rows: list[Any] = connection.execute(
                "SELECT kind, item FROM vectors WHERE owner = ? AND space = ?", (number, space)
            ).fetchall()
            for kind, item in (row for row in rows if VectorItem(*row) not in indexed):
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
            points = VectorOwner(
                collection=self._place.collection(space), tenant=tenant, owner=number
            )
            await asyncio.to_thread(self._vectors.remove, points)

    async def _finish_owner(self, placeholder: Owner, number: int) -> None:
        """Remove all vectors of an erased owner, and then the placeholder with its job."""
        await self._remove_all(placeholder.tenant, number)

        def work(connection: Connection) -> None:
            if row := locked_owner_id(connection, placeholder):
                for statement in (
                    "DELETE FROM jobs WHERE owner = ?",
                    "DELETE FROM owners WHERE id = ?",
                ):
                    connection.execute(statement, (row,))

        await self._database.write(placeholder.tenant, work)


def _placeholder(owner: Owner, number: int) -> Owner:
    return Owner(tenant=owner.tenant, user=erased_owner_name(number))


def _findable(
    connection: Connection, owner: int, items: Iterable[VectorItem]
) -> frozenset[VectorItem]:
    by_kind: dict[int, list[int]] = {}
    for item in items:
        by_kind.setdefault(item.kind, []).append(item.number)
    found: set[VectorItem] = set()
    for table in ITEM_TABLES:
        numbers: Sequence[int] = by_kind.get(table.kind, ())
        rows = connection.execute(
            f"SELECT {table.item} FROM {table.table} WHERE owner = ? "  # noqa: S608
            f"AND {table.item} IN (SELECT value FROM json_each(?)) AND {table.hidden} IS NULL",
            (owner, sorted(numbers)),
        )
        found |= {VectorItem(table.kind, row[0]) for row in rows}
    return frozenset(found)
