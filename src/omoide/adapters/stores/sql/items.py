"""Searchable items: turns, events, memos and facts, with their numbers, postings and vectors.

Each kind has its own table; all share the tables of postings and vectors. A superseded event, a
folded memo or an ended fact is hidden: its postings and vectors are deleted and its text stays, so
that a search never has to skip anything. All functions work in the caller's transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.adapters.stores.sql.jobs import queue_embedding
from omoide.domain import Event, Fact, Memo, MemoryKind
from omoide.language.terms import last_characters, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from omoide.adapters.stores.sql.connection import Connection

    TermsOf = Callable[[str], Sequence[str]]
    """Gives the terms of a text."""

    Postings = Mapping[int, Sequence[str]]
    """The terms of items, by their numbers."""

E = TypeVar("E", Event, Memo, Fact)


@dataclass(frozen=True, kw_only=True)
class ItemTable:
    """The table of one kind of items. All fields but `kind` are fragments of SQL."""

    kind: int
    """The kind's number in rows."""
    table: str
    item: str = "item"
    """The column with an item's number."""
    words: str
    """The text that is searched."""
    meaning: str
    """The text that is embedded."""
    hidden: str = "NULL"
    """The column that is null as long as searches find the item."""
    time: str = "time"
    """The column with the time at which the item was made."""

    @property
    def successor(self) -> str:
        """For events and memos: the column with the id of the item that replaced this one."""
        return self.hidden

    @property
    def by_id(self) -> str:
        """The table, using the index on ids."""
        return f"{self.table} INDEXED BY {self.table}_id"


TURNS = ItemTable(kind=1, table="turns", item="position", words="text", meaning="text")
EVENTS = ItemTable(kind=2, table="events", words="text", meaning="text", hidden="superseded_by")
MEMOS = ItemTable(
    kind=3,
    table="memos",
    words="topic || '\n' || summary || '\n' || compressed",
    meaning="topic || ': ' || summary",
    hidden="folded_into",
)
FACTS = ItemTable(
    kind=4, table="facts", words="text", meaning="text", hidden="ended", time="learned"
)
_TABLES = {
    MemoryKind.TURN: TURNS,
    MemoryKind.EVENT: EVENTS,
    MemoryKind.MEMO: MEMOS,
    MemoryKind.FACT: FACTS,
}
ITEM_TABLES = tuple(_TABLES.values())


MAX_TERM_COUNT = 2**20 - 1
"""The highest count of a term in one item; more are cut to this."""


def item_table(kind: MemoryKind) -> ItemTable:
    """The table of a kind of items."""
    if kind not in _TABLES:
        raise ValueError(
            f"expected a kind that is searched ({', '.join(_TABLES)}), got {kind.value!r}"
        )
    return _TABLES[kind]


@dataclass(frozen=True, kw_only=True)
class KindCounts:
    """Of which kinds an owner has items, and of which some are gone from search."""

    found: frozenset[MemoryKind]
    """A search can find at least one item."""
    lost: frozenset[MemoryKind]
    """At least one item was stored that a search does not find any more."""


def kind_counts(connection: Connection, owner: int | None) -> KindCounts:
    """The kinds of an owner's items."""
    rows = connection.execute("SELECT kind, found, given FROM counts WHERE owner = ?", (owner,))
    counts = {kind: (found, given) for kind, found, given in rows}
    known = {kind: counts[table.kind] for kind, table in _TABLES.items() if table.kind in counts}
    return KindCounts(
        found=frozenset(kind for kind, (found, _) in known.items() if found),
        lost=frozenset(kind for kind, (found, given) in known.items() if given > found),
    )


def last_number(connection: Connection, owner: int, table: ItemTable) -> int:
    """The last number assigned to an item, or 0."""
    row = connection.execute(
        "SELECT given FROM counts WHERE owner = ? AND kind = ?", (owner, table.kind)
    ).fetchone()
    return int(row[0]) if row else 0


def new_numbers(connection: Connection, owner: int, table: ItemTable, *, count: int) -> range:
    """Assign numbers to `count` new items."""
    first = last_number(connection, owner, table) + 1
    connection.execute(
        "INSERT INTO counts (owner, kind, given) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (owner, kind) DO UPDATE SET given = counts.given + ?3",
        (owner, table.kind, count),
    )
    return range(first, first + count)


def missing_ids(
    connection: Connection, owner: int, table: ItemTable, items: Sequence[E]
) -> tuple[E, ...]:
    """The items whose ids are not stored yet; the first one if an id occurs twice."""
    rows = connection.execute(
        f"SELECT id FROM {table.by_id} "  # noqa: S608
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, [item.id for item in items]),
    )
    known = {row[0] for row in rows}
    firsts = {item.id: item for item in reversed(items)}
    return tuple(item for item in items if item.id not in known and item is firsts[item.id])


def make_findable(
    connection: Connection, owner: int, table: ItemTable, items: Sequence[int]
) -> None:
    """Write the postings of items and queue their embedding. Replaced items stay hidden."""
    rows: list[Any] = connection.execute(
        f"SELECT {table.item}, {table.time}, {table.words} FROM {table.table} "  # noqa: S608
        f"WHERE owner = ? AND {table.item} IN (SELECT value FROM json_each(?)) "
        f"AND {table.hidden} IS NULL ORDER BY {table.item}",
        (owner, list(items)),
    ).fetchall()
    add_postings(connection, owner, table, rows)


def add_postings(
    connection: Connection,
    owner: int,
    table: ItemTable,
    rows: Sequence[tuple[int, int, str]],
    terms_of: TermsOf = terms,
) -> None:
    """`make_findable` for new items, given the number, time and searched text of each, in order.
    `terms_of` may know the terms of the texts already."""
    if not rows:
        return
    connection.executemany(
        "INSERT INTO postings (owner, term, kind, item, tf, length) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (owner, term, table.kind, item, count, length)
            for item, _, words in rows
            for term, count, length in counted(words, terms_of)
        ),
    )
    connection.execute(
        "UPDATE counts SET found = found + ? WHERE owner = ? AND kind = ?",
        (len(rows), owner, table.kind),
    )
    connection.execute(
        "UPDATE embedded SET upto = ?1 - 1 WHERE owner = ?2 AND kind = ?3 AND upto >= ?1 "
        "AND space IN (SELECT id FROM spaces)",
        (rows[0][0], owner, table.kind),
    )
    queue_embedding(connection, owner=owner, created=rows[-1][1])


def make_unfindable(
    connection: Connection, owner: int, table: ItemTable, *, ids: Sequence[str], successor: str
) -> None:
    """Mark items as replaced by `successor`, and hide them from searches."""
    ids = [known for known in ids if known != successor]
    rows: list[Any] = connection.execute(
        f"SELECT {table.item}, {table.words} FROM {table.by_id} "  # noqa: S608
        f"WHERE owner = ? AND id IN (SELECT value FROM json_each(?)) AND {table.hidden} IS NULL",
        (owner, ids),
    ).fetchall()
    connection.execute(
        f"UPDATE {table.by_id} SET {table.successor} = ? "  # noqa: S608
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (successor, owner, ids),
    )
    hide(connection, owner, table, dict(rows))


def hide(connection: Connection, owner: int, table: ItemTable, words: Mapping[int, str]) -> None:
    """Delete the postings and vectors of items that searches found until now, given the searched
    text of each by its number."""
    # By term, because postings have no index on items.
    connection.executemany(
        "DELETE FROM postings WHERE owner = ? AND term = ? AND kind = ? AND item = ?",
        (
            (owner, term, table.kind, item)
            for item, text in words.items()
            for term, _, _ in counted(text)
        ),
    )
    _drop_vectors(connection, owner, table, items=list(words), found=len(words))


def replace_successor(
    connection: Connection, owner: int, table: ItemTable, *, gone: str, successor: str | None
) -> None:
    """Replace a removed successor by another. If there is none, the items it had replaced can be
    found again."""
    rows: list[Any] = connection.execute(
        f"SELECT {table.item} FROM {table.table} WHERE owner = ? AND {table.successor} = ?",  # noqa: S608
        (owner, gone),
    ).fetchall()
    items = [row[0] for row in rows]
    connection.execute(
        f"UPDATE {table.table} SET {table.successor} = nullif(?, id) "  # noqa: S608
        f"WHERE owner = ? AND {table.item} IN (SELECT value FROM json_each(?))",
        (successor, owner, items),
    )
    make_findable(connection, owner, table, items)


def postings_of(
    connection: Connection,
    owner: int,
    table: ItemTable,
    items: Sequence[int],
    *,
    known: Postings = MappingProxyType({}),
) -> Postings:
    """Every posting of some items. If an older version of omoide may have split a text into other
    terms, and they are not `known`, all postings of the owner are looked through, which takes a
    while; so this is called before an erasure takes its lock."""
    if not items:
        return {}
    rows: list[Any] = connection.execute(
        f"SELECT {table.item}, {table.hidden} IS NULL, {table.words} FROM {table.table} "  # noqa: S608
        f"WHERE owner = ? AND {table.item} IN (SELECT value FROM json_each(?))",
        (owner, list(items)),
    ).fetchall()
    expected = {item: set(counted(words)) for item, _, words in rows}
    postings = {item: [term for term, _, _ in found] for item, found in expected.items()}
    stored = defaultdict[int, set[tuple[str, int, int]]](set)
    for chosen, its_terms in _statements(connection, postings):
        for item, *posting in connection.execute(
            f"SELECT item, term, tf, length FROM postings {_OF_SOME}",  # noqa: S608
            (owner, table.kind, chosen, its_terms),
        ):
            stored[item].add(tuple(posting))
    # Each posting names the number of all terms: if all are there, no other can be.
    others = [i for i, findable, _ in rows if not (findable and stored[i] == expected[i])]
    postings |= {item: list(known.get(item, ())) for item in others}
    if others := [item for item in others if item not in known]:
        for term, item in connection.execute(
            "SELECT term, item FROM postings WHERE owner = ? AND kind = ? "
            "AND item IN (SELECT value FROM json_each(?))",
            (owner, table.kind, others),
        ):
            postings[item].append(term)
    return postings


def remove(
    connection: Connection,
    owner: int,
    table: ItemTable,
    items: Sequence[int],
    *,
    postings: Postings,
) -> None:
    """Delete items with their vectors and with their `postings_of`."""
    if not items:
        return
    among = "IN (SELECT value FROM json_each(?))"
    [(found,)] = connection.execute(
        f"SELECT count(*) FROM {table.table} "  # noqa: S608
        f"WHERE owner = ? AND {table.item} {among} AND {table.hidden} IS NULL",
        (owner, list(items)),
    ).fetchall()
    connection.executemany(
        f"DELETE FROM postings {_OF_SOME}",  # noqa: S608
        ((owner, table.kind, *some) for some in _statements(connection, postings)),
    )
    connection.execute(
        f"DELETE FROM {table.table} WHERE owner = ? AND {table.item} {among}",  # noqa: S608
        (owner, list(items)),
    )
    _drop_vectors(connection, owner, table, items=items, found=found)


_OF_SOME = (
    "WHERE owner = ? AND kind = ? AND item IN (SELECT value FROM json_each(?)) "
    "AND term IN (SELECT value FROM json_each(?))"
)


def _statements(
    connection: Connection, postings: Postings
) -> Iterator[tuple[list[int], list[str]]]:
    """Items and all their terms, for a statement each. A server plans every statement, so there
    several items share one; in SQLite each pair of an item and a term costs more than that."""
    items = list(postings)
    many: int = getattr(connection, "ITEMS_AT_ONCE", 1)
    for first in range(0, len(items), many):
        some = items[first : first + many]
        yield some, sorted({term for item in some for term in postings[item]})


def remove_turns(connection: Connection, owner: int, texts: Mapping[int, str]) -> None:
    """Delete turns by position and text, with their postings and vectors. Unlike `remove` it costs
    what it removes, and misses postings that an older version made of the text."""
    positions = list(texts)
    connection.executemany(
        "DELETE FROM postings WHERE owner = ? AND term = ? AND kind = ? AND item = ?",
        (
            (owner, term, TURNS.kind, position)
            for position, text in texts.items()
            for term, _, _ in counted(text)
        ),
    )
    connection.executemany(
        "UPDATE sessions SET turns = turns - 1 WHERE owner = ?1 AND number = "
        "(SELECT session FROM turns WHERE owner = ?1 AND position = ?2)",
        ((owner, position) for position in positions),
    )
    connection.execute("INSERT INTO erasing VALUES (?)", (owner,))  # else a trigger refuses
    for table in ("outlines", "turns"):
        connection.executemany(
            f"DELETE FROM {table} WHERE owner = ? AND position = ?",  # noqa: S608
            ((owner, position) for position in positions),
        )
    connection.execute("DELETE FROM erasing WHERE owner = ?", (owner,))
    _drop_vectors(connection, owner, TURNS, items=positions, found=len(positions))


def _drop_vectors(
    connection: Connection, owner: int, table: ItemTable, *, items: Sequence[int], found: object
) -> None:
    """Delete the vectors of items, `found` of which were visible to searches until now."""
    if not items:
        return
    connection.execute(
        "DELETE FROM vectors INDEXED BY vectors_item WHERE owner = ? "
        "AND space IN (SELECT id FROM spaces) AND kind = ? "
        "AND item IN (SELECT value FROM json_each(?))",
        (owner, table.kind, list(items)),
    )
    connection.execute(
        "UPDATE counts SET found = found - ?, epoch = epoch + 1 WHERE owner = ? AND kind = ?",
        (found, owner, table.kind),
    )


def counted(words: str, terms_of: TermsOf = terms) -> Iterator[tuple[str, int, int]]:
    """Each term with its count and the number of all terms."""
    all_terms = terms_of(words)
    for term, count in sorted(Counter([*all_terms, *last_characters(words)]).items()):
        yield term, min(count, MAX_TERM_COUNT), len(all_terms)
