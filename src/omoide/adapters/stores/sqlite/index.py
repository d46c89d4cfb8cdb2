"""Search over one owner's turns, by words and by vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sqlite.matrices import Key
from omoide.adapters.stores.sqlite.ranking import best_by_words
from omoide.adapters.stores.sqlite.rows import TURN, TURN_COLUMNS, array, owner_id, turn_of
from omoide.domain import Kind
from omoide.errors import EmbedderMismatch
from omoide.ports import Hit, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from omoide.adapters.stores.sqlite.connection import Database
    from omoide.adapters.stores.sqlite.matrices import Matrices
    from omoide.domain import Owner
    from omoide.ports import Space, Vectors

WITHOUT_VECTOR = f"""
SELECT {TURN_COLUMNS} FROM turns
WHERE owner = ?1 AND position > coalesce(
    (SELECT upto FROM embedded WHERE embedded.owner = ?1 AND embedded.space = ?2), 0)
AND NOT EXISTS (
    SELECT 1 FROM vectors WHERE vectors.owner = ?1 AND vectors.space = ?2
    AND vectors.kind = ?3 AND vectors.item = turns.position)
ORDER BY position LIMIT ?4
"""  # noqa: S608


class SqliteIndex:
    """`Index` on SQLite: postings in a table, vectors compared one by one in memory."""

    def __init__(self, database: Database, matrices: Matrices) -> None:
        self._database = database
        self._matrices = matrices

    async def words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """See `Index.words`. Of equal turns the newer comes first."""

        def work(connection: apsw.Connection) -> tuple[Hit, ...]:
            row = connection.execute(
                "SELECT id, turns FROM owners WHERE tenant = ? AND user = ?",
                (owner.tenant, owner.user),
            ).fetchone()
            if row is None:
                return ()
            best = best_by_words(connection, owner=row[0], turns=row[1], terms=terms, k=k)
            return _hits(connection, row[0], best)

        return await self._database.read(work)

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: Kind = Kind.TURN
    ) -> tuple[Text, ...]:
        """See `Index.without_vector`."""

        def work(connection: apsw.Connection) -> tuple[Text, ...]:
            known = _known(connection, space)
            number = known[0] if known and known[1:] == _measures(space) else None
            rows = connection.execute(
                WITHOUT_VECTOR, (owner_id(connection, owner), number, TURN, max(limit, 0))
            )
            return tuple(Text(id=t.id, text=t.text) for t in map(turn_of, rows))

        return await self._database.read(work)

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: Kind = Kind.TURN,
    ) -> None:
        """See `Index.put`. A turn that was erased meanwhile is passed over; a vector that is there
        is replaced."""
        if vectors.shape != (len(ids), space.dimensions):
            raise EmbedderMismatch(
                f"{len(ids)} vectors of {space.dimensions} numbers were wanted for "
                f"{space.name}, and an array of {vectors.shape} came"
            )
        blobs = {
            turn: vector.astype("<f4").tobytes() for turn, vector in zip(ids, vectors, strict=True)
        }

        def work(connection: apsw.Connection) -> None:
            number = owner_id(connection, owner)
            place = _space_id(connection, space, create=True)
            rows: list[Any] = connection.execute(
                "SELECT id, position FROM turns INDEXED BY turns_id "
                "WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY position",
                (number, array(list(blobs))),
            ).fetchall()
            if number is None or place is None or not rows:
                return
            _store(connection, number, place, [(item, blobs[turn]) for turn, item in rows])

        await self._database.write(work)

    async def nearest(
        self, owner: Owner, space: Space, query: Vectors, *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """See `Index.nearest`. Of equal turns the newer comes first."""
        if query.size != space.dimensions:
            raise EmbedderMismatch(
                f"one vector of {space.dimensions} numbers was wanted for {space.name}, "
                f"and an array of {query.shape} came"
            )

        def work(connection: apsw.Connection) -> tuple[Hit, ...]:
            place = _space_id(connection, space, create=False)
            number = owner_id(connection, owner)
            if number is None or place is None:
                return ()
            key = Key(owner=number, space=place, dimensions=space.dimensions)
            near = self._matrices.nearest(connection, key, query, k=k)
            return _hits(connection, number, ((n.position, n.cosine) for n in near))

        return await self._database.read(work)


def _store(
    connection: apsw.Connection, owner: int, space: int, items: list[tuple[int, bytes]]
) -> None:
    """Write vectors by position, and note up to where every turn has one."""
    [(serial,)] = connection.execute("SELECT vectors FROM owners WHERE id = ?", (owner,))
    replaced = 0
    for serial, (item, blob) in enumerate(items, serial + 1):  # noqa: B020
        connection.execute(
            "DELETE FROM vectors WHERE owner = ? AND space = ? AND kind = ? AND item = ?",
            (owner, space, TURN, item),
        )
        replaced += connection.changes()
        connection.execute(
            "INSERT INTO vectors (owner, space, serial, kind, item, vector) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (owner, space, serial, TURN, item, blob),
        )
    connection.execute(
        "UPDATE owners SET vectors = ?, epoch = epoch + ? WHERE id = ?",
        (serial, bool(replaced), owner),
    )
    lacking: list[Any] = connection.execute(WITHOUT_VECTOR, (owner, space, TURN, 1)).fetchall()
    connection.execute(
        "INSERT OR REPLACE INTO embedded (owner, space, upto) "
        "SELECT id, ?, coalesce(?, positions + 1) - 1 FROM owners WHERE id = ?",
        (space, turn_of(lacking[0]).position if lacking else None, owner),
    )


def _hits(
    connection: apsw.Connection, owner: int, scored: Iterable[tuple[int, float]]
) -> tuple[Hit, ...]:
    """Hits for positions, in their order; those that this view of the data lacks are left out."""
    hits = []
    for position, score in scored:
        row = connection.execute(
            "SELECT id FROM turns WHERE owner = ? AND position = ?", (owner, position)
        ).fetchone()
        if row:
            hits.append(Hit(id=row[0], score=score))
    return tuple(hits)


def _measures(space: Space) -> tuple[str, int]:
    return space.version, space.dimensions


def _known(connection: apsw.Connection, space: Space) -> tuple[int, str, int] | None:
    row: tuple[int, str, int] | None = connection.execute(
        "SELECT id, version, dimensions FROM spaces WHERE name = ?", (space.name,)
    ).fetchone()
    return row


def _space_id(connection: apsw.Connection, space: Space, *, create: bool) -> int | None:
    known = _known(connection, space)
    if known is None:
        if not create:
            return None
        connection.execute(
            "INSERT INTO spaces (name, version, dimensions) VALUES (?, ?, ?)",
            (space.name, *_measures(space)),
        )
        return connection.last_insert_rowid()
    if known[1:] != _measures(space):
        raise EmbedderMismatch(
            f"{space.name} is in use here with version {known[1]!r} and {known[2]} dimensions, and "
            f"came with version {space.version!r} and {space.dimensions}; name the new one "
            "differently, so that its vectors are made anew"
        )
    return known[0]
