"""The ledger of model calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.rows import from_micros, locked_owner_id, owner_id, to_micros
from omoide.domain import CallPurpose, ModelCall

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection, Database
    from omoide.domain import Owner


class SqlLedger:
    """`Ledger` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, owner: Owner, call: ModelCall) -> None:
        """See `Ledger.add`."""

        def work(connection: Connection) -> None:
            number = locked_owner_id(connection, owner)
            if number is None:
                return
            connection.execute(
                "INSERT INTO calls (owner, serial, purpose, model, session, prompt_tokens, "
                "completion_tokens, seconds, time, failed) VALUES "
                "(?1, (SELECT coalesce(max(serial), 0) + 1 FROM calls WHERE owner = ?1), "
                "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    number,
                    call.purpose.value,
                    call.model,
                    call.session,
                    call.prompt_tokens,
                    call.completion_tokens,
                    call.seconds,
                    to_micros(call.time),
                    call.failed,
                ),
            )

        await self._database.write(owner.tenant, work)

    async def calls(self, owner: Owner) -> tuple[ModelCall, ...]:
        """See `Ledger.calls`."""

        def work(connection: Connection) -> tuple[ModelCall, ...]:
            rows = connection.execute(
                "SELECT purpose, model, session, prompt_tokens, completion_tokens, seconds, time, "
                "failed FROM calls WHERE owner = ? ORDER BY serial",
                (owner_id(connection, owner),),
            )
            return tuple(
                ModelCall(
                    purpose=CallPurpose(row[0]),
                    model=row[1],
                    session=row[2],
                    prompt_tokens=row[3],
                    completion_tokens=row[4],
                    seconds=row[5],
                    time=from_micros(row[6]),
                    failed=bool(row[7]),
                )
                for row in rows
            )

        return await self._database.read(owner.tenant, work)
