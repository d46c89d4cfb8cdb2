"""The sides of a store that SQL gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.events import SqlEvents
from omoide.adapters.stores.sql.index import SqlIndex
from omoide.adapters.stores.sql.jobs import SqlJobs
from omoide.adapters.stores.sql.ledger import SqlLedger
from omoide.adapters.stores.sql.memos import SqlMemos
from omoide.adapters.stores.sql.notes import SqlNotes
from omoide.adapters.stores.sql.summaries import SqlSummaries
from omoide.adapters.stores.sql.turns import SqlTurns

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.archive import SqlArchive
    from omoide.adapters.stores.sql.connection import Database
    from omoide.adapters.stores.sql.nearness import Nearness
    from omoide.adapters.stores.sql.outlines import Outlines


class SqlStore:
    """All sides of `Store` over one database."""

    archive: SqlArchive
    """Each database's own."""

    def __init__(self, database: Database, nearness: Nearness, outlines: Outlines) -> None:
        self.database = database
        self.nearness = nearness
        self.outlines = outlines
        self.turns = SqlTurns(database)
        self.summaries = SqlSummaries(database)
        self.events = SqlEvents(database)
        self.memos = SqlMemos(database)
        self.notes = SqlNotes(database)
        self.jobs = SqlJobs(database)
        self.ledger = SqlLedger(database)
        self.index = SqlIndex(database, nearness, outlines)

    async def close(self) -> None:
        """See `Store.close`."""
        await self.database.close()
