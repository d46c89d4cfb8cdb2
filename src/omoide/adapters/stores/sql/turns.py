"""Turns and sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.external import is_vanishing_owner
from omoide.adapters.stores.sql.recording import record
from omoide.adapters.stores.sql.rows import (
    TURN_COLUMNS,
    lock_owner,
    locked_owner_id,
    owner_id,
    to_micros,
    turn_of,
)
from omoide.adapters.stores.sql.sessions import (
    OPEN_SESSIONS,
    SESSION_COLUMNS,
    end_session,
    session_of,
)
from omoide.errors import NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import NewTurn, Owner, RecordedTurns, Session, Turn

_IDLE = (
    f'SELECT owners."user", sessions.owner, {SESSION_COLUMNS} '  # noqa: S608
    f"FROM {OPEN_SESSIONS} JOIN owners ON owners.id = sessions.owner "
    "WHERE ended IS NULL AND tenant = ? AND (last < ? OR last > ?) ORDER BY last"
)
_LOCK_FREE_OWNERS = (
    "SELECT id FROM owners WHERE id IN (SELECT value FROM json_each(?)) "
    "ORDER BY id /* FOR NO KEY UPDATE SKIP LOCKED */"
)


class SqlTurns:
    """`TurnStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self,
        owner: Owner,
        said: Sequence[NewTurn],
        *,
        session: str | None,
        idle: timedelta,
        answers: str | None = None,
        replaces: Sequence[str] = (),
    ) -> RecordedTurns:
        """See `TurnStore.append`. Repeating recorded turns writes nothing, and so succeeds even if
        their session has ended."""
        said = tuple(said)
        return await self._database.write(
            owner.tenant,
            lambda connection: record(
                connection,
                owner,
                said,
                key=session,
                idle=idle,
                answers=answers,
                replaces=replaces,
            ),
        )

    async def end(
        self, owner: Owner, *, session: int | None = None, at: datetime, digest: bool = True
    ) -> tuple[Session, ...]:
        """See `TurnStore.end`."""

        def work(connection: Connection) -> tuple[Session, ...]:
            number = locked_owner_id(connection, owner)
            if session is not None:
                which, values = "sessions WHERE owner = ? AND number = ?", [number, session]
            else:
                which, values = f"{OPEN_SESSIONS} WHERE owner = ? AND ended IS NULL", [number]
            rows = connection.execute(
                f"SELECT {SESSION_COLUMNS} FROM {which} ORDER BY number",  # noqa: S608
                values,
            ).fetchall()
            if session is not None and not rows:
                raise NoSuchSession(f"{owner.user!r} has no session {session}")
            return tuple(
                end_session(connection, row, owner=number, at=at, digest=digest)
                for row in map(session_of, rows)
                if number is not None and row.open
            )

        return await self._database.write(owner.tenant, work)

    async def end_idle(
        self, tenant: str, *, before: datetime, after: datetime | None = None
    ) -> int:
        """See `TurnStore.end_idle`. Whoever is locked by another comes after all others and alone,
        so that nobody waits for somebody else's lock."""
        latest = after or datetime.max.replace(tzinfo=UTC)
        values = (tenant, to_micros(before), to_micros(latest))

        def end_of(connection: Connection, locked: Collection[int]) -> int:
            idle = [row for row in _idle(connection, values) if row[0] in locked]
            for number, session in idle:
                end_session(connection, session, owner=number, at=min(session.last, latest))
            return len(idle)

        def end_free(connection: Connection) -> tuple[int, list[int]]:
            owners = {number for number, _ in _idle(connection, values)}
            rows = connection.execute(_LOCK_FREE_OWNERS, (sorted(owners),))
            free = {number for (number,) in rows}
            # Read again under the lock: turns may have been added meanwhile.
            return end_of(connection, free), sorted(owners - free)

        def end_one(connection: Connection, number: int) -> int:
            lock_owner(connection, number)
            return end_of(connection, (number,))

        ended, busy = await self._database.write(tenant, end_free)
        for number in busy:
            ended += await self._database.write(tenant, partial(end_one, number=number))
        return ended

    async def sessions(self, owner: Owner) -> tuple[Session, ...]:
        """See `TurnStore.sessions`."""

        def work(connection: Connection) -> tuple[Session, ...]:
            rows = connection.execute(
                f"SELECT {SESSION_COLUMNS} FROM sessions WHERE owner = ? ORDER BY number",  # noqa: S608
                (owner_id(connection, owner),),
            )
            return tuple(map(session_of, rows))

        return await self._database.read(owner.tenant, work)

    async def read(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        ids: Sequence[str] | None = None,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        first: int | None = None,
    ) -> tuple[Turn, ...]:
        """See `TurnStore.read`."""
        table, wanted = "turns", ""
        values: list[object] = []
        if session is not None:
            table = "turns INDEXED BY turns_session"
            wanted += " AND session = ?"
            values.append(session)
        if ids is not None:
            table = "turns INDEXED BY turns_id"
            wanted += " AND id IN (SELECT value FROM json_each(?))"
            values.append(list(ids))
        if after is not None:
            wanted += " AND position > ?"
            values.append(after)
        if before is not None:
            wanted += " AND position < ?"
            values.append(before)
        wanted += " ORDER BY position" if first is not None else " ORDER BY position DESC"
        if (most := last if first is None else first) is not None:
            wanted += " LIMIT ?"
            values.append(max(most, 0))

        def work(connection: Connection) -> tuple[Turn, ...]:
            rows = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM {table} WHERE owner = ?{wanted}",  # noqa: S608
                (owner_id(connection, owner), *values),
            ).fetchall()
            return tuple(map(turn_of, rows if first is not None else reversed(rows)))

        return await self._database.read(owner.tenant, work)


def _idle(connection: Connection, values: Sequence[object]) -> list[tuple[int, Session]]:
    """The sessions that are to be ended, each with its owner. Those of an owner who is being erased
    go with the owner."""
    rows: list[Any] = connection.execute(_IDLE, values).fetchall()
    return [
        (number, session_of(row)) for user, number, *row in rows if not is_vanishing_owner(user)
    ]
