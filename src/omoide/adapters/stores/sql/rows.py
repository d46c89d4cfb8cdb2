"""Conversion of times, owners and turns to and from rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner

TURN_COLUMNS = "id, session, position, speaker, text, time, language, name"

_FIND = 'SELECT id, erasures FROM owners WHERE tenant = ? AND "user" = ?'
_LOCK = f"{_FIND} /* FOR NO KEY UPDATE */"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SPEAKERS = {speaker.value: speaker for speaker in Speaker}
"""A lookup here takes a fraction of the time of `Speaker(…)`, and there is one for each turn."""


def to_micros(time: datetime) -> int:
    """An aware time as microseconds since 1970, exactly."""
    return (time - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The time that `to_micros` encoded. Raises `ValueError` if it cannot be one."""
    try:
        return _EPOCH + timedelta(0, 0, value)  # by position: half of the time
    except OverflowError as error:
        raise ValueError(f"{value} is not a time") from error


def from_micros_or_none(value: int | None) -> datetime | None:
    """The time that `to_micros` encoded, or None."""
    return None if value is None else from_micros(value)


def encode_strings(values: Sequence[str]) -> str:
    """Encode strings for one column."""
    return json.dumps(list(values), ensure_ascii=False)


def decode_strings(value: str) -> tuple[str, ...]:
    """Decode strings that `encode_strings` wrote."""
    return tuple(json.loads(value))


def owner_id(connection: Connection, owner: Owner) -> int | None:
    """The owner's number in this database, or None if the owner is unknown."""
    row = connection.execute(_FIND, (owner.tenant, owner.user)).fetchone()
    return row[0] if row else None


def locked_owner_id(connection: Connection, owner: Owner) -> int | None:
    """Like `owner_id`, and locks the owner against other writers until the transaction ends."""
    row = connection.execute(_LOCK, (owner.tenant, owner.user)).fetchone()
    return row[0] if row else None


def lock_owner(connection: Connection, number: int) -> None:
    """Lock an owner against other writers until the transaction ends."""
    connection.execute(
        "SELECT id FROM owners WHERE id = ? /* FOR NO KEY UPDATE */", (number,)
    ).fetchall()


def ensured_owner_id(connection: Connection, owner: Owner) -> int:
    """Like `locked_owner_id`, but creates an unknown owner."""
    return ensured_owner(connection, owner)[0]


def erasure_mark(number: int, erasures: int) -> str:
    """See `Archive.erasure_mark`. Numbers of owners are never given twice."""
    return f"{number}.{erasures}"


def mark_of(connection: Connection, *, owner: Owner) -> str:
    """The owner's erasure mark; empty for an unknown one."""
    row = connection.execute(_FIND, (owner.tenant, owner.user)).fetchone()
    return erasure_mark(*row) if row else ""


def marked_owner(mark: str) -> int:
    """The number of the owner whose erasure mark that is."""
    return int(mark.partition(".")[0])


def ensured_owner(connection: Connection, owner: Owner) -> tuple[int, str]:
    """Like `ensured_owner_id`, with the owner's erasure mark."""
    while True:
        row = connection.execute(_LOCK, (owner.tenant, owner.user)).fetchone()
        if row is not None:
            return row[0], erasure_mark(*row)
        # Loop, because another writer may add or erase the same owner in between.
        connection.execute(
            'INSERT INTO owners (tenant, "user") VALUES (?, ?) ON CONFLICT DO NOTHING',
            (owner.tenant, owner.user),
        )


def turn_of(row: tuple[Any, ...]) -> Turn:
    """The turn of a row with `TURN_COLUMNS`."""
    return Turn(
        id=row[0],
        session=row[1],
        position=row[2],
        speaker=_SPEAKERS[row[3]],
        text=row[4],
        time=from_micros(row[5]),
        language=row[6],
        name=row[7],
    )


def turn_row(turn: Turn) -> tuple[str | int | None, ...]:
    """The row of a turn, with `TURN_COLUMNS`."""
    return (
        turn.id,
        turn.session,
        turn.position,
        turn.speaker.value,
        turn.text,
        to_micros(turn.time),
        turn.language,
        turn.name,
    )
