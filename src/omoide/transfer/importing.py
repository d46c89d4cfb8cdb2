"""Records conversations of other programs as sessions of a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.domain import NewTurn
from omoide.language import detect_language
from omoide.transfer.foreign_conversations import SkippedItem, sorted_conversations
from omoide.transfer.restore import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Session, Turn
    from omoide.ports import Progress, Store
    from omoide.transfer.foreign_conversations import ForeignConversation, ForeignMessage


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """What an import recorded, and what it skipped."""

    sessions: int
    turns: int
    known: int
    """Turns that were imported before."""
    to_digest: int
    left_out: tuple[SkippedItem, ...]


async def import_conversations(
    store: Store,
    owner: Owner,
    conversations: Iterable[ForeignConversation],
    *,
    at: datetime,
    digest: bool = True,
    progress: Progress | None = None,
) -> ImportResult:
    """Record each conversation as one session, in order of time, ended at its last message.

    What was imported before is not recorded again; messages added to a conversation since then
    become a new session. Messages without any time get the time `at`.
    """
    importer = _Import(store=store, owner=owner, digest=digest, progress=progress)
    return await importer.run(sorted_conversations(conversations, at))


@dataclass(kw_only=True)
class _Import:
    store: Store
    owner: Owner
    digest: bool
    progress: Progress | None
    by_key: dict[str, Session] = field(default_factory=dict)
    left_out: list[SkippedItem] = field(default_factory=list)
    sessions: int = 0
    turns: int = 0
    known: int = 0
    ended: int = 0

    async def run(self, conversations: Sequence[ForeignConversation]) -> ImportResult:
        for session in await self.store.turns.sessions(self.owner):
            if session.key:
                self.by_key[session.key] = session
        for number, conversation in enumerate(conversations, 1):
            self.left_out += conversation.left_out
            if conversation.messages:
                await self._conversation(conversation)
            if self.progress:
                self.progress(number, len(conversations), "recording conversations")
        return ImportResult(
            sessions=self.sessions,
            turns=self.turns,
            known=self.known,
            to_digest=self.ended if self.digest else 0,
            left_out=tuple(self.left_out),
        )

    async def _conversation(self, conversation: ForeignConversation) -> None:
        ids = [message.id for message in conversation.messages]
        recorded = {t.id: t for t in await self.store.turns.read(self.owner, ids=ids)}
        new = self._new(conversation, recorded)
        self.known += len(recorded)
        newest = self.by_key.get(conversation.key)
        if new:
            turns = await self.store.turns.append(
                self.owner,
                [_new_turn(message) for message in new],
                session=conversation.key,
                idle=NEVER,
            )
            self.turns += len(new)
            self.sessions += newest is None or not newest.open
            await self._end(turns[-1].session, max(turn.time for turn in turns))
        elif newest is not None and newest.open:  # an earlier import was interrupted
            await self._end(newest.number, newest.last)

    def _new(
        self, conversation: ForeignConversation, recorded: dict[str, Turn]
    ) -> list[ForeignMessage]:
        new: dict[str, ForeignMessage] = {}
        for message in conversation.messages:
            before = recorded.get(message.id) or new.get(message.id)
            if before is None:
                new[message.id] = message
            elif (before.speaker, before.text) != (message.speaker, message.text):
                where = f"{conversation.title or conversation.key}, {message.id}"
                reason = "a message with this id was recorded before with another text"
                self.left_out.append(SkippedItem(where=where, reason=reason))
        return list(new.values())

    async def _end(self, session: int, at: datetime) -> None:
        self.ended += len(
            await self.store.turns.end(self.owner, session=session, at=at, digest=self.digest)
        )


def _new_turn(message: ForeignMessage) -> NewTurn:
    if message.time is None:
        raise ValueError(f"message {message.id} has no time")
    return NewTurn(
        speaker=message.speaker,
        text=message.text,
        time=message.time,
        id=message.id,
        language=detect_language(message.text),
    )
