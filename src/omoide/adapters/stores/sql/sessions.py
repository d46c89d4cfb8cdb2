"""Session rows: reading them, and ending a session with its job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.jobs import AT_ONCE, insert_job
from omoide.adapters.stores.sql.rows import from_micros, from_micros_or_none, to_micros
from omoide.domain import JobTask, Session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.adapters.stores.sql.connection import Connection

SESSION_COLUMNS = "number, started, last, ended, key, sessions.turns"

# Without statistics, SQLite assumes that "of this owner" selects few rows. Where that would read
# all of an owner's sessions or turns, the index is given explicitly.
OPEN_SESSIONS = "sessions INDEXED BY sessions_open"


def session_of(row: Sequence[Any]) -> Session:
    """The session of a row with `SESSION_COLUMNS`."""
    return Session(
        number=row[0],
        started=from_micros(row[1]),
        last=from_micros(row[2]),
        ended=from_micros_or_none(row[3]),
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
    """End an open session, and queue its DIGEST job if `digest`.

    The job is due at once, whatever `at` is.
    """
    connection.execute(
        "UPDATE sessions SET ended = ? WHERE owner = ? AND number = ?",
        (to_micros(at), owner, session.number),
    )
    if digest:
        insert_job(
            connection,
            owner=owner,
            task=JobTask.DIGEST,
            session=session.number,
            created=to_micros(at),
            due=AT_ONCE,
        )
    return replace(session, ended=at)
