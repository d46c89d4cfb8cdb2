"""Recording a batch of words: their sessions, places, postings and the work that follows, in the
transaction of the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import TURNS, number, numbers_given, show
from omoide.adapters.stores.sql.outlines import write_outlines
from omoide.adapters.stores.sql.rows import (
    TURN_COLUMNS,
    micros,
    settled_owner_id,
    turn_of,
    turn_row,
)
from omoide.adapters.stores.sql.sessions import (
    OPEN_SESSIONS,
    SESSION_COLUMNS,
    end_session,
    session_of,
)
from omoide.domain import Recorded, Session, Turn
from omoide.errors import ConflictingTurn, NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner, Said


def record(
    connection: Connection,
    owner: Owner,
    said: Sequence[Said],
    *,
    key: str | None,
    idle: timedelta,
) -> Recorded:
    """Record what is new of `said`; one turn for each of them, in order."""
    if not said:
        return Recorded((), new=frozenset())
    batch = _Batch(
        connection=connection, owner=settled_owner_id(connection, owner), key=key, idle=idle
    )
    known = batch.recorded(said)
    turns: list[Turn] = []
    for words in said:
        turn = known.get(words.id)
        if turn is None:
            turn = known[words.id] = batch.place(words)
        elif (turn.speaker, turn.text) != (words.speaker, words.text):
            raise ConflictingTurn(
                f"turn {words.id!r} was recorded before as {turn.speaker} {turn.text[:80]!r}, "
                f"and now came {words.speaker} {words.text[:80]!r}; give new words a new id"
            )
        turns.append(turn)
    if batch.turns:
        batch.write()
    return Recorded(turns, new=frozenset(turn.id for turn in batch.turns))


@dataclass(kw_only=True)
class _Batch:
    """The new turns of one call while they are given their places."""

    connection: Connection
    owner: int
    key: str | None
    idle: timedelta
    turns: list[Turn] = field(default_factory=list)
    session: Session | None = None
    """The one that the next words go into, unless too much time has passed."""
    position: int = 0

    def recorded(self, said: Sequence[Said]) -> dict[str, Turn]:
        """Those of the ids that are known already."""
        rows = self.connection.execute(
            f"SELECT {TURN_COLUMNS} FROM turns INDEXED BY turns_id "  # noqa: S608
            "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
            (self.owner, [words.id for words in said]),
        )
        return {turn.id: turn for turn in map(turn_of, rows)}

    def place(self, words: Said) -> Turn:
        """Give words the next place, ending and opening sessions on the way."""
        if not self.turns:
            self.position = numbers_given(self.connection, self.owner, TURNS)
            self.session = self._newest()
        session = self.session
        if session and self.key is None and words.time - session.last > self.idle:
            self._save(session)
            # Due at once, as all work is that comes from words: their times may be wrong.
            end_session(self.connection, session, owner=self.owner, at=session.last)
            session = None
        session = session or self._open(words.time)
        self.session = replace(session, last=max(session.last, words.time), turns=session.turns + 1)
        self.position += 1
        turn = Turn(
            id=words.id,
            session=session.number,
            position=self.position,
            speaker=words.speaker,
            text=words.text,
            time=words.time,
            language=words.language,
            name=words.name,
        )
        self.turns.append(turn)
        return turn

    def write(self) -> None:
        """Write the turns and all that goes with them."""
        if self.session:
            self._save(self.session)
        self.connection.executemany(
            f"INSERT INTO turns (owner, {TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            ((self.owner, *turn_row(turn)) for turn in self.turns),
        )
        write_outlines(self.connection, self.owner, self.turns)
        number(self.connection, self.owner, TURNS, count=len(self.turns))
        show(self.connection, self.owner, TURNS, [turn.position for turn in self.turns])

    def _newest(self) -> Session | None:
        """The session under the caller's key, or the newest open one without a key."""
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
        if session and not session.open:
            raise NoSuchSession(
                f"session {self.key!r} ended at {session.ended}; say it in a new one"
            )
        return session

    def _open(self, time: datetime) -> Session:
        row: Any = self.connection.execute(
            "UPDATE owners SET sessions = sessions + 1 WHERE id = ? RETURNING sessions",
            (self.owner,),
        ).fetchone()
        opened = int(row[0])
        self.connection.execute(
            "INSERT INTO sessions (owner, number, key, started, last) VALUES (?, ?, ?, ?, ?)",
            (self.owner, opened, self.key, micros(time), micros(time)),
        )
        return Session(number=opened, started=time, last=time, key=self.key)

    def _save(self, session: Session) -> None:
        self.connection.execute(
            "UPDATE sessions SET last = ?, turns = ? WHERE owner = ? AND number = ?",
            (micros(session.last), session.turns, self.owner, session.number),
        )
