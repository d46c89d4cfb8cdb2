"""Memos: stretches of dialogue by topic."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import (
    MEMOS,
    make_findable,
    make_unfindable,
    missing_ids,
    new_numbers,
)
from omoide.adapters.stores.sql.provenance import refuse_erased
from omoide.adapters.stores.sql.rows import (
    decode_strings,
    encode_strings,
    ensured_owner_id,
    from_micros,
    owner_id,
    to_micros,
)
from omoide.domain import Memo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner

_COLUMNS = "id, session, topic, summary, sources, time, compressed, method, whole, folded_into"


class SqlMemos:
    """`MemoStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, owner: Owner, memos: Sequence[Memo]) -> None:
        """See `MemoStore.add`. If it raises `StaleVersion`, nothing of the batch is stored."""
        memos = tuple(memos)

        def work(connection: Connection) -> None:
            if memos:
                _add(connection, ensured_owner_id(connection, owner), memos)

        await self._database.write(owner.tenant, work)

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Memo, ...]:
        """See `MemoStore.read`. Memos with the same time are in the order they were stored."""
        table, wanted, values = MEMOS.table, "", list[object]()
        if ids is not None:
            table, wanted = MEMOS.by_id, " AND id IN (SELECT value FROM json_each(?))"
            values.append(list(ids))

        def work(connection: Connection) -> tuple[Memo, ...]:
            rows: list[Any] = connection.execute(
                f"SELECT {_COLUMNS} FROM {table} WHERE owner = ?{wanted} ORDER BY item",  # noqa: S608
                (owner_id(connection, owner), *values),
            ).fetchall()
            return tuple(sorted(map(_memo_of, rows), key=attrgetter("time")))

        return await self._database.read(owner.tenant, work)

    async def fold(self, owner: Owner, *, ids: Sequence[str], into: Memo) -> None:
        """See `MemoStore.fold`. A memo is never folded into itself."""
        ids = tuple(ids)

        def work(connection: Connection) -> None:
            number = ensured_owner_id(connection, owner)
            _add(connection, number, [into])
            make_unfindable(connection, number, MEMOS, ids=ids, successor=into.id)

        await self._database.write(owner.tenant, work)


def _add(connection: Connection, owner: int, memos: Sequence[Memo]) -> None:
    new = missing_ids(connection, owner, MEMOS, memos)
    if not new:
        return
    refuse_erased(
        connection,
        owner,
        "a memo",
        cited=(source for memo in new for source in memo.sources),
        sessions=(memo.session for memo in new),
    )
    items = new_numbers(connection, owner, MEMOS, count=len(new))
    connection.executemany(
        f"INSERT INTO memos (owner, item, {_COLUMNS}) "  # noqa: S608
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((owner, item, *_values(memo)) for item, memo in zip(items, new, strict=True)),
    )
    make_findable(connection, owner, MEMOS, items)


def _values(memo: Memo) -> tuple[str | int | None, ...]:
    return (
        memo.id,
        memo.session,
        memo.topic,
        memo.summary,
        encode_strings(memo.sources),
        to_micros(memo.time),
        memo.compressed,
        memo.method,
        memo.whole,
        memo.folded_into,
    )


def _memo_of(row: tuple[Any, ...]) -> Memo:
    return Memo(
        id=row[0],
        session=row[1],
        topic=row[2],
        summary=row[3],
        sources=decode_strings(row[4]),
        time=from_micros(row[5]),
        compressed=row[6],
        method=row[7],
        whole=bool(row[8]),
        folded_into=row[9],
    )
