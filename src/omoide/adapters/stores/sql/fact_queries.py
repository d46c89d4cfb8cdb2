"""The statements that read facts: each condition has an index that begins with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.fact_rows import FACT_COLUMNS
from omoide.adapters.stores.sql.rows import to_micros
from omoide.domain.text import compared_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import FactFilter

_COLUMNS = ", ".join((*FACT_COLUMNS, "item"))
_TAGS = FACT_COLUMNS.index("tags")
_BY_ITEM = "sqlite_autoindex_facts_1"
"""The primary key, as SQLite calls it."""
_OWNER = object()
"""Stands for the owner's number among the values of a query."""


@dataclass(frozen=True, kw_only=True)
class FactQuery:
    """One statement over an owner's facts."""

    index: str
    """The index that SQLite uses; PostgreSQL chooses itself."""
    conditions: tuple[str, ...]
    values: tuple[object, ...]

    def rows(
        self, connection: Connection, owner: int, *, tags: Collection[str], newest: int | None
    ) -> list[Any]:
        """The rows with `FACT_COLUMNS` and the item's number that have one of these tags, in any
        order; if only the newest are wanted, at most so many."""
        where = " AND ".join(("owner = ?", *self.conditions))
        given = (owner if value is _OWNER else value for value in self.values)
        order, values = "", (owner, *given)
        if newest is not None:
            order = " ORDER BY said DESC, item DESC"
            if not tags:
                order, values = f"{order} LIMIT ?", (*values, max(newest, 0))
        found = connection.execute(
            f"SELECT {_COLUMNS} FROM facts INDEXED BY {self.index} "  # noqa: S608
            f"WHERE {where}{order}",
            values,
        )
        if not tags:
            return found.fetchall()
        wanted, chosen = set(tags), list[Any]()
        for row in found:
            if newest is not None and len(chosen) >= newest:
                break
            if not wanted.isdisjoint(json.loads(row[_TAGS])):
                chosen.append(row)
        return chosen


_NAMES = """
WITH RECURSIVE names (name) AS (
    SELECT min(about) FROM facts WHERE owner = ?1
    UNION ALL
    SELECT (SELECT min(about) FROM facts WHERE owner = ?1 AND about > name)
    FROM names WHERE name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL
"""
"""Everybody whom facts of an owner are about: one step in the index for each, however many facts
there are."""


def with_stored_names(
    connection: Connection, owner: int, only: FactFilter
) -> tuple[FactFilter, ...]:
    """The filter once for each way in which the name that it asks for is stored. The names are
    compared here: databases know upper and lower case of some alphabets only."""
    if only.about is None:
        return (only,)
    wanted = compared_name(only.about)
    names: list[Any] = connection.execute(_NAMES, (owner,)).fetchall()
    return tuple(replace(only, about=name) for (name,) in names if compared_name(name) == wanted)


def fact_queries(ids: Sequence[str] | None, only: FactFilter) -> tuple[FactQuery, ...]:
    """The queries that together give the facts with these ids, or all, that match but for tags.

    What held at a time is asked for in two parts, so that a search of what holds now skips what has
    ended: facts that have not ended, and facts that ended later."""
    query = FactQuery(index=_index(ids, only), conditions=(), values=())
    query = _narrowed(query, ids, only)
    if only.at is None:
        return (query,)
    at = to_micros(only.at)
    held = _with(query, "learned <= ?", at)
    held = _with(held, "(expires IS NULL OR expires > ?)", at)
    current = "facts_current" if query.index == "facts_said" else query.index
    ended = "facts_ended" if query.index in ("facts_said", "facts_about") else query.index
    going_on = (_with(held, "ended IS NULL", index=current),) if only.ended is not True else ()
    until_then = (_with(held, "ended > ?", at, index=ended),) if only.ended is not False else ()
    return going_on + until_then


def _index(ids: Sequence[str] | None, only: FactFilter) -> str:
    if ids is not None:
        return "facts_id"
    if only.turns:
        return _BY_ITEM
    if only.session is not None:
        return "facts_session"
    if only.pinned:
        return "facts_pinned"
    return "facts_said" if only.about is None else "facts_about"


def _narrowed(query: FactQuery, ids: Sequence[str] | None, only: FactFilter) -> FactQuery:
    """The query with every condition but `at`, `tags` and `newest`."""
    if ids is not None:
        query = _with(query, "id IN (SELECT value FROM json_each(?))", list(ids))
    if only.turns:
        query = _with(
            query,
            "item IN (SELECT item FROM fact_sources "
            "WHERE owner = ? AND turn IN (SELECT value FROM json_each(?)))",
            _OWNER,
            list(only.turns),
        )
    if only.session is not None:
        query = _with(query, "session = ?", only.session)
    if only.about is not None:
        query = _with(query, "about = ?", only.about)
    if only.pinned is not None:
        query = _with(query, "pinned" if only.pinned else "NOT pinned")
    if only.ended is not None and only.at is None:
        query = _with(query, "ended IS NOT NULL" if only.ended else "ended IS NULL")
    if only.over is not None:
        over = to_micros(only.over)
        query = _with(query, "(ended <= ? OR expires <= ?)", over, over)
    if only.kinds:
        kinds = sorted(kind.value for kind in only.kinds)
        query = _with(query, "kind IN (SELECT value FROM json_each(?))", kinds)
    if only.since is not None:
        query = _with(query, "said >= ?", to_micros(only.since))
    if only.until is not None:
        query = _with(query, "said < ?", to_micros(only.until))
    return query


def _with(query: FactQuery, condition: str, *values: object, index: str = "") -> FactQuery:
    return FactQuery(
        index=index or query.index,
        conditions=(*query.conditions, condition),
        values=(*query.values, *values),
    )
