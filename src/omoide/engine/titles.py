"""Titles that people give to conversations.

Each is a note under the number of its session, so it is exported, migrated and erased like all
notes. An erasure of turns removes every note, since notes have no sources; titles that share no
word with the erased turns are put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Note
from omoide.errors import NoSuchSession
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Turn
    from omoide.ports import Store
    from omoide.transfer import ForeignConversation

KIND = "title"
LONGEST = 120
"""Most characters of a title."""


async def titles(store: Store, owner: Owner) -> Mapping[int, str]:
    """The titles of an owner's sessions, by number. A restored export may have notes of this kind
    that name no session."""
    notes = await store.notes.read(owner, kind=KIND)
    return {int(note.key): note.text for note in notes if note.key.isdecimal()}


async def set_title(store: Store, owner: Owner, session: int, title: str, *, now: datetime) -> None:
    """Give a session a title; an empty one removes it. Raises `NoSuchSession`."""
    if session not in {s.number for s in await store.turns.sessions(owner)}:
        raise NoSuchSession(f"{owner.user!r} has no session {session}")
    title = " ".join(title.split())[:LONGEST]
    if title:
        note = Note(kind=KIND, key=str(session), text=title, time=now, session=session)
        await store.notes.put(owner, note)
    else:
        await store.notes.remove(owner, kind=KIND, keys=[str(session)])


def with_titles(
    conversations: Iterable[ForeignConversation],
) -> tuple[Iterator[ForeignConversation], Mapping[str, str]]:
    """The conversations, and their titles by key, which are complete once all were read."""
    by_key: dict[str, str] = {}

    def noted() -> Iterator[ForeignConversation]:
        for conversation in conversations:
            if conversation.title:
                by_key[conversation.key] = conversation.title
            yield conversation

    return noted(), by_key


async def add_imported(
    store: Store, owner: Owner, by_key: Mapping[str, str], *, now: datetime
) -> None:
    """Give imported conversations, by their keys, the titles that they had elsewhere. One that a
    person has given stays."""
    known = await titles(store, owner)
    for session in await store.turns.sessions(owner):
        title = " ".join(by_key.get(session.key or "", "").split())[:LONGEST]
        if title and session.number not in known:
            note = Note(
                kind=KIND, key=str(session.number), text=title, time=now, session=session.number
            )
            await store.notes.put(owner, note)


async def put_back(
    store: Store, owner: Owner, before: Sequence[Note], *, erased: Sequence[Turn]
) -> int:
    """Put back the titles that an erasure removed only because it removes all notes: those of
    sessions that lost no turn, without a word of the erased turns. Returns how many."""
    if not before or not erased:
        return 0
    touched = {turn.session for turn in erased}
    words = {term for turn in erased for term in content_terms(turn.text)}
    left = {note.key for note in await store.notes.read(owner, kind=KIND)}
    known = {session.number for session in await store.turns.sessions(owner)}
    others = {str(number) for number in known - touched}
    kept = [
        note
        for note in before
        if note.key not in left
        and note.key in others
        and words.isdisjoint(content_terms(note.text))
    ]
    for note in kept:
        await store.notes.put(owner, note)
    return len(kept)
