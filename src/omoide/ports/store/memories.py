"""The ports for events, memos and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Event, Memo, Note, Owner


class EventStore(Protocol):
    """Stores events and how often each was recalled."""

    async def add(self, owner: Owner, events: Sequence[Event]) -> None:
        """Store new events with postings for full-text search, and queue an EMBED job unless one is
        waiting, in one transaction. Known ids are skipped. Raises `StaleVersion` if an event cites
        a turn, session or fact that was erased meanwhile."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Event, ...]:
        """All events, or those with these ids, by time. Unknown ids are ignored."""

    async def consolidate(self, owner: Owner, events: Sequence[Event]) -> int:
        """Record that these events were recalled. Each is given as it is *after* the recall
        (`Event.recalled`), and is written only if the stored event has exactly one recall less, so
        that concurrent recalls do not overwrite each other. One transaction; returns how many were
        written."""

    async def supersede(self, owner: Owner, *, old: str, by: str) -> None:
        """Mark the event `old` as superseded by the event `by`; the latest call wins. Unknown ids
        are ignored, and so is an event that would supersede itself."""


class MemoStore(Protocol):
    """Stores memos: stretches of dialogue by topic."""

    async def add(self, owner: Owner, memos: Sequence[Memo]) -> None:
        """Store new memos with postings for full-text search over topic, summary and compressed
        text, and queue an EMBED job unless one is waiting, in one transaction. Known ids are
        skipped. Raises `StaleVersion` as `EventStore.add` does."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Memo, ...]:
        """All memos, or those with these ids, oldest first. Unknown ids are ignored."""

    async def fold(self, owner: Owner, *, ids: Sequence[str], into: Memo) -> None:
        """Add the memo `into` and mark the memos with these ids as folded into it, in one
        transaction. Nothing is deleted: a folded memo can still be read, but searches no longer
        find it. Unknown ids are ignored. An existing `into` is kept, so the call can be repeated.
        Raises `StaleVersion` as `add` does."""


class NoteStore(Protocol):
    """Stores texts about an owner by kind and key: MemoryBank's daily summaries and portrait,
    Generative Agents' reflections, the server's stored responses."""

    async def put(self, owner: Owner, note: Note, *, mark: str | None = None) -> None:
        """Store a note, replacing the one with the same kind and key. Raises `StaleVersion`, and
        stores nothing, if it was made from a session that was erased meanwhile, or if `mark` is
        given and no longer the owner's (`Archive.erasure_mark`)."""

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """The notes of one kind ordered by key, or of all kinds ordered by kind and key."""

    async def remove(self, owner: Owner, *, kind: str, keys: Sequence[str] | None = None) -> int:
        """Remove the notes with these keys, or all of a kind, in one transaction. Unknown keys are
        ignored. Returns how many were removed. Unlike an erasure, it may leave bytes in the files
        of the database until they are overwritten."""
