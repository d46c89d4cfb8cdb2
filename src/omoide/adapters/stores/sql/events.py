"""Events, and how often each was recalled."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import (
    EVENTS,
    make_findable,
    make_unfindable,
    missing_ids,
    new_numbers,
)
from omoide.adapters.stores.sql.provenance import refuse_erased
from omoide.adapters.stores.sql.rows import (
    encode_strings,
    ensured_owner_id,
    from_micros,
    locked_owner_id,
    owner_id,
    to_micros,
)
from omoide.domain import Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner

_COLUMNS = (
    "id, session, text, time, sources, topics, keywords, participants, feeling, superseded_by, fact"
)
_STATISTICS = "recalls, consolidation, last_recalled"
_RECALLED = """
UPDATE recalls SET recalls = ?3, consolidation = ?4, last_recalled = ?5
WHERE owner = ?1 AND recalls = ?3 - 1
AND item = (SELECT item FROM events INDEXED BY events_id WHERE owner = ?1 AND id = ?2)
"""


class SqlEvents:
    """`EventStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, owner: Owner, events: Sequence[Event]) -> None:
        """See `EventStore.add`. If it raises `StaleVersion`, nothing of the batch is stored."""
        events = tuple(events)

        def work(connection: Connection) -> None:
            if events:
                _add(connection, ensured_owner_id(connection, owner), events)

        await self._database.write(owner.tenant, work)

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Event, ...]:
        """See `EventStore.read`. Events with the same time are in the order they were stored."""
        table, wanted, values = EVENTS.table, "", list[object]()
        if ids is not None:
            table, wanted = EVENTS.by_id, " AND id IN (SELECT value FROM json_each(?))"
            values.append(list(ids))

        def work(connection: Connection) -> tuple[Event, ...]:
            rows: list[Any] = connection.execute(
                f"SELECT {_COLUMNS}, {_STATISTICS} FROM {table} "  # noqa: S608
                f"JOIN recalls USING (owner, item) WHERE owner = ?{wanted} ORDER BY item",
                (owner_id(connection, owner), *values),
            ).fetchall()
            return tuple(sorted(map(_event_of, rows), key=attrgetter("time")))

        return await self._database.read(owner.tenant, work)

    async def consolidate(self, owner: Owner, events: Sequence[Event]) -> int:
        """See `EventStore.consolidate`."""
        events = tuple(events)

        def work(connection: Connection) -> int:
            number = locked_owner_id(connection, owner)
            written = 0
            for event in events:
                connection.execute(_RECALLED, (number, event.id, *_statistics(event)))
                written += connection.changes()
            return written

        return await self._database.write(owner.tenant, work)

    async def supersede(self, owner: Owner, *, old: str, by: str) -> None:
        """See `EventStore.supersede`."""

        def work(connection: Connection) -> None:
            number = locked_owner_id(connection, owner)
            known = connection.execute(
                f"SELECT 1 FROM {EVENTS.by_id} WHERE owner = ? AND id = ?",  # noqa: S608
                (number, by),
            ).fetchone()
            if number is not None and known:
                make_unfindable(connection, number, EVENTS, ids=[old], successor=by)

        await self._database.write(owner.tenant, work)


def _add(connection: Connection, owner: int, events: Sequence[Event]) -> None:
    new = missing_ids(connection, owner, EVENTS, events)
    if not new:
        return
    refuse_erased(
        connection,
        owner,
        "an event",
        cited=(source for event in new for source in event.sources),
        sessions=(event.session for event in new),
        facts=(event.fact for event in new),
    )
    items = new_numbers(connection, owner, EVENTS, count=len(new))
    connection.executemany(
        f"INSERT INTO events (owner, item, {_COLUMNS}) "  # noqa: S608
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((owner, item, *_values(event)) for item, event in zip(items, new, strict=True)),
    )
    connection.executemany(
        f"INSERT INTO recalls (owner, item, {_STATISTICS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
        ((owner, item, *_statistics(event)) for item, event in zip(items, new, strict=True)),
    )
    make_findable(connection, owner, EVENTS, items)


def _values(event: Event) -> tuple[str | int | float | None, ...]:
    return (
        event.id,
        event.session,
        event.text,
        to_micros(event.time),
        encode_strings(event.sources),
        encode_strings(event.topics),
        encode_strings(event.keywords),
        encode_strings(event.participants),
        event.feeling,
        event.superseded_by,
        event.fact,
    )


def _statistics(event: Event) -> tuple[int, float, int]:
    return event.recalls, event.consolidation, to_micros(event.last_recalled)


def _event_of(row: tuple[Any, ...]) -> Event:
    # All arrays at once: parsing them one by one was half the cost of reading an event.
    sources, topics, keywords, participants = json.loads(f"[{','.join(row[4:8])}]")
    return Event(
        id=row[0],
        session=row[1],
        text=row[2],
        time=from_micros(row[3]),
        sources=tuple(sources),
        topics=tuple(topics),
        keywords=tuple(keywords),
        participants=tuple(participants),
        feeling=row[8],
        superseded_by=row[9],
        fact=row[10],
        recalls=row[11],
        consolidation=row[12],
        last_recalled=from_micros(row[13]),
    )
