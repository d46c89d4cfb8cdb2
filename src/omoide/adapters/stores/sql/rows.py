"""How times, owners and turns are written in rows."""

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

_FIND = 'SELECT id FROM owners WHERE tenant = ? AND "user" = ?'
_HOLD = f"{_FIND} /* FOR NO KEY UPDATE */"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(time: datetime) -> int:
    """An aware time as microseconds since 1970, exactly."""
    return (time - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The time that `micros` wrote."""
    return _EPOCH + timedelta(microseconds=value)


def moment_or_none(value: int | None) -> datetime | None:
    """The time that `micros` wrote, where there is one."""
    return None if value is None else moment(value)


def array(values: Sequence[str]) -> str:
    """Strings as one column holds them."""
    return json.dumps(list(values), ensure_ascii=False)


def strings(value: str) -> tuple[str, ...]:
    """Strings that `array` wrote."""
    return tuple(json.loads(value))


def owner_id(connection: Connection, owner: Owner) -> int | None:
    """The owner's number in this database, or None if nothing of theirs is here."""
    row = connection.execute(_FIND, (owner.tenant, owner.user)).fetchone()
    return row[0] if row else None


def held_owner_id(connection: Connection, owner: Owner) -> int | None:
    """The same, and nobody else may write for this owner until the transaction ends."""
    row = connection.execute(_HOLD, (owner.tenant, owner.user)).fetchone()
    return row[0] if row else None


def settled_owner_id(connection: Connection, owner: Owner) -> int:
    """The owner's number, given now if they are new; held like `held_owner_id`."""
    while (known := held_owner_id(connection, owner)) is None:
        # Another may add or erase the same owner in between: then it is looked up again.
        connection.execute(
            'INSERT INTO owners (tenant, "user") VALUES (?, ?) ON CONFLICT DO NOTHING',
            (owner.tenant, owner.user),
        )
    return known


def turn_of(row: tuple[Any, ...]) -> Turn:
    """A turn from `TURN_COLUMNS`."""
    return Turn(
        id=row[0],
        session=row[1],
        position=row[2],
        speaker=Speaker(row[3]),
        text=row[4],
        time=moment(row[5]),
        language=row[6],
        name=row[7],
    )


def turn_row(turn: Turn) -> tuple[str | int | None, ...]:
    """What `turn_of` reads."""
    return (
        turn.id,
        turn.session,
        turn.position,
        turn.speaker.value,
        turn.text,
        micros(turn.time),
        turn.language,
        turn.name,
    )
