"""Search by words in the database and by vectors in a separate index.

The database keeps a ledger of the vectors that the index has: rows of its own table `vectors`, with
one number in place of each vector, in a space whose name says where the vectors are. A vector is
written to the index first and to the ledger second. If the second write fails, the job repeats
both. If the item was erased in between, its vector is removed. If the process also died in between,
the erasure's own job removes it (`removing`).
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.index import SqlIndex, check_shape, space_id
from omoide.adapters.stores.sql.items import item_table
from omoide.adapters.stores.sql.rows import owner_id
from omoide.adapters.stores.sql.vectors import Compared, NearItem
from omoide.domain import MemoryKind
from omoide.errors import VectorsUnavailable
from omoide.ports.vectors import VectorItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.outside.place import Place
    from omoide.adapters.stores.outside.removing import VectorRemoval
    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.items import ItemTable
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import Floats, Numbers, VectorComparer, VectorKey
    from omoide.domain import Owner
    from omoide.ports import Hit, Space, TextToEmbed, Vectors
    from omoide.ports.store import SearchData
    from omoide.ports.vectors import VectorIndex, VectorOwner

log = logging.getLogger(__name__)


class OutsideNearness:
    """`VectorComparer` that asks a vector index. `inner` reads and writes the database's own
    column."""

    def __init__(self, inner: VectorComparer, vectors: VectorIndex, place: Place) -> None:
        self._inner = inner
        self._vectors = vectors
        self._place = place

    def written(self, vector: Floats) -> object:
        """See `VectorComparer.written`: a single number in place of the vector."""
        return self._inner.written(vector[:1] * 0)

    def read(self, value: Any) -> Floats:  # noqa: ANN401 - as the database gives it
        """See `VectorComparer.read`."""
        return self._inner.read(value)

    def nearest(
        self, connection: Connection, key: VectorKey, query: Floats, *, k: int
    ) -> list[NearItem]:
        """See `VectorComparer.nearest`. Skips vectors that are not in the ledger, because their
        items are hidden or erased, and requests more instead."""
        highest = _highest_number(connection, key)
        wanted = min(max(k, 0), highest)
        if not wanted:
            return []
        limit = wanted + 1  # one more, to see whether there is a tie with the last
        while True:
            items, cosines = self._near(connection, key, query, limit=min(limit, highest))
            known = self._known(connection, key, items)
            near = sorted(
                (
                    NearItem(item=int(item), cosine=float(cosine))
                    for item, cosine in zip(items, cosines, strict=True)
                    if int(item) in known
                ),
                key=lambda n: (-n.cosine, -n.item),
            )
            tied = len(near) > wanted and near[wanted].cosine == near[wanted - 1].cosine
            if len(items) < limit or (len(near) >= wanted and not tied):
                return near[:wanted]
            limit *= 2

    def cosines(self, connection: Connection, key: VectorKey, query: Floats) -> Compared:
        """See `VectorComparer.cosines`. May include items that are no longer in the database; the
        turn table filters them out."""
        highest = _highest_number(connection, key)
        items, cosines = self._near(connection, key, query, limit=highest)
        return Compared(items=items, cosines=cosines)

    def clear(self, owner: int) -> None:
        """See `VectorComparer.clear`: nothing is cached."""

    def _near(
        self, connection: Connection, key: VectorKey, query: Floats, *, limit: int
    ) -> tuple[Numbers, Floats]:
        owner = self._place.owner_points(connection, key.owner, key.space)
        return self._vectors.nearest(owner, key.kind, query, limit=limit)

    @staticmethod
    def _known(connection: Connection, key: VectorKey, items: Numbers) -> set[int]:
        rows = connection.execute(
            "SELECT item FROM vectors INDEXED BY vectors_item WHERE owner = ? AND space = ? "
            "AND kind = ? AND item IN (SELECT value FROM json_each(?))",
            (key.owner, key.space, key.kind, items.tolist()),
        )
        return {row[0] for row in rows}


def _highest_number(connection: Connection, key: VectorKey) -> int:
    """The highest item number assigned for the kind, hence the most items there can be."""
    row = connection.execute(
        "SELECT given FROM counts WHERE owner = ? AND kind = ?", (key.owner, key.kind)
    ).fetchone()
    return int(row[0]) if row else 0


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where to write vectors, and the items they belong to, by id."""

    owner: VectorOwner
    items: dict[str, VectorItem]


class JoinedIndex(SqlIndex):
    """`SearchIndex` and `ExternalVectors` with the vectors in a `VectorIndex`."""

    def __init__(
        self,
        database: Database,
        comparer: OutsideNearness,
        turn_tables: TurnTableCache,
        *,
        vectors: VectorIndex,
        place: Place,
        removing: VectorRemoval,
    ) -> None:
        super().__init__(database, comparer, turn_tables)
        self._vectors = vectors
        self._place = place
        self._removing = removing

    async def search_data(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> SearchData:
        """See `SearchIndex.search_data`, and `ExternalVectors`."""
        ledger = self._place.ledger(space) if space else None
        try:
            return await super().search_data(owner, terms, space=ledger, query=query)
        except VectorsUnavailable as error:
            return replace(await super().search_data(owner, terms), degraded=str(error))

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[TextToEmbed, ...]:
        """See `SearchIndex.without_vector`."""
        return await super().without_vector(
            owner, self._place.ledger(space), limit=limit, kind=kind
        )

    async def nearest(
        self,
        owner: Owner,
        space: Space,
        query: Vectors,
        *,
        k: int,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> tuple[Hit, ...]:
        """See `SearchIndex.nearest`, and `ExternalVectors`."""
        ledger = self._place.ledger(space)
        try:
            return await super().nearest(owner, ledger, query, k=k, kind=kind)
        except VectorsUnavailable:  # `Resting` has logged it
            return ()

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> None:
        """See `SearchIndex.put`. Raises `VectorsUnavailable`."""
        table, ledger = item_table(kind), self._place.ledger(space)
        check_shape(ledger, ids, vectors)
        rows = dict(zip(ids, vectors, strict=True))
        make = partial(self._target, owner=owner, ledger=ledger, table=table, ids=list(rows))
        target = await self._database.write(owner.tenant, make)
        if target is None:
            return
        import numpy as np

        chosen = np.stack([rows[name] for name in target.items])
        items = list(target.items.values())
        await asyncio.to_thread(self._vectors.put, target.owner, items, chosen)
        written = {name: self._comparer.written(rows[name]) for name in target.items}
        kept = await self._write(owner, ledger, written, table)
        if gone := [item for item in items if item.number not in kept]:
            await asyncio.to_thread(self._vectors.remove, target.owner, gone)

    async def reconcile(self, owner: Owner) -> None:
        """See `ExternalVectors.reconcile`."""
        await self._removing.reconcile(owner)

    def _target(
        self,
        connection: Connection,
        *,
        owner: Owner,
        ledger: Space,
        table: ItemTable,
        ids: Sequence[str],
    ) -> _Target | None:
        number = owner_id(connection, owner)
        space = space_id(connection, ledger, create=True)
        rows: list[Any] = connection.execute(
            f"SELECT id, {table.item} FROM {table.by_id} "  # noqa: S608
            "WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) "
            f"AND {table.hidden} IS NULL ORDER BY {table.item}",
            (number, list(ids)),
        ).fetchall()
        if number is None or space is None or not rows:
            return None
        return _Target(
            owner=self._place.owner_points(connection, number, space),
            items={name: VectorItem(table.kind, item) for name, item in rows},
        )
