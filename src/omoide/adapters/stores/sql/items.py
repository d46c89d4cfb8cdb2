"""What a search finds: turns, events and memos alike, by their numbers, postings and vectors.

Each kind stands in a table of its own; all share the tables of postings and vectors. What is no
longer true, or was taken into another, is hidden: its postings and vectors go and its text stays,
so that a search never has to skip anything. All of this happens in the caller's transaction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.adapters.stores.sql.jobs import queue_embedding
from omoide.domain import Event, Kind, Memo
from omoide.language.terms import endings, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.adapters.stores.sql.connection import Connection

E = TypeVar("E", Event, Memo)


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Where the items of one kind stand. All but the number are pieces of SQL."""

    kind: int
    """Stands for the kind in rows."""
    table: str
    item: str = "item"
    """The column with an item's number."""
    words: str
    """What it is found by."""
    meaning: str
    """What is embedded."""
    successor: str = "NULL"
    """The column with the id of what took its place, if anything did: then it is not found."""

    @property
    def by_id(self) -> str:
        """The table, searched by its items' ids."""
        return f"{self.table} INDEXED BY {self.table}_id"


TURNS = Shelf(kind=1, table="turns", item="position", words="text", meaning="text")
EVENTS = Shelf(kind=2, table="events", words="text", meaning="text", successor="superseded_by")
MEMOS = Shelf(
    kind=3,
    table="memos",
    words="topic || '\n' || summary || '\n' || compressed",
    meaning="topic || ': ' || summary",
    successor="folded_into",
)
_SHELVES = {Kind.TURN: TURNS, Kind.EVENT: EVENTS, Kind.MEMO: MEMOS}


MOST = 2**20 - 1
"""Occurrences of a term in one item that are told apart."""


def shelf_of(kind: Kind) -> Shelf:
    """Where items of a kind stand."""
    if kind not in _SHELVES:
        raise ValueError(f"turns, events and memos are searched, and {kind.value!r} came")
    return _SHELVES[kind]


def kinds_found(connection: Connection, owner: int | None) -> frozenset[Kind]:
    """The kinds of which a search can find anything."""
    rows = connection.execute("SELECT kind FROM counts WHERE owner = ? AND found > 0", (owner,))
    present = {row[0] for row in rows}
    return frozenset(kind for kind, shelf in _SHELVES.items() if shelf.kind in present)


def numbers_given(connection: Connection, owner: int, shelf: Shelf) -> int:
    """The last number that was given to an item, or 0."""
    row = connection.execute(
        "SELECT given FROM counts WHERE owner = ? AND kind = ?", (owner, shelf.kind)
    ).fetchone()
    return int(row[0]) if row else 0


def number(connection: Connection, owner: int, shelf: Shelf, *, count: int) -> range:
    """New numbers for so many items."""
    first = numbers_given(connection, owner, shelf) + 1
    connection.execute(
        "INSERT INTO counts (owner, kind, given) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (owner, kind) DO UPDATE SET given = counts.given + ?3",
        (owner, shelf.kind, count),
    )
    return range(first, first + count)


def unknown(connection: Connection, owner: int, shelf: Shelf, items: Sequence[E]) -> tuple[E, ...]:
    """Those whose ids are not there yet, the first of each id."""
    rows = connection.execute(
        f"SELECT id FROM {shelf.by_id} "  # noqa: S608
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, [item.id for item in items]),
    )
    known = {row[0] for row in rows}
    firsts = {item.id: item for item in reversed(items)}
    return tuple(item for item in items if item.id not in known and item is firsts[item.id])


def show(connection: Connection, owner: int, shelf: Shelf, items: Sequence[int]) -> None:
    """Let items be found by their words from now on, and ask for their vectors. Those that
    something else stands for stay hidden."""
    rows: list[Any] = connection.execute(
        f"SELECT {shelf.item}, time, {shelf.words} FROM {shelf.table} "  # noqa: S608
        f"WHERE owner = ? AND {shelf.item} IN (SELECT value FROM json_each(?)) "
        f"AND {shelf.successor} IS NULL ORDER BY {shelf.item}",
        (owner, list(items)),
    ).fetchall()
    if not rows:
        return
    connection.executemany(
        "INSERT INTO postings (owner, term, kind, item, tf, length) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (owner, term, shelf.kind, item, count, length)
            for item, _, words in rows
            for term, count, length in _counted(words)
        ),
    )
    connection.execute(
        "UPDATE counts SET found = found + ? WHERE owner = ? AND kind = ?",
        (len(rows), owner, shelf.kind),
    )
    connection.execute(
        "UPDATE embedded SET upto = ?1 - 1 WHERE owner = ?2 AND kind = ?3 AND upto >= ?1 "
        "AND space IN (SELECT id FROM spaces)",
        (rows[0][0], owner, shelf.kind),
    )
    queue_embedding(connection, owner=owner, created=rows[-1][1])


def hide(
    connection: Connection, owner: int, shelf: Shelf, *, ids: Sequence[str], successor: str
) -> None:
    """Note that something took the place of these items, and let them be found no more."""
    ids = [known for known in ids if known != successor]
    rows: list[Any] = connection.execute(
        f"SELECT {shelf.item}, {shelf.words} FROM {shelf.by_id} "  # noqa: S608
        f"WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) AND {shelf.successor} IS NULL",
        (owner, ids),
    ).fetchall()
    connection.execute(
        f"UPDATE {shelf.by_id} SET {shelf.successor} = ? "  # noqa: S608
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (successor, owner, ids),
    )
    # By its words: the table of postings has no other way to an item than through all of them.
    connection.executemany(
        "DELETE FROM postings WHERE owner = ? AND term = ? AND kind = ? AND item = ?",
        ((owner, term, shelf.kind, item) for item, words in rows for term, _, _ in _counted(words)),
    )
    _drop_vectors(connection, owner, shelf, items=[row[0] for row in rows], found=len(rows))


def succeed(
    connection: Connection, owner: int, shelf: Shelf, *, gone: str, successor: str | None
) -> None:
    """Put another in the place of a successor that is gone; where none is left, the items that
    it stood for are found again."""
    rows: list[Any] = connection.execute(
        f"SELECT {shelf.item} FROM {shelf.table} WHERE owner = ? AND {shelf.successor} = ?",  # noqa: S608
        (owner, gone),
    ).fetchall()
    items = [row[0] for row in rows]
    connection.execute(
        f"UPDATE {shelf.table} SET {shelf.successor} = nullif(?, id) "  # noqa: S608
        f"WHERE owner = ? AND {shelf.item} IN (SELECT value FROM json_each(?))",
        (successor, owner, items),
    )
    show(connection, owner, shelf, items)


def remove(connection: Connection, owner: int, shelf: Shelf, items: Sequence[int]) -> None:
    """Delete items with all that makes them found. For erasures: it goes through all postings of
    the owner, whatever words a tokenizer of another day may have made."""
    if not items:
        return
    chosen = "IN (SELECT value FROM json_each(?))"
    [(found,)] = connection.execute(
        f"SELECT count(*) FROM {shelf.table} "  # noqa: S608
        f"WHERE owner = ? AND {shelf.item} {chosen} AND {shelf.successor} IS NULL",
        (owner, list(items)),
    ).fetchall()
    connection.execute(
        f"DELETE FROM postings WHERE owner = ? AND kind = ? AND item {chosen}",  # noqa: S608
        (owner, shelf.kind, list(items)),
    )
    connection.execute(
        f"DELETE FROM {shelf.table} WHERE owner = ? AND {shelf.item} {chosen}",  # noqa: S608
        (owner, list(items)),
    )
    _drop_vectors(connection, owner, shelf, items=items, found=found)


def _drop_vectors(
    connection: Connection, owner: int, shelf: Shelf, *, items: Sequence[int], found: object
) -> None:
    """Delete the vectors of items of which so many were found until now."""
    if not items:
        return
    connection.execute(
        "DELETE FROM vectors INDEXED BY vectors_item WHERE owner = ? "
        "AND space IN (SELECT id FROM spaces) AND kind = ? "
        "AND item IN (SELECT value FROM json_each(?))",
        (owner, shelf.kind, list(items)),
    )
    connection.execute(
        "UPDATE counts SET found = found - ?, epoch = epoch + 1 WHERE owner = ? AND kind = ?",
        (found, owner, shelf.kind),
    )


def _counted(words: str) -> Iterator[tuple[str, int, int]]:
    """Each term with its number and that of all terms."""
    found = terms(words)
    for term, count in sorted(Counter([*found, *endings(words)]).items()):
        yield term, min(count, MOST), len(found)
