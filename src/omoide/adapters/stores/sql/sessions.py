"""Rows of sessions: reading them, and ending one together with the work that follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.jobs import AT_ONCE, insert_job
from omoide.adapters.stores.sql.rows import micros, moment, moment_or_none
from omoide.domain import Session, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection

SESSION_COLUMNS = "number, started, last, ended, key, sessions.turns"

# SQLite knows nothing of how rows are spread and takes "of this owner" to mean a few. Where that
# would read all of an owner's sessions or turns, the index is named.
OPEN_SESSIONS = "sessions INDEXED BY sessions_open"


def session_of(row: Sequence[Any]) -> Session:
    """A session from `SESSION_COLUMNS`."""
    return Session(
        number=row[0],
        started=moment(row[1]),
        last=moment(row[2]),
        ended=moment_or_none(row[3]),
        key=row[4],
        turns=row[5],
    )


def end_session(
    connection: Connection,
    session: Session,
    *,
    owner: int,
    at: datetime,
    digest: bool = True,
) -> Session:
    """End an open session, and queue what turns it into memory unless that comes from elsewhere.

    The work is due at once, whatever time the session is said to have ended at.
    """
    connection.execute(
        "UPDATE sessions SET ended = ? WHERE owner = ? AND number = ?",
        (micros(at), owner, session.number),
    )
    if digest:
        insert_job(
            connection,
            owner=owner,
            task=Task.DIGEST,
            session=session.number,
            created=micros(at),
            due=AT_ONCE,
        )
    return replace(session, ended=at)
