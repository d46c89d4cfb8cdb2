"""The parts of a store that SQLite and PostgreSQL share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.events import SqlEvents
from omoide.adapters.stores.sql.facts import SqlFacts
from omoide.adapters.stores.sql.index import SqlIndex, external_name
from omoide.adapters.stores.sql.jobs import SqlJobs
from omoide.adapters.stores.sql.ledger import SqlLedger
from omoide.adapters.stores.sql.memos import SqlMemos
from omoide.adapters.stores.sql.notes import SqlNotes
from omoide.adapters.stores.sql.summaries import SqlSummaries
from omoide.adapters.stores.sql.turns import SqlTurns

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.archive import SqlArchive
    from omoide.adapters.stores.sql.connection import Database
    from omoide.adapters.stores.sql.turn_tables import TurnTableCache
    from omoide.adapters.stores.sql.vectors import VectorComparer


class SqlStore:
    """`Store` over one SQL database."""

    archive: SqlArchive
    """Set by each database's own store."""

    def __init__(
        self, database: Database, comparer: VectorComparer, turn_tables: TurnTableCache
    ) -> None:
        self.database = database
        self.comparer = comparer
        self.turn_tables = turn_tables
        self.turns = SqlTurns(database)
        self.summaries = SqlSummaries(database)
        self.events = SqlEvents(database)
        self.memos = SqlMemos(database)
        self.facts = SqlFacts(database)
        self.notes = SqlNotes(database)
        self.jobs = SqlJobs(database)
        self.ledger = SqlLedger(database)
        self.index = SqlIndex(database, comparer, turn_tables)

    async def vectors_outside(self) -> bool:
        """Whether the vectors of this database are in an external index."""
        return await self.database.read("", external_name) is not None

    async def close(self) -> None:
        """See `Store.close`."""
        await self.database.close()
