"""Recording a batch of turns with sessions, positions, postings and jobs, in the caller's
transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import (
    TURNS,
    add_postings,
    last_number,
    new_numbers,
    remove_turns,
)
from omoide.adapters.stores.sql.rows import (
    TURN_COLUMNS,
    ensured_owner,
    locked_owner_id,
    to_micros,
    turn_of,
    turn_row,
)
from omoide.adapters.stores.sql.sessions import (
    OPEN_SESSIONS,
    SESSION_COLUMNS,
    end_session,
    session_of,
)
from omoide.adapters.stores.sql.turn_tables import write_turn_features
from omoide.domain import RecordedTurns, Session, Turn
from omoide.errors import ConflictingTurn
from omoide.language.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import NewTurn, Owner


def record(
    connection: Connection,
    owner: Owner,
    said: Sequence[NewTurn],
    *,
    key: str | None,
    idle: timedelta,
    answers: str | None = None,
    replaces: Sequence[str] = (),
) -> RecordedTurns:
    """Record the new turns of `said`, and return a turn for each of them, in order."""
    if answers is not None and not _exists(connection, owner, answers):
        return RecordedTurns((), new=frozenset())
    if not said:
        _take_back_whole(connection, owner, replaces)
        return RecordedTurns((), new=frozenset())
    number, mark = ensured_owner(connection, owner)
    if replaces:
        _take_back(connection, number, replaces)
    batch = _Batch(connection=connection, owner=number, key=key, idle=idle)
    known = batch.recorded(said)
    turns: list[Turn] = []
    for new in said:
        turn = known.get(new.id)
        if turn is None:
            turn = known[new.id] = batch.place(new)
        elif (turn.speaker, turn.text) != (new.speaker, new.text):
            raise ConflictingTurn(
                f"turn {new.id!r} was recorded before as {turn.speaker} {turn.text[:80]!r}, "
                f"and now came {new.speaker} {new.text[:80]!r}; use a new id for a new text"
            )
        turns.append(turn)
    if batch.turns:
        batch.write()
    return RecordedTurns(turns, new=frozenset(turn.id for turn in batch.turns), mark=mark)


def _exists(connection: Connection, owner: Owner, turn: str) -> bool:
    """Whether the turn is there. Locks the owner, so that it stays until the transaction ends."""
    rows = connection.execute(
        "SELECT 1 FROM turns INDEXED BY turns_id WHERE owner = ? AND id = ?",
        (locked_owner_id(connection, owner), turn),
    )
    return rows.fetchone() is not None


def _take_back(connection: Connection, owner: int, ids: Sequence[str]) -> set[int]:
    """Remove turns of open sessions. Returns the sessions that they were of."""
    rows: list[Any] = connection.execute(
        "SELECT position, text, session FROM turns INDEXED BY turns_id WHERE owner = ?1 "  # noqa: S608
        "AND id IN (SELECT value FROM json_each(?2)) AND session IN "
        f"(SELECT number FROM {OPEN_SESSIONS} WHERE owner = ?1 AND ended IS NULL)",
        (owner, list(ids)),
    ).fetchall()
    remove_turns(connection, owner, {position: text for position, text, _ in rows})
    return {session for _, _, session in rows}


def _take_back_whole(connection: Connection, owner: Owner, ids: Sequence[str]) -> None:
    """Remove turns of open sessions that nothing takes the place of, and the sessions that they
    leave empty."""
    number = locked_owner_id(connection, owner) if ids else None
    if number is None:
        return
    for session in _take_back(connection, number, ids):
        connection.execute(
            "DELETE FROM sessions WHERE owner = ? AND number = ? AND turns = 0", (number, session)
        )


@dataclass(kw_only=True)
class _Batch:
    """The new turns of one call, while sessions and positions are assigned."""

    connection: Connection
    owner: int
    key: str | None
    idle: timedelta
    turns: list[Turn] = field(default_factory=list)
    session: Session | None = None
    """The session for the next turn, unless it has been idle for too long."""
    position: int = 0

    def recorded(self, said: Sequence[NewTurn]) -> dict[str, Turn]:
        """The turns that were recorded before, by id."""
        rows = self.connection.execute(
            f"SELECT {TURN_COLUMNS} FROM turns INDEXED BY turns_id "  # noqa: S608
            "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
            (self.owner, [new.id for new in said]),
        )
        return {turn.id: turn for turn in map(turn_of, rows)}

    def place(self, new: NewTurn) -> Turn:
        """Assign session and position to a turn, ending and opening sessions as needed."""
        if not self.turns:
            self.position = last_number(self.connection, self.owner, TURNS)
            self.session = self._newest()
        session = self.session
        if session and self.key is None and new.time - session.last > self.idle:
            self._save(session)
            # Due at once, like all jobs that follow from turns: their times may be wrong.
            end_session(self.connection, session, owner=self.owner, at=session.last)
            session = None
        session = session or self._open(new.time)
        self.session = replace(session, last=max(session.last, new.time), turns=session.turns + 1)
        self.position += 1
        turn = Turn(
            id=new.id,
            session=session.number,
            position=self.position,
            speaker=new.speaker,
            text=new.text,
            time=new.time,
            language=new.language,
            name=new.name,
        )
        self.turns.append(turn)
        return turn

    def write(self) -> None:
        """Write the turns, their session, features and postings."""
        if self.session:
            self._save(self.session)
        self.connection.executemany(
            f"INSERT INTO turns (owner, {TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            ((self.owner, *turn_row(turn)) for turn in self.turns),
        )
        terms_of = {turn.text: terms(turn.text) for turn in self.turns}.__getitem__
        write_turn_features(self.connection, self.owner, self.turns, terms_of)
        new_numbers(self.connection, self.owner, TURNS, count=len(self.turns))
        add_postings(
            self.connection,
            self.owner,
            TURNS,
            [(turn.position, to_micros(turn.time), turn.text) for turn in self.turns],
            terms_of,
        )

    def _newest(self) -> Session | None:
        """The newest session with the caller's key (or without a key), if it is open."""
        if self.key is not None:
            which = "sessions INDEXED BY sessions_key WHERE owner = ? AND key = ?"
        else:
            which = f"{OPEN_SESSIONS} WHERE owner = ? AND key IS NULL AND ended IS NULL"
        row = self.connection.execute(
            f"SELECT {SESSION_COLUMNS} FROM {which} "  # noqa: S608
            "ORDER BY number DESC LIMIT 1",
            (self.owner,) if self.key is None else (self.owner, self.key),
        ).fetchone()
        session = session_of(row) if row else None
        return session if session and session.open else None

    def _open(self, time: datetime) -> Session:
        row: Any = self.connection.execute(
            "UPDATE owners SET sessions = sessions + 1 WHERE id = ? RETURNING sessions",
            (self.owner,),
        ).fetchone()
        number = int(row[0])
        self.connection.execute(
            "INSERT INTO sessions (owner, number, key, started, last) VALUES (?, ?, ?, ?, ?)",
            (self.owner, number, self.key, to_micros(time), to_micros(time)),
        )
        return Session(number=number, started=time, last=time, key=self.key)

    def _save(self, session: Session) -> None:
        self.connection.execute(
            "UPDATE sessions SET last = ?, turns = ? WHERE owner = ? AND number = ?",
            (to_micros(session.last), session.turns, self.owner, session.number),
        )
