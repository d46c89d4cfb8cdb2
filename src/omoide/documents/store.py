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
from omoide.documents.shelf import Shelf
from omoide.documents.turns import DocumentTurns
from omoide.documents.work import DocumentJobs, DocumentLedger

if TYPE_CHECKING:
    from omoide.documents.place import Documents


class DocumentStore:
    """`Store` on top of any backend that stores documents. Closing it closes the backend."""

    def __init__(self, documents: Documents) -> None:
        self._shelf = shelf = Shelf(documents)
        self.turns = DocumentTurns(shelf)
        self.summaries = DocumentSummaries(shelf)
        self.events = DocumentEvents(shelf)
        self.memos = DocumentMemos(shelf)
        self.facts = DocumentFacts(shelf)
        self.notes = DocumentNotes(shelf)
        self.jobs = DocumentJobs(shelf)
        self.ledger = DocumentLedger(shelf)
        self.index = DocumentIndex(shelf)
        self.archive = DocumentArchive(shelf)

    async def close(self) -> None:
        """See `Store.close`."""
        await self._shelf.close()
