"""Facts, with when they held and what ended them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.fact_queries import fact_queries, with_stored_names
from omoide.adapters.stores.sql.fact_rows import (
    CHANGING,
    FACT_COLUMNS,
    fact_of,
    fact_values,
)
from omoide.adapters.stores.sql.items import FACTS, hide, make_findable, new_numbers
from omoide.adapters.stores.sql.provenance import refuse_erased
from omoide.adapters.stores.sql.rows import ensured_owner_id, locked_owner_id, owner_id
from omoide.domain import applied
from omoide.ports.store.facts import ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Fact, FactChanges, FactFilter, FactMarks, Owner

_COLUMNS = ", ".join(FACT_COLUMNS)
_BY_ID = (
    f"SELECT {_COLUMNS}, item FROM {FACTS.by_id} "  # noqa: S608
    "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))"
)


class SqlFacts:
    """`FactStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply(self, owner: Owner, changes: FactChanges) -> None:
        """See `FactStore.apply`."""

        def work(connection: Connection) -> None:
            find = ensured_owner_id if changes.added else locked_owner_id
            number = find(connection, owner)
            if number is not None and changes.named:
                _apply(connection, number, changes)

        await self._database.write(owner.tenant, work)

    async def read(
        self, owner: Owner, *, ids: Sequence[str] | None = None, only: FactFilter = ALL
    ) -> tuple[Fact, ...]:
        """See `FactStore.read`."""

        def work(connection: Connection) -> tuple[Fact, ...]:
            number = owner_id(connection, owner)
            if number is None:
                return ()
            rows = [
                row
                for spelt in with_stored_names(connection, number, only)
                for query in fact_queries(ids, spelt)
                for row in query.rows(connection, number, tags=only.tags, newest=only.newest)
            ]
            rows.sort(key=lambda row: (row[_SAID], row[-1]))
            first = 0 if only.newest is None else max(len(rows) - max(only.newest, 0), 0)
            return tuple(map(fact_of, rows[first:]))

        return await self._database.read(owner.tenant, work)

    async def mark(self, owner: Owner, id: str, marks: FactMarks) -> Fact | None:  # noqa: A002
        """See `FactStore.mark`."""

        def work(connection: Connection) -> Fact | None:
            number = locked_owner_id(connection, owner)
            row = connection.execute(_BY_ID, (number, [id])).fetchone()
            if number is None or row is None:
                return None
            marked = fact_of(row).marked(marks)
            update_facts(connection, number, {row[-1]: marked})
            return marked

        return await self._database.write(owner.tenant, work)


_SAID = FACT_COLUMNS.index("said")


def all_facts(connection: Connection, owner: int) -> dict[int, Fact]:
    """All facts of an owner, by number."""
    rows: list[Any] = connection.execute(
        f"SELECT {_COLUMNS}, item FROM facts WHERE owner = ? ORDER BY item",  # noqa: S608
        (owner,),
    ).fetchall()
    return {row[-1]: fact_of(row) for row in rows}


def facts_by_number(connection: Connection, owner: int, items: Iterable[int]) -> dict[int, Fact]:
    """Some facts of an owner, by number."""
    rows: list[Any] = connection.execute(
        f"SELECT {_COLUMNS}, item FROM facts "  # noqa: S608
        "WHERE owner = ? AND item IN (SELECT value FROM json_each(?))",
        (owner, list(items)),
    ).fetchall()
    return {row[-1]: fact_of(row) for row in rows}


def update_facts(
    connection: Connection,
    owner: int,
    facts: dict[int, Fact],
    *,
    columns: tuple[str, ...] = CHANGING,
) -> None:
    """Write some columns of facts, given by number."""
    assignments = ", ".join(f"{name} = ?" for name in columns)
    connection.executemany(
        f"UPDATE facts SET {assignments} WHERE owner = ? AND item = ?",  # noqa: S608
        ((*fact_values(fact, columns), owner, item) for item, fact in facts.items()),
    )


def _apply(connection: Connection, owner: int, changes: FactChanges) -> None:
    rows: list[Any] = connection.execute(_BY_ID, (owner, sorted(changes.named))).fetchall()
    known = {row[0]: fact_of(row) for row in rows}
    ends = (known[end.id] for end in changes.ended if end.id in known)
    if others := {name for fact in ends for name in (*fact.supersedes, fact.ended_by)} - {
        *known,
        "",
    }:
        rows += connection.execute(_BY_ID, (owner, sorted(others))).fetchall()
        known = {row[0]: fact_of(row) for row in rows}
    numbers = {row[0]: row[-1] for row in rows}
    result = applied(changes, known)
    refuse_erased(connection, owner, "a fact", cited=result.cited, sessions=result.sessions)
    _insert(connection, owner, result.added)
    changed = {numbers[fact.id]: fact for fact in result.changed}
    update_facts(connection, owner, changed, columns=("supersedes", *CHANGING))
    make_findable(connection, owner, FACTS, [numbers[fact.id] for fact in result.again])
    newly_ended = {
        numbers[fact.id]: fact.text
        for fact in result.changed
        if fact.ended is not None and known[fact.id].ended is None
    }
    hide(connection, owner, FACTS, newly_ended)


def _insert(connection: Connection, owner: int, facts: Iterable[Fact]) -> None:
    facts = tuple(facts)
    if not facts:
        return
    items = new_numbers(connection, owner, FACTS, count=len(facts))
    placeholders = ", ".join("?" * (len(FACT_COLUMNS) + 2))
    connection.executemany(
        f"INSERT INTO facts (owner, item, {_COLUMNS}) VALUES ({placeholders})",  # noqa: S608
        (
            (owner, item, *fact_values(fact, FACT_COLUMNS))
            for item, fact in zip(items, facts, strict=True)
        ),
    )
    make_findable(connection, owner, FACTS, items)
