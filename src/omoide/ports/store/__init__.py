"""What a database must offer, seen from its several sides, each in a module of its own."""

from __future__ import annotations

from typing import Protocol

from omoide.ports.store.archive import Archive, Erased
from omoide.ports.store.index import Derived, Hit, Index, Outline, Postings, Survey, Text, Voice
from omoide.ports.store.jobs import Jobs, Ledger
from omoide.ports.store.memories import Events, Memos, Notes
from omoide.ports.store.summaries import Summaries
from omoide.ports.store.turns import Turns

__all__ = [
    "Archive",
    "Derived",
    "Erased",
    "Events",
    "Hit",
    "Index",
    "Jobs",
    "Ledger",
    "Memos",
    "Notes",
    "Outline",
    "Postings",
    "Store",
    "Summaries",
    "Survey",
    "Text",
    "Turns",
    "Voice",
]


class Store(Protocol):
    """One database, seen from its several sides."""

    @property
    def turns(self) -> Turns:
        """What was said."""

    @property
    def summaries(self) -> Summaries:
        """Versions of the summary."""

    @property
    def events(self) -> Events:
        """Things that happened."""

    @property
    def memos(self) -> Memos:
        """Dialogue by topic."""

    @property
    def notes(self) -> Notes:
        """What mechanisms keep."""

    @property
    def jobs(self) -> Jobs:
        """Work for models."""

    @property
    def ledger(self) -> Ledger:
        """What models cost."""

    @property
    def index(self) -> Index:
        """Search."""

    @property
    def archive(self) -> Archive:
        """Owners and erasure."""

    async def close(self) -> None:
        """Close it. Calling it again does nothing."""
