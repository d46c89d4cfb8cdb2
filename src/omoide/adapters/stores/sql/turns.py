"""What was said, and the sessions it was said in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.recording import record
from omoide.adapters.stores.sql.rows import TURN_COLUMNS, held_owner_id, micros, owner_id, turn_of
from omoide.adapters.stores.sql.sessions import (
    OPEN_SESSIONS,
    SESSION_COLUMNS,
    end_session,
    session_of,
)
from omoide.errors import NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner, Recorded, Said, Session, Turn

_SILENT = (
    f"SELECT sessions.owner, {SESSION_COLUMNS} "  # noqa: S608
    f"FROM {OPEN_SESSIONS} JOIN owners ON owners.id = sessions.owner "
    "WHERE ended IS NULL AND tenant = ? AND last < ? ORDER BY last"
)
_HOLD = (
    "SELECT id FROM owners WHERE id IN (SELECT value FROM json_each(?)) "
    "ORDER BY id /* FOR NO KEY UPDATE */"
)


class SqlTurns:
    """`Turns` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self, owner: Owner, said: Sequence[Said], *, session: str | None, idle: timedelta
    ) -> Recorded:
        """See `Turns.append`. A call that only repeats what was recorded writes nothing, and so
        succeeds even if its session has ended since."""
        said = tuple(said)
        return await self._database.write(
            owner.tenant,
            lambda connection: record(connection, owner, said, key=session, idle=idle),
        )

    async def end(
        self, owner: Owner, *, session: int | None = None, at: datetime, digest: bool = True
    ) -> tuple[Session, ...]:
        """See `Turns.end`. A number that names no session raises `NoSuchSession`."""

        def work(connection: Connection) -> tuple[Session, ...]:
            number = held_owner_id(connection, owner)
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
                end_session(connection, found, owner=number, at=at, digest=digest)
                for found in map(session_of, rows)
                if number is not None and found.open
            )

        return await self._database.write(owner.tenant, work)

    async def end_idle(self, tenant: str, *, before: datetime) -> int:
        """See `Turns.end_idle`."""

        def work(connection: Connection) -> int:
            silent = (tenant, micros(before))
            owners = sorted({row[0] for row in connection.execute(_SILENT, silent)})
            connection.execute(_HOLD, (owners,)).fetchall()
            # Again, now that nobody else can write: someone may have spoken meanwhile.
            rows = connection.execute(_SILENT, silent).fetchall()
            held = [row for row in rows if row[0] in owners]
            for number, *row in held:
                idle = session_of(row)
                end_session(connection, idle, owner=number, at=idle.last)
            return len(held)

        return await self._database.write(tenant, work)

    async def sessions(self, owner: Owner) -> tuple[Session, ...]:
        """See `Turns.sessions`."""

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
    ) -> tuple[Turn, ...]:
        """See `Turns.read`."""
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
        wanted += " ORDER BY position DESC"
        if last is not None:
            wanted += " LIMIT ?"
            values.append(max(last, 0))

        def work(connection: Connection) -> tuple[Turn, ...]:
            rows = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM {table} WHERE owner = ?{wanted}",  # noqa: S608
                (owner_id(connection, owner), *values),
            ).fetchall()
            return tuple(map(turn_of, reversed(rows)))

        return await self._database.read(owner.tenant, work)
