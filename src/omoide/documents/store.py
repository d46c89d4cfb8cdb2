"""`Store` on top of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.documents.archive import DocumentArchive
from omoide.documents.facts import DocumentFacts
from omoide.documents.index import DocumentIndex
from omoide.documents.memories import (
    DocumentEvents,
    DocumentMemos,
    DocumentNotes,
    DocumentSummaries,
)
from omoide.documents.owner_records import OwnerRecords
from omoide.documents.turns import DocumentTurns
from omoide.documents.work import DocumentJobs, DocumentLedger

if TYPE_CHECKING:
    from omoide.documents.place import Documents


class DocumentStore:
    """`Store` on top of any backend that stores documents. Closing it closes the backend."""

    def __init__(self, documents: Documents) -> None:
        self._records = records = OwnerRecords(documents)
        self.turns = DocumentTurns(records)
        self.summaries = DocumentSummaries(records)
        self.events = DocumentEvents(records)
        self.memos = DocumentMemos(records)
        self.facts = DocumentFacts(records)
        self.notes = DocumentNotes(records)
        self.jobs = DocumentJobs(records)
        self.ledger = DocumentLedger(records)
        self.index = DocumentIndex(records)
        self.archive = DocumentArchive(records)

    async def close(self) -> None:
        """See `Store.close`."""
        await self._records.close()
