"""What mechanisms remember beside the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Event, Memo, Note, Owner


class Events(Protocol):
    """Single things that happened, and how often each came to mind."""

    async def add(self, owner: Owner, events: Sequence[Event]) -> None:
        """Store new events, with postings for full-text search, and queue an EMBED job unless one
        is waiting, in one transaction. An id that is there already is passed over. Raises
        `StaleVersion` for one that cites a turn or a session that was erased meanwhile."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Event, ...]:
        """All events, or those with these ids, in the order they were told. Unknown ids are left
        out."""

    async def consolidate(self, owner: Owner, events: Sequence[Event]) -> int:
        """Write down that these events came to mind: each is given as it is *after* the recall
        (`Event.recalled`), and written only if the stored one has one recall less, so that two
        who recalled at once do not count as one. All in one transaction; how many were written."""

    async def supersede(self, owner: Owner, *, old: str, by: str) -> None:
        """Note that the event `old` is no longer true since the event `by`; the latest call counts.
        Unknown ids, and an event that would supersede itself, are passed over."""


class Memos(Protocol):
    """Stretches of dialogue by topic."""

    async def add(self, owner: Owner, memos: Sequence[Memo]) -> None:
        """Store new memos, with postings for full-text search over topic, summary and compressed
        text, and queue an EMBED job unless one is waiting, in one transaction. An id that is there
        is passed over. Raises `StaleVersion` as `Events.add` does."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Memo, ...]:
        """All memos, or those with these ids, oldest first. Unknown ids are left out."""

    async def fold(self, owner: Owner, *, ids: Sequence[str], into: Memo) -> None:
        """Add the memo `into` and mark those with these ids as folded into it, in one
        transaction. Nothing is deleted: a folded memo is still read, and no longer searched.
        Unknown ids are passed over; an `into` that is there is kept, so that the call can be
        made again. Raises `StaleVersion` as `add` does."""


class Notes(Protocol):
    """Short texts that mechanisms keep about an owner: MemoryBank's daily summaries and its
    portrait, Generative Agents' reflections."""

    async def put(self, owner: Owner, note: Note) -> None:
        """Store a note in place of the one with the same kind and key. Raises `StaleVersion` for
        one made from a session that was erased meanwhile."""

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """The notes of a kind, in order of their keys; of all kinds, in order of these, if None
        is named."""
