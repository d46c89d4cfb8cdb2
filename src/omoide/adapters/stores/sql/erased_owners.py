"""The notes of owners that were erased, in the table with the database's own values, and the secret
by which they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.rows import from_micros, to_micros
from omoide.domain.erasure_note import noted_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection


def note_erasure(connection: Connection, *, table: str, name: str, at: datetime) -> None:
    """Note an erasure, later than the one that was noted before."""
    time = noted_time(at, before=noted_erasure(connection, table=table, name=name))
    connection.execute(
        f"INSERT INTO {table} (name, value) VALUES (?, ?) "  # noqa: S608
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, str(to_micros(time))),
    )


def noted_erasure(connection: Connection, *, table: str, name: str) -> datetime | None:
    """The time of the last erasure that was noted."""
    row: Any = connection.execute(
        f"SELECT value FROM {table} WHERE name = ?",  # noqa: S608
        (name,),
    ).fetchone()
    return from_micros(int(row[0])) if row else None


def read_secret(connection: Connection, *, table: str) -> list[tuple[str, str]]:
    """The secret of the database, if it has one yet, then the notes that are named by it."""
    rows: Any = connection.execute(
        f"SELECT name, value FROM {table} "  # noqa: S608
        "WHERE name = 'receipt_key' OR name LIKE ? ORDER BY name DESC",
        ("erased-%",),
    ).fetchall()
    return [(name, value) for name, value in rows]


def take_secret(connection: Connection, *, table: str, found: Sequence[tuple[str, str]]) -> None:
    """Take over what `read_secret` found in another database, unless this one has its own secret:
    then receipts of the other stay genuine, and what was erased there stays erased."""
    insert = f"INSERT INTO {table} (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
    connection.executemany(insert, found[:1])
    if read_secret(connection, table=table)[:1] == found[:1]:
        connection.executemany(insert, found[1:])
