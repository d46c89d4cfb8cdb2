"""Search over one owner's turns, events or memos, by words and by vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import TURNS, kinds_found, shelf_of
from omoide.adapters.stores.sql.nearness import Key
from omoide.adapters.stores.sql.outlines import read_postings
from omoide.adapters.stores.sql.ranking import Ranking
from omoide.adapters.stores.sql.rows import held_owner_id, owner_id
from omoide.domain import Kind
from omoide.errors import EmbedderMismatch
from omoide.ports import Hit, Text
from omoide.ports.store import Survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.adapters.stores.sql.items import Shelf
    from omoide.adapters.stores.sql.nearness import Nearness
    from omoide.adapters.stores.sql.outlines import Outlines
    from omoide.domain import Owner
    from omoide.ports import Space, Vectors

OUTSIDE = "@qdrant"
"""A space of this name says that vectors of this database are in Qdrant, and its version what the
database is called there. A space with this in its name is a ledger of what is there."""


class SqlIndex:
    """`Index` in SQL: postings in a table, and vectors compared as `nearness` does."""

    def __init__(self, database: Database, nearness: Nearness, outlines: Outlines) -> None:
        self._database = database
        self._nearness = nearness
        self._outlines = outlines

    async def words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """See `Index.words`. Of equal items the newer comes first."""
        shelf = shelf_of(kind)

        def work(connection: Connection) -> tuple[Hit, ...]:
            number = owner_id(connection, owner)
            row = connection.execute(
                "SELECT found FROM counts WHERE owner = ? AND kind = ?", (number, shelf.kind)
            ).fetchone()
            if number is None or row is None:
                return ()
            ranking = Ranking(owner=number, kind=shelf.kind, items=row[0])
            return _hits(connection, number, shelf, ranking.best(connection, terms, k=k))

        return await self._database.read(owner.tenant, work)

    async def survey(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> Survey:
        """See `Index.survey`."""
        if space is not None and query is not None:
            _check_query(space, query)

        def work(connection: Connection) -> Survey:
            place = space_id(connection, space, create=False) if space else None
            number = owner_id(connection, owner)
            placed = self._outlines.fresh(connection, number or 0)
            cosines = None
            if number and place and space is not None and query is not None:
                key = Key(owner=number, space=place, kind=TURNS.kind, dimensions=space.dimensions)
                cosines = placed.spread(*self._nearness.cosines(connection, key, query))
            return Survey(
                outline=placed.outline,
                postings=read_postings(connection, number or 0, terms, placed),
                cosines=cosines,
                others=kinds_found(connection, number) - {Kind.TURN},
            )

        return await self._database.read(owner.tenant, work)

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: Kind = Kind.TURN
    ) -> tuple[Text, ...]:
        """See `Index.without_vector`. The oldest is the one stored first."""
        shelf = shelf_of(kind)

        def work(connection: Connection) -> tuple[Text, ...]:
            known = _known(connection, space)
            number = known[0] if known and known[1:] == _measures(space) else None
            found = _lacking(connection, owner_id(connection, owner), number, shelf, limit=limit)
            return tuple(Text(id=name, text=text) for _, name, text in found)

        return await self._database.read(owner.tenant, work)

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: Kind = Kind.TURN,
    ) -> None:
        """See `Index.put`. What was erased, superseded or folded meanwhile is passed over."""
        shelf = shelf_of(kind)
        check_shape(space, ids, vectors)
        written = {
            name: self._nearness.written(vector) for name, vector in zip(ids, vectors, strict=True)
        }
        await self._write(owner, space, written, shelf)

    async def _write(
        self, owner: Owner, space: Space, written: Mapping[str, object], shelf: Shelf
    ) -> frozenset[int]:
        """Store what stands for the vectors of these ids; the numbers of the items that got one."""

        def work(connection: Connection) -> frozenset[int]:
            number = held_owner_id(connection, owner)
            place = space_id(connection, space, create=True)
            rows: list[Any] = connection.execute(
                f"SELECT {shelf.item}, id FROM {shelf.by_id} "  # noqa: S608
                "WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) "
                f"AND {shelf.successor} IS NULL ORDER BY {shelf.item}",
                (number, list(written)),
            ).fetchall()
            if number is None or place is None or not rows:
                return frozenset()
            _store(connection, number, place, shelf, {item: written[name] for item, name in rows})
            return frozenset(item for item, _ in rows)

        return await self._database.write(owner.tenant, work)

    async def nearest(
        self, owner: Owner, space: Space, query: Vectors, *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """See `Index.nearest`. Of equal items the newer comes first."""
        shelf = shelf_of(kind)
        _check_query(space, query)

        def work(connection: Connection) -> tuple[Hit, ...]:
            place = space_id(connection, space, create=False)
            number = owner_id(connection, owner)
            if number is None or place is None:
                return ()
            key = Key(owner=number, space=place, kind=shelf.kind, dimensions=space.dimensions)
            near = self._nearness.nearest(connection, key, query, k=k)
            return _hits(connection, number, shelf, ((n.item, n.cosine) for n in near))

        return await self._database.read(owner.tenant, work)


def _lacking(
    connection: Connection, owner: int | None, space: int | None, shelf: Shelf, *, limit: int
) -> list[tuple[int, str, str]]:
    """Number, id and text to embed of the first items that have no vector in a space."""
    rows: list[Any] = connection.execute(
        f"SELECT {shelf.item}, id, {shelf.meaning} FROM {shelf.table} "  # noqa: S608
        f"WHERE owner = ?1 AND {shelf.item} > coalesce((SELECT upto FROM embedded "
        "WHERE embedded.owner = ?1 AND embedded.space = ?2 AND embedded.kind = ?3), 0) "
        f"AND {shelf.successor} IS NULL AND NOT EXISTS (SELECT 1 FROM vectors "
        "WHERE vectors.owner = ?1 AND vectors.space = ?2 AND vectors.kind = ?3 "
        f"AND vectors.item = {shelf.table}.{shelf.item}) ORDER BY {shelf.item} LIMIT ?4",
        (owner, space, shelf.kind, max(limit, 0)),
    ).fetchall()
    return rows


def _store(
    connection: Connection, owner: int, space: int, shelf: Shelf, vectors: dict[int, object]
) -> None:
    """Write vectors by number, and note up to where every item has one."""
    [(serial,)] = connection.execute("SELECT vectors FROM owners WHERE id = ?", (owner,))
    replaced = 0
    for serial, (item, vector) in enumerate(vectors.items(), serial + 1):  # noqa: B020
        connection.execute(
            "DELETE FROM vectors WHERE owner = ? AND space = ? AND kind = ? AND item = ?",
            (owner, space, shelf.kind, item),
        )
        replaced += connection.changes()
        connection.execute(
            "INSERT INTO vectors (owner, space, serial, kind, item, vector) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (owner, space, serial, shelf.kind, item, vector),
        )
    connection.execute("UPDATE owners SET vectors = ? WHERE id = ?", (serial, owner))
    connection.execute(
        "UPDATE counts SET epoch = epoch + ? WHERE owner = ? AND kind = ?",
        (int(bool(replaced)), owner, shelf.kind),
    )
    lacking = _lacking(connection, owner, space, shelf, limit=1)
    connection.execute(
        "INSERT INTO embedded (owner, space, kind, upto) "
        "SELECT owner, CAST(? AS integer), kind, coalesce(CAST(? AS integer), given + 1) - 1 "
        "FROM counts WHERE owner = ? AND kind = ? "
        "ON CONFLICT (owner, space, kind) DO UPDATE SET upto = excluded.upto",
        (space, lacking[0][0] if lacking else None, owner, shelf.kind),
    )


def _hits(
    connection: Connection, owner: int, shelf: Shelf, scored: Iterable[tuple[int, float]]
) -> tuple[Hit, ...]:
    """Hits for numbers, in their order; those that this view of the data lacks are left out."""
    scores = dict(scored)
    rows = connection.executemany(
        f"SELECT {shelf.item}, id FROM {shelf.table} "  # noqa: S608
        f"WHERE owner = ? AND {shelf.item} = ? AND {shelf.successor} IS NULL",
        [(owner, item) for item in scores],
    )
    return tuple(Hit(id=name, score=scores[item]) for item, name in rows)


def check_shape(space: Space, ids: Sequence[str], vectors: Vectors) -> None:
    """One vector an item, of the space's dimensions, or `EmbedderMismatch`."""
    if vectors.shape != (len(ids), space.dimensions):
        raise EmbedderMismatch(
            f"{len(ids)} vectors of {space.dimensions} numbers were wanted for "
            f"{space.name}, and an array of {vectors.shape} came"
        )


def _check_query(space: Space, query: Vectors) -> None:
    if query.size != space.dimensions:
        raise EmbedderMismatch(
            f"one vector of {space.dimensions} numbers was wanted for {space.name}, "
            f"and an array of {query.shape} came"
        )


def _measures(space: Space) -> tuple[str, int]:
    return space.version, space.dimensions


def _known(connection: Connection, space: Space) -> tuple[int, str, int] | None:
    row: tuple[int, str, int] | None = connection.execute(
        "SELECT id, version, dimensions FROM spaces WHERE name = ?", (space.name,)
    ).fetchone()
    return row


def space_id(connection: Connection, space: Space, *, create: bool) -> int | None:
    """The number of a space, given now if `create` says so; None if it is unknown. Raises
    `EmbedderMismatch` if its name is in use with other measures."""
    known = _known(connection, space)
    if known is None:
        if not create:
            return None
        connection.execute(
            "INSERT INTO spaces (name, version, dimensions) VALUES (?, ?, ?) "
            "ON CONFLICT (name) DO NOTHING",
            (space.name, *_measures(space)),
        )
        return space_id(connection, space, create=True)
    if known[1:] != _measures(space):
        raise EmbedderMismatch(
            f"{space.name} is in use here with version {known[1]!r} and {known[2]} dimensions, and "
            f"came with version {space.version!r} and {space.dimensions}; name the new one "
            "differently, so that its vectors are made anew"
        )
    return known[0]
