"""The port for a database: one protocol per module, joined in `Store`."""

from __future__ import annotations

from typing import Protocol

from omoide.ports.store.archive import Archive, Erased, IndexTraces
from omoide.ports.store.facts import FactStore
from omoide.ports.store.index import (
    ExternalVectors,
    Features,
    Hit,
    JoinedReads,
    NamedSpeaker,
    Postings,
    SearchData,
    SearchIndex,
    TextToEmbed,
    TurnTable,
)
from omoide.ports.store.jobs import JobStore, Ledger
from omoide.ports.store.memories import EventStore, MemoStore, NoteStore
from omoide.ports.store.summaries import SummaryStore
from omoide.ports.store.turns import TurnStore

__all__ = [
    "Archive",
    "Erased",
    "EventStore",
    "ExternalVectors",
    "FactStore",
    "Features",
    "Hit",
    "IndexTraces",
    "JobStore",
    "JoinedReads",
    "Ledger",
    "MemoStore",
    "NamedSpeaker",
    "NoteStore",
    "Postings",
    "SearchData",
    "SearchIndex",
    "Store",
    "SummaryStore",
    "TextToEmbed",
    "TurnStore",
    "TurnTable",
]


class Store(Protocol):
    """A database with all its parts."""

    @property
    def turns(self) -> TurnStore:
        """Turns and sessions."""

    @property
    def summaries(self) -> SummaryStore:
        """Versions of the summary."""

    @property
    def events(self) -> EventStore:
        """Events."""

    @property
    def memos(self) -> MemoStore:
        """Memos."""

    @property
    def facts(self) -> FactStore:
        """Facts."""

    @property
    def notes(self) -> NoteStore:
        """Notes of mechanisms."""

    @property
    def jobs(self) -> JobStore:
        """Background jobs."""

    @property
    def ledger(self) -> Ledger:
        """Costs of model calls."""

    @property
    def index(self) -> SearchIndex:
        """Search."""

    @property
    def archive(self) -> Archive:
        """Owners and erasure."""

    async def close(self) -> None:
        """Close it. Calling it again does nothing."""
