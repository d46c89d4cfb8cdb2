"""Writes again what an older version computed otherwise from the texts: postings and named days.

Until schema 8 (SQLite) and 7 (PostgreSQL) a word and the Chinese, Japanese or Korean after it were
one term: "Google工作" was found by neither. Until schema 9 (SQLite) and 8 (PostgreSQL) "We will fly
in April" named the April before. Each runs once, in the transaction of the migration.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import ITEM_TABLES, TURNS, counted
from omoide.adapters.stores.sql.rows import from_micros
from omoide.adapters.stores.sql.turn_tables import spans_text
from omoide.domain.time import in_zone
from omoide.language.terms import CJK, informativeness, is_prefix, last_characters, latin, terms
from omoide.mechanisms.search.features import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import ItemTable

_GLUED = re.compile(rf"[^\W_{CJK}][{CJK}]")
_FORMER = re.compile(rf"[{CJK}]+|[^\W_]+(?:['’][^\W_]+)*")
_ZONES = [timezone(timedelta(hours=hours)) for hours in (0, -12, 14)]
"""UTC, and the zones in which a day begins last and first."""
_CHUNK = 2000
"""Items held in memory at a time."""


def reindex(connection: Connection) -> None:
    """Write the postings of such items again."""
    for owner in _owners(connection):
        for table in ITEM_TABLES:
            found = (
                f"SELECT {table.item}, {table.words} FROM {table.table} "  # noqa: S608
                f"WHERE owner = ? AND {table.item} > ? AND {table.hidden} IS NULL "
                f"ORDER BY {table.item} LIMIT {_CHUNK}"
            )
            for item, words in _rows(connection, owner, found):
                if _GLUED.search(unicodedata.normalize("NFKC", words)):
                    _rewrite(connection, owner, table, item, words)


def redate(connection: Connection) -> None:
    """Write the days that turns name again, where they name any. A turn's time is stored without
    its zone: days that are right where it may have been said stay as they are."""
    dated = (
        "SELECT position, text, time, named FROM turns JOIN outlines USING (owner, position) "  # noqa: S608
        f"WHERE owner = ? AND position > ? AND named <> '' ORDER BY position LIMIT {_CHUNK}"
    )
    for owner in _owners(connection):
        for position, text, time, old in _rows(connection, owner, dated):
            new, *elsewhere = (_days_named(text, from_micros(time), zone) for zone in _ZONES)
            if old not in (new, *elsewhere):
                connection.execute(
                    "UPDATE outlines SET named = ? WHERE owner = ? AND position = ?",
                    (new, owner, position),
                )


def _days_named(text: str, time: datetime, zone: tzinfo) -> str:
    return spans_text(spans_of(text, in_zone(time, zone).date()))


def _owners(connection: Connection) -> list[int]:
    return [owner for (owner,) in connection.execute("SELECT id FROM owners ORDER BY id")]


def _rows(connection: Connection, owner: int, query: str) -> Iterator[Any]:
    """The rows of an owner, by their first column, a chunk at a time."""
    last = -1
    while rows := connection.execute(query, (owner, last)).fetchall():
        yield from rows
        last = rows[-1][0]


def _rewrite(connection: Connection, owner: int, table: ItemTable, item: int, words: str) -> None:
    """Replace the postings of one item."""
    key = (owner, table.kind, item)
    connection.executemany(
        "DELETE FROM postings WHERE owner = ?1 AND term = ?4 AND kind = ?2 AND item = ?3",
        ((*key, term) for term in {*former_terms(words), *terms(words), *last_characters(words)}),
    )
    connection.executemany(
        "INSERT INTO postings (owner, kind, item, term, tf, length) VALUES (?, ?, ?, ?, ?, ?)",
        ((*key, *row) for row in counted(words)),
    )
    if table is TURNS:
        connection.execute(
            "UPDATE outlines SET length = ?, telling = ? WHERE owner = ? AND position = ?",
            (len(terms(words)), informativeness(words), owner, item),
        )


def former_terms(text: str) -> set[str]:
    """The terms and last characters that the older version made of a text.

    >>> sorted(former_terms("我用Python写代码"))
    ['python写代码', '我用', '用']
    """
    found = set()
    for run in _FORMER.findall(unicodedata.normalize("NFKC", text).lower()):
        if is_prefix(run[0]):
            found |= {run[i : i + 2] for i in range(len(run) - 1)} | {run[-1]}
        else:
            found |= set(latin(run))
    return found
