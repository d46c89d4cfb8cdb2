"""Search by words in the database, and by vectors in Qdrant.

The database keeps a ledger of the vectors that Qdrant has: rows of its own table of vectors, with a
single number in the place of each, in a space whose name says where they are. A vector is put into
Qdrant first and into the ledger then. If the second fails, the first is done again with the job.
If the item was erased in between, its point is removed; if the process died in between as well,
the erasure's own job removes it (`removing`).
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.qdrant.points import Item
from omoide.adapters.stores.sql.index import SqlIndex, check_shape, space_id
from omoide.adapters.stores.sql.items import shelf_of
from omoide.adapters.stores.sql.nearness import Near
from omoide.adapters.stores.sql.rows import owner_id
from omoide.domain import Kind
from omoide.errors import VectorsUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.qdrant.place import Place
    from omoide.adapters.stores.qdrant.points import Points, Whose
    from omoide.adapters.stores.qdrant.removing import Removing
    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.items import Shelf
    from omoide.adapters.stores.sql.nearness import Floats, Key, Nearness, Numbers
    from omoide.adapters.stores.sql.outlines import Outlines
    from omoide.domain import Owner
    from omoide.ports import Hit, Space, Text, Vectors
    from omoide.ports.store import Survey

log = logging.getLogger(__name__)


class FromPoints:
    """`Nearness` by Qdrant. What the database's own column holds is `inner`'s affair."""

    def __init__(self, inner: Nearness, points: Points, place: Place) -> None:
        self._inner = inner
        self._points = points
        self._place = place

    def written(self, vector: Floats) -> object:
        """See `Nearness.written`: one number, whatever the vector."""
        return self._inner.written(vector[:1] * 0)

    def read(self, value: Any) -> Floats:  # noqa: ANN401 - as the database gives it
        """See `Nearness.read`."""
        return self._inner.read(value)

    def nearest(self, connection: Connection, key: Key, query: Floats, *, k: int) -> list[Near]:
        """See `Nearness.nearest`. Points that the ledger lacks, since what they stood for is
        hidden or erased, are passed over, and others are asked for in their place."""
        most = _given(connection, key)
        wanted = min(max(k, 0), most)
        if not wanted:
            return []
        limit = wanted + 1  # one more: points as near as the last must be seen to be ordered
        while True:
            items, cosines = self._near(connection, key, query, limit=min(limit, most))
            known = self._known(connection, key, items)
            near = sorted(
                (
                    Near(item=int(item), cosine=float(cosine))
                    for item, cosine in zip(items, cosines, strict=True)
                    if int(item) in known
                ),
                key=lambda n: (-n.cosine, -n.item),
            )
            tied = len(near) > wanted and near[wanted].cosine == near[wanted - 1].cosine
            if len(items) < limit or (len(near) >= wanted and not tied):
                return near[:wanted]
            limit *= 2

    def cosines(self, connection: Connection, key: Key, query: Floats) -> tuple[Numbers, Floats]:
        """See `Nearness.cosines`. Numbers that are not in the database any more may be among
        them: the outline of what is there tells them apart."""
        return self._near(connection, key, query, limit=_given(connection, key))

    def clear(self) -> None:
        """See `Nearness.clear`: there is nothing."""

    def _near(
        self, connection: Connection, key: Key, query: Floats, *, limit: int
    ) -> tuple[Numbers, Floats]:
        whose = self._place.whose(connection, key.owner, key.space)
        return self._points.near(whose, key.kind, query, limit=limit)

    @staticmethod
    def _known(connection: Connection, key: Key, items: Numbers) -> set[int]:
        rows = connection.execute(
            "SELECT item FROM vectors INDEXED BY vectors_item WHERE owner = ? AND space = ? "
            "AND kind = ? AND item IN (SELECT value FROM json_each(?))",
            (key.owner, key.space, key.kind, items.tolist()),
        )
        return {row[0] for row in rows}


def _given(connection: Connection, key: Key) -> int:
    """How many items of the kind there can be at most."""
    row = connection.execute(
        "SELECT given FROM counts WHERE owner = ? AND kind = ?", (key.owner, key.kind)
    ).fetchone()
    return int(row[0]) if row else 0


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where vectors are to be put, and of what: ids with their items."""

    whose: Whose
    items: dict[str, Item]


class QdrantIndex(SqlIndex):
    """`Index` with the vectors in Qdrant; `Derived` as well."""

    def __init__(
        self,
        database: Database,
        nearness: FromPoints,
        outlines: Outlines,
        *,
        points: Points,
        place: Place,
        removing: Removing,
    ) -> None:
        super().__init__(database, nearness, outlines)
        self._points = points
        self._place = place
        self._removing = removing

    async def survey(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> Survey:
        """See `Index.survey`, and `Derived`."""
        ledger = self._place.ledger(space) if space else None
        try:
            return await super().survey(owner, terms, space=ledger, query=query)
        except VectorsUnavailable as error:
            return replace(await super().survey(owner, terms), lacking=str(error))

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: Kind = Kind.TURN
    ) -> tuple[Text, ...]:
        """See `Index.without_vector`."""
        return await super().without_vector(
            owner, self._place.ledger(space), limit=limit, kind=kind
        )

    async def nearest(
        self, owner: Owner, space: Space, query: Vectors, *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """See `Index.nearest`, and `Derived`."""
        ledger = self._place.ledger(space)
        try:
            return await super().nearest(owner, ledger, query, k=k, kind=kind)
        except VectorsUnavailable:  # told of by `Points`, once
            return ()

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: Kind = Kind.TURN,
    ) -> None:
        """See `Index.put`. Raises `VectorsUnavailable`."""
        shelf, ledger = shelf_of(kind), self._place.ledger(space)
        check_shape(ledger, ids, vectors)
        rows = dict(zip(ids, vectors, strict=True))
        make = partial(self._target, owner=owner, ledger=ledger, shelf=shelf, ids=list(rows))
        target = await self._database.write(owner.tenant, make)
        if target is None:
            return
        import numpy as np

        chosen = np.stack([rows[name] for name in target.items])
        items = list(target.items.values())
        await asyncio.to_thread(self._points.put, target.whose, items, chosen)
        written = {name: self._nearness.written(rows[name]) for name in target.items}
        kept = await self._write(owner, ledger, written, shelf)
        if gone := [item for item in items if item.number not in kept]:
            await asyncio.to_thread(self._points.remove, target.whose, gone)

    async def tidy(self, owner: Owner) -> None:
        """See `Derived.tidy`."""
        await self._removing.tidy(owner)

    def _target(
        self,
        connection: Connection,
        *,
        owner: Owner,
        ledger: Space,
        shelf: Shelf,
        ids: Sequence[str],
    ) -> _Target | None:
        number = owner_id(connection, owner)
        space = space_id(connection, ledger, create=True)
        rows: list[Any] = connection.execute(
            f"SELECT id, {shelf.item} FROM {shelf.by_id} "  # noqa: S608
            "WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) "
            f"AND {shelf.successor} IS NULL ORDER BY {shelf.item}",
            (number, list(ids)),
        ).fetchall()
        if number is None or space is None or not rows:
            return None
        return _Target(
            whose=self._place.whose(connection, number, space),
            items={name: Item(shelf.kind, item) for name, item in rows},
        )
