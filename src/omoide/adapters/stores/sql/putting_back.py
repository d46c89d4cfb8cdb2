"""Sessions and turns of an export, stored exactly as they were, in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import TURNS, number, numbers_given, show
from omoide.adapters.stores.sql.outlines import write_outlines
from omoide.adapters.stores.sql.rows import (
    TURN_COLUMNS,
    micros,
    settled_owner_id,
    turn_row,
)
from omoide.errors import ConflictingTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner, Session, Turn


def put_back(
    connection: Connection, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
) -> tuple[int, int]:
    """Store what is not there yet; how many sessions and turns that was."""
    if not sessions and not turns:
        return 0, 0
    row = settled_owner_id(connection, owner)
    new_sessions = _put_sessions(connection, row, sessions)
    new_turns = _put_turns(connection, row, turns)
    return new_sessions, new_turns


def _put_sessions(connection: Connection, owner: int, sessions: Sequence[Session]) -> int:
    rows: Any = connection.execute("SELECT number, key FROM sessions WHERE owner = ?", (owner,))
    here = dict(rows.fetchall())
    new = [session for session in sessions if session.number not in here]
    keys = {key for key in here.values() if key is not None}
    for session in new:
        if session.key in keys:
            raise ConflictingTurn(
                f"the key {session.key!r} of session {session.number} is that of another session "
                "here; put it back where nothing is stored"
            )
    connection.executemany(
        "INSERT INTO sessions (owner, number, key, started, last, ended, turns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                owner,
                s.number,
                s.key,
                micros(s.started),
                micros(s.last),
                None if s.ended is None else micros(s.ended),
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
            f"turn {taken[1]!r} stands at position {taken[0]} here, where another one is to be put "
            "back; put it back where nothing is stored"
        )
    connection.executemany(
        f"INSERT INTO turns (owner, {TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        ((owner, *turn_row(turn)) for turn in new),
    )
    write_outlines(connection, owner, new)
    given = numbers_given(connection, owner, TURNS)
    number(connection, owner, TURNS, count=max(0, max(positions) - given))
    if min(positions) <= given:  # caches that know everything up to there must look again
        connection.execute(
            "UPDATE counts SET epoch = epoch + 1 WHERE owner = ? AND kind = ?", (owner, TURNS.kind)
        )
    show(connection, owner, TURNS, sorted(positions))
    return len(new)
