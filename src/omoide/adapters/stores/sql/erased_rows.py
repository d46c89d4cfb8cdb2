"""Removing the rows of turns and of whole owners, in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import TURNS, remove
from omoide.adapters.stores.sql.slices import RemovedRows
from omoide.adapters.stores.sql.summaries import versions
from omoide.ports.store import IndexTraces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import Postings
    from omoide.domain import Turn
    from omoide.ports import Erased

_OWNED = (
    "postings vectors embedded recalls events memos fact_sources facts notes outlines turns "
    "counts sessions summaries aside jobs calls erasing"
).split()


def erase_owner(connection: Connection, owner: int) -> Erased:
    """Remove an owner with all their data."""
    sentences = sum(len(version.sentences) for version in versions(connection, owner))
    removed = RemovedRows(sentences=sentences)
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608
        removed.rows[table] = connection.changes()
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))
    return removed.erased


def erase_turns(
    connection: Connection, owner: int, positions: Sequence[int], *, postings: Postings
) -> None:
    """Remove turns with their `postings_of`."""
    affected: list[Any] = connection.execute(
        "SELECT session FROM turns "
        "WHERE owner = ? AND position IN (SELECT value FROM json_each(?))",
        (owner, list(positions)),
    ).fetchall()
    connection.execute(
        "DELETE FROM outlines WHERE owner = ? AND position IN (SELECT value FROM json_each(?))",
        (owner, list(positions)),
    )
    remove(connection, owner, TURNS, positions, postings=postings)
    connection.execute(
        # The owner's number, so that PostgreSQL plans for one partition of the turns.
        "UPDATE sessions SET turns = (SELECT count(*) FROM turns "
        "WHERE turns.owner = ?1 AND turns.session = sessions.number) "
        "WHERE owner = ?1 AND number IN (SELECT value FROM json_each(?2))",
        (owner, sorted({row[0] for row in affected})),
    )


def index_traces(
    connection: Connection, *, owner: int, turns: Sequence[Turn], terms: Sequence[str]
) -> IndexTraces:
    """See `Archive.traces`."""
    positions = [turn.position for turn in turns]
    [(postings,)] = connection.execute(
        "SELECT count(*) FROM postings WHERE owner = ? "
        "AND term IN (SELECT value FROM json_each(?)) AND kind = ? "
        "AND item IN (SELECT value FROM json_each(?))",
        (owner, list(terms), TURNS.kind, positions),
    )
    [(vectors,)] = connection.execute(
        "SELECT count(*) FROM vectors INDEXED BY vectors_item WHERE owner = ? "
        "AND space IN (SELECT id FROM spaces) AND kind = ? "
        "AND item IN (SELECT value FROM json_each(?))",
        (owner, TURNS.kind, positions),
    )
    [(outlines,)] = connection.execute(
        "SELECT count(*) FROM outlines WHERE owner = ? "
        "AND position IN (SELECT value FROM json_each(?))",
        (owner, positions),
    )
    return IndexTraces(postings=postings, vectors=vectors, outlines=outlines)
