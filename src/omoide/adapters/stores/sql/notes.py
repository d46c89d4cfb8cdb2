"""Short texts that mechanisms keep about an owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.provenance import refuse_erased, refuse_other_mark
from omoide.adapters.stores.sql.rows import ensured_owner, from_micros, owner_id, to_micros
from omoide.domain import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner


class SqlNotes:
    """`NoteStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, owner: Owner, note: Note, *, mark: str | None = None) -> None:
        """See `NoteStore.put`."""

        def work(connection: Connection) -> None:
            number, current = ensured_owner(connection, owner)
            refuse_other_mark(mark, current)  # before a new owner is committed
            sessions = () if note.session is None else (note.session,)
            refuse_erased(connection, number, "a note", sessions=sessions)
            connection.execute(
                "INSERT INTO notes (owner, kind, key, text, time, session) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (owner, kind, key) DO UPDATE "
                "SET text = excluded.text, time = excluded.time, session = excluded.session",
                (number, note.kind, note.key, note.text, to_micros(note.time), note.session),
            )

        await self._database.write(owner.tenant, work)

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """See `NoteStore.read`."""
        wanted, values = ("", ()) if kind is None else (" AND kind = ?", (kind,))

        def work(connection: Connection) -> tuple[Note, ...]:
            rows = connection.execute(
                "SELECT kind, key, text, time, session FROM notes "  # noqa: S608
                f"WHERE owner = ?{wanted} ORDER BY kind, key",
                (owner_id(connection, owner), *values),
            )
            return tuple(
                Note(kind=kind, key=key, text=text, time=from_micros(time), session=session)
                for kind, key, text, time, session in rows
            )

        return await self._database.read(owner.tenant, work)

    async def remove(self, owner: Owner, *, kind: str, keys: Sequence[str] | None = None) -> int:
        """See `NoteStore.remove`."""

        def work(connection: Connection) -> int:
            number = owner_id(connection, owner)
            found = connection.execute(
                "SELECT key FROM notes WHERE owner = ? AND kind = ?", (number, kind)
            )
            doomed = [key for (key,) in found if keys is None or key in keys]
            for key in doomed:
                connection.execute(
                    "DELETE FROM notes WHERE owner = ? AND kind = ? AND key = ?",
                    (number, kind, key),
                )
            return len(doomed)

        return await self._database.write(owner.tenant, work)
