"""Restores sessions and turns of an export unchanged, in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import TURNS, last_number, make_findable, new_numbers
from omoide.adapters.stores.sql.rows import (
    TURN_COLUMNS,
    ensured_owner_id,
    to_micros,
    turn_row,
)
from omoide.adapters.stores.sql.turn_tables import write_turn_features
from omoide.errors import ConflictingTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner, Session, Turn


def restore_turns(
    connection: Connection, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
) -> tuple[int, int]:
    """Store missing sessions and turns, and return how many of each. The owner exists afterwards,
    also where there are none: what its models cost may be all that is left."""
    row = ensured_owner_id(connection, owner)
    new_sessions = _put_sessions(connection, row, sessions)
    new_turns = _put_turns(connection, row, turns)
    return new_sessions, new_turns


def _put_sessions(connection: Connection, owner: int, sessions: Sequence[Session]) -> int:
    rows: Any = connection.execute(
        "SELECT number FROM sessions WHERE owner = ? "
        "AND number IN (SELECT value FROM json_each(?))",
        (owner, [session.number for session in sessions]),
    )
    known = {number for (number,) in rows.fetchall()}
    new = [session for session in sessions if session.number not in known]
    connection.executemany(
        "INSERT INTO sessions (owner, number, key, started, last, ended, turns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                owner,
                s.number,
                s.key,
                to_micros(s.started),
                to_micros(s.last),
                None if s.ended is None else to_micros(s.ended),
                s.turns,
            )
            for s in new
        ),
    )
    highest = max((session.number for session in sessions), default=0)
    connection.execute(
        "UPDATE owners SET sessions = ? WHERE id = ? AND sessions < ?", (highest, owner, highest)
    )
    return len(new)


def _put_turns(connection: Connection, owner: int, turns: Sequence[Turn]) -> int:
    known = {
        row[0]
        for row in connection.execute(
            "SELECT id FROM turns INDEXED BY turns_id "
            "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
            (owner, [turn.id for turn in turns]),
        )
    }
    new = [turn for turn in turns if turn.id not in known]
    if not new:
        return 0
    positions = [turn.position for turn in new]
    taken = connection.execute(
        "SELECT position, id FROM turns "
        "WHERE owner = ? AND position IN (SELECT value FROM json_each(?))",
        (owner, positions),
    ).fetchone()
    if taken:
        raise ConflictingTurn(
            f"turn {taken[1]!r} is already at position {taken[0]}, where another one should be "
            "restored; restore into a user without turns"
        )
    connection.executemany(
        f"INSERT INTO turns (owner, {TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        ((owner, *turn_row(turn)) for turn in new),
    )
    write_turn_features(connection, owner, new)
    last = last_number(connection, owner, TURNS)
    new_numbers(connection, owner, TURNS, count=max(0, max(positions) - last))
    if min(positions) <= last:  # invalidate caches, which hold everything up to `last`
        connection.execute(
            "UPDATE counts SET epoch = epoch + 1 WHERE owner = ? AND kind = ?", (owner, TURNS.kind)
        )
    make_findable(connection, owner, TURNS, sorted(positions))
    return len(new)
