"""The notes of owners that were erased, in the table with the database's own values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.rows import from_micros, to_micros
from omoide.domain.erasure_note import noted_time

if TYPE_CHECKING:
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
