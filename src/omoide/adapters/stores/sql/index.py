"""Search over one owner's turns, events, memos or facts, by words and by vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from omoide.adapters.stores.sql.items import TURNS, item_table, kind_counts
from omoide.adapters.stores.sql.ranking import Ranking
from omoide.adapters.stores.sql.rows import locked_owner_id, owner_id
from omoide.adapters.stores.sql.turn_tables import read_postings
from omoide.adapters.stores.sql.vectors import VectorKey
from omoide.domain import MemoryKind
from omoide.errors import EmbedderMismatch
from omoide.ports import Hit, TextToEmbed
from omoide.ports.store import SearchData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database, Reads
    from omoide.adapters.stores.sql.items import ItemTable
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Owner
    from omoide.ports import Space, Vectors

T = TypeVar("T")

OUTSIDE = "@qdrant"
"""A space with this name means that the database's vectors are in a separate index; its version is
the database's name there. A space with this in its name is the ledger of what is there. Applies to
any index: Qdrant was the first, and existing databases contain the name."""


def external_name(connection: Connection) -> str | None:
    """The database's name in its external vector index; None if it has none."""
    row = connection.execute("SELECT version FROM spaces WHERE name = ?", (OUTSIDE,)).fetchone()
    return row[0] if row else None


class SqlIndex:
    """`SearchIndex` in SQL: postings in a table, and vectors compared by a `VectorComparer`."""

    def __init__(
        self, database: Database, comparer: VectorComparer, turn_tables: TurnTableCache
    ) -> None:
        self._database = database
        self._comparer = comparer
        self._turn_tables = turn_tables

    async def together(self, owner: Owner, reads: Reads[T]) -> T:
        """See `JoinedReads.together`."""
        return await self._database.read_together(owner.tenant, reads)

    async def search_words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[Hit, ...]:
        """See `SearchIndex.search_words`. Newer items first if scores are equal."""
        table = item_table(kind)

        def work(connection: Connection) -> tuple[Hit, ...]:
            number = owner_id(connection, owner)
            row = connection.execute(
                "SELECT found FROM counts WHERE owner = ? AND kind = ?", (number, table.kind)
            ).fetchone()
            if number is None or row is None:
                return ()
            ranking = Ranking(owner=number, kind=table.kind, items=row[0])
            return _hits(connection, number, table, ranking.best(connection, terms, k=k))

        return await self._database.read(owner.tenant, work)

    async def search_data(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> SearchData:
        """See `SearchIndex.search_data`."""
        if space is not None and query is not None:
            _check_query(space, query)

        def work(connection: Connection) -> SearchData:
            space_number = space_id(connection, space, create=False) if space else None
            number = owner_id(connection, owner)
            turns = self._turn_tables.fresh(connection, number or 0)
            compared = None
            if number and space_number and space is not None and query is not None:
                key = VectorKey(
                    owner=number, space=space_number, kind=TURNS.kind, dimensions=space.dimensions
                )
                compared = turns.by_row(self._comparer.cosines(connection, key, query))
            kinds = kind_counts(connection, number)
            return SearchData(
                table=turns.table,
                postings=read_postings(connection, number or 0, terms, turns),
                cosines=compared.cosines if compared else None,
                exact=compared.exact if compared else None,
                other_kinds=kinds.found - {MemoryKind.TURN},
                ended_facts=MemoryKind.FACT in kinds.lost,
            )

        return await self._database.read(owner.tenant, work)

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[TextToEmbed, ...]:
        """See `SearchIndex.without_vector`. Oldest means stored first."""
        table = item_table(kind)

        def work(connection: Connection) -> tuple[TextToEmbed, ...]:
            known = _known(connection, space)
            number = known[0] if known and known[1:] == _measures(space) else None
            rows = _without_vector(
                connection, owner_id(connection, owner), number, table, limit=limit
            )
            return tuple(TextToEmbed(id=name, text=text) for _, name, text in rows)

        return await self._database.read(owner.tenant, work)

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> None:
        """See `SearchIndex.put`. Items erased, superseded or folded meanwhile are ignored."""
        table = item_table(kind)
        check_shape(space, ids, vectors)
        written = {
            name: self._comparer.written(vector) for name, vector in zip(ids, vectors, strict=True)
        }
        await self._write(owner, space, written, table)

    async def _write(
        self, owner: Owner, space: Space, written: Mapping[str, object], table: ItemTable
    ) -> frozenset[int]:
        """Store the column values for these ids, and return the numbers of the items stored."""

        def work(connection: Connection) -> frozenset[int]:
            number = locked_owner_id(connection, owner)
            space_number = space_id(connection, space, create=True)
            rows: list[Any] = connection.execute(
                f"SELECT {table.item}, id FROM {table.by_id} "  # noqa: S608
                "WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) "
                f"AND {table.hidden} IS NULL ORDER BY {table.item}",
                (number, list(written)),
            ).fetchall()
            if number is None or space_number is None or not rows:
                return frozenset()
            values = {item: written[name] for item, name in rows}
            _store(connection, number, space_number, table, values)
            return frozenset(item for item, _ in rows)

        return await self._database.write(owner.tenant, work)

    async def nearest(
        self,
        owner: Owner,
        space: Space,
        query: Vectors,
        *,
        k: int,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> tuple[Hit, ...]:
        """See `SearchIndex.nearest`. Newer items first if cosines are equal."""
        table = item_table(kind)
        _check_query(space, query)

        def work(connection: Connection) -> tuple[Hit, ...]:
            space_number = space_id(connection, space, create=False)
            number = owner_id(connection, owner)
            if number is None or space_number is None:
                return ()
            key = VectorKey(
                owner=number, space=space_number, kind=table.kind, dimensions=space.dimensions
            )
            nearest = self._comparer.nearest(connection, key, query, k=k)
            return _hits(connection, number, table, ((n.item, n.cosine) for n in nearest))

        return await self._database.read(owner.tenant, work)


def _without_vector(
    connection: Connection, owner: int | None, space: int | None, table: ItemTable, *, limit: int
) -> list[tuple[int, str, str]]:
    """Number, id and text of the first items that have no vector in a space."""
    rows: list[Any] = connection.execute(
        f"SELECT {table.item}, id, {table.meaning} FROM {table.table} "  # noqa: S608
        f"WHERE owner = ?1 AND {table.item} > coalesce((SELECT upto FROM embedded "
        "WHERE embedded.owner = ?1 AND embedded.space = ?2 AND embedded.kind = ?3), 0) "
        f"AND {table.hidden} IS NULL AND NOT EXISTS (SELECT 1 FROM vectors "
        "WHERE vectors.owner = ?1 AND vectors.space = ?2 AND vectors.kind = ?3 "
        f"AND vectors.item = {table.table}.{table.item}) ORDER BY {table.item} LIMIT ?4",
        (owner, space, table.kind, max(limit, 0)),
    ).fetchall()
    return rows


def _store(
    connection: Connection, owner: int, space: int, table: ItemTable, vectors: dict[int, object]
) -> None:
    """Write vectors by item number, and record up to which number all items have one."""
    [(serial,)] = connection.execute("SELECT vectors FROM owners WHERE id = ?", (owner,))
    replaced = 0
    for serial, (item, vector) in enumerate(vectors.items(), serial + 1):  # noqa: B020
        connection.execute(
            "DELETE FROM vectors WHERE owner = ? AND space = ? AND kind = ? AND item = ?",
            (owner, space, table.kind, item),
        )
        replaced += connection.changes()
        connection.execute(
            "INSERT INTO vectors (owner, space, serial, kind, item, vector) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (owner, space, serial, table.kind, item, vector),
        )
    connection.execute("UPDATE owners SET vectors = ? WHERE id = ?", (serial, owner))
    connection.execute(
        "UPDATE counts SET epoch = epoch + ? WHERE owner = ? AND kind = ?",
        (int(bool(replaced)), owner, table.kind),
    )
    missing = _without_vector(connection, owner, space, table, limit=1)
    connection.execute(
        "INSERT INTO embedded (owner, space, kind, upto) "
        "SELECT owner, CAST(? AS integer), kind, coalesce(CAST(? AS integer), given + 1) - 1 "
        "FROM counts WHERE owner = ? AND kind = ? "
        "ON CONFLICT (owner, space, kind) DO UPDATE SET upto = excluded.upto",
        (space, missing[0][0] if missing else None, owner, table.kind),
    )


def _hits(
    connection: Connection, owner: int, table: ItemTable, scored: Iterable[tuple[int, float]]
) -> tuple[Hit, ...]:
    """Hits for item numbers, in the same order. Items that are not in this snapshot are omitted."""
    scores = dict(scored)
    rows = connection.executemany(
        f"SELECT {table.item}, id FROM {table.table} "  # noqa: S608
        f"WHERE owner = ? AND {table.item} = ? AND {table.hidden} IS NULL",
        [(owner, item) for item in scores],
    )
    return tuple(Hit(id=name, score=scores[item]) for item, name in rows)


def check_shape(space: Space, ids: Sequence[str], vectors: Vectors) -> None:
    """Raise `EmbedderMismatch` unless there is one vector per item, of the space's dimensions."""
    if vectors.shape != (len(ids), space.dimensions):
        raise EmbedderMismatch(
            f"expected {len(ids)} vectors of {space.dimensions} numbers for {space.name}, "
            f"got an array of shape {vectors.shape}"
        )


def _check_query(space: Space, query: Vectors) -> None:
    if query.size != space.dimensions:
        raise EmbedderMismatch(
            f"expected one vector of {space.dimensions} numbers for {space.name}, "
            f"got an array of shape {query.shape}"
        )


def _measures(space: Space) -> tuple[str, int]:
    return space.version, space.dimensions


def _known(connection: Connection, space: Space) -> tuple[int, str, int] | None:
    row: tuple[int, str, int] | None = connection.execute(
        "SELECT id, version, dimensions FROM spaces WHERE name = ?", (space.name,)
    ).fetchone()
    return row


def space_id(connection: Connection, space: Space, *, create: bool) -> int | None:
    """The number of a space; None if it is unknown and not to be created. Raises `EmbedderMismatch`
    if its name is in use with another version or other dimensions."""
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
            f"{space.name} is in use here with version {known[1]!r} and {known[2]} dimensions, "
            f"but came with version {space.version!r} and {space.dimensions}; give the new "
            "embedder another name, so that everything is embedded again"
        )
    return known[0]
