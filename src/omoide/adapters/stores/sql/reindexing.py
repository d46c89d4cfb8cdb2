"""Writes postings again for texts that an older version split into other terms.

Until schema 8 (SQLite) and 7 (PostgreSQL) a word and the Chinese, Japanese or Korean after it were
one term: "Google工作" was found by neither. Runs once, in the transaction of the migration.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import ITEM_TABLES, TURNS, counted
from omoide.language.terms import CJK, informativeness, is_prefix, last_characters, latin, terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import ItemTable

_GLUED = re.compile(rf"[^\W_{CJK}][{CJK}]")
_FORMER = re.compile(rf"[{CJK}]+|[^\W_]+(?:['’][^\W_]+)*")
_CHUNK = 2000
"""Items held in memory at a time."""


def reindex(connection: Connection) -> None:
    """Write the postings of such items again."""
    for (owner,) in connection.execute("SELECT id FROM owners ORDER BY id").fetchall():
        for table in ITEM_TABLES:
            for item, words in _glued(connection, owner, table):
                _rewrite(connection, owner, table, item, words)


def _glued(connection: Connection, owner: int, table: ItemTable) -> Iterator[tuple[int, str]]:
    """Items that a search finds and whose text has a word next to unspaced characters."""
    last = -1
    while True:
        rows: list[Any] = connection.execute(
            f"SELECT {table.item}, {table.words} FROM {table.table} "  # noqa: S608
            f"WHERE owner = ? AND {table.item} > ? AND {table.hidden} IS NULL "
            f"ORDER BY {table.item} LIMIT {_CHUNK}",
            (owner, last),
        ).fetchall()
        for item, words in rows:
            if _GLUED.search(unicodedata.normalize("NFKC", words)):
                yield item, words
        if len(rows) < _CHUNK:
            return
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
