"""Other programs' conversations, recorded as sessions of a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.domain import Said
from omoide.language import detect
from omoide.transfer.foreign import LeftOut, in_order
from omoide.transfer.restore import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Session, Turn
    from omoide.ports import Progress, Store
    from omoide.transfer.foreign import Conversation, Heard


@dataclass(frozen=True, kw_only=True)
class Brought:
    """What an import recorded, and what not."""

    sessions: int
    turns: int
    known: int
    """Turns that an earlier import had recorded already."""
    to_digest: int
    left_out: tuple[LeftOut, ...]


async def bring_in(
    store: Store,
    owner: Owner,
    conversations: Iterable[Conversation],
    *,
    at: datetime,
    digest: bool = True,
    progress: Progress | None = None,
) -> Brought:
    """Record each conversation as one session, in order of time, ended at its last message.

    What was imported before is not recorded again; what a conversation got since then becomes a
    session of its own. Messages without any time count as said `at` that moment.
    """
    bringing = _Bringing(store=store, owner=owner, digest=digest, progress=progress)
    return await bringing.run(in_order(conversations, at))


@dataclass(kw_only=True)
class _Bringing:
    store: Store
    owner: Owner
    digest: bool
    progress: Progress | None
    by_key: dict[str, Session] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    sessions: int = 0
    turns: int = 0
    known: int = 0
    ended: int = 0

    async def run(self, conversations: Sequence[Conversation]) -> Brought:
        for session in await self.store.turns.sessions(self.owner):
            if session.key:
                self.by_key[session.key] = session
        for number, conversation in enumerate(conversations, 1):
            self.left_out += conversation.left_out
            if conversation.messages:
                await self._conversation(conversation)
            if self.progress:
                self.progress(number, len(conversations), "recording conversations")
        return Brought(
            sessions=self.sessions,
            turns=self.turns,
            known=self.known,
            to_digest=self.ended if self.digest else 0,
            left_out=tuple(self.left_out),
        )

    async def _conversation(self, conversation: Conversation) -> None:
        ids = [message.id for message in conversation.messages]
        recorded = {t.id: t for t in await self.store.turns.read(self.owner, ids=ids)}
        new = self._new(conversation, recorded)
        self.known += len(recorded)
        key = self._free_key(conversation.key)
        if new:
            turns = await self.store.turns.append(
                self.owner, [_said(message) for message in new], session=key, idle=NEVER
            )
            self.turns += len(new)
            self.sessions += key not in self.by_key
            await self._end(turns[-1].session, max(turn.time for turn in turns))
        elif (session := self.by_key.get(key)) and session.open:  # broken off before its end
            await self._end(session.number, session.last)

    def _new(self, conversation: Conversation, recorded: dict[str, Turn]) -> list[Heard]:
        new: dict[str, Heard] = {}
        for message in conversation.messages:
            before = recorded.get(message.id) or new.get(message.id)
            if before is None:
                new[message.id] = message
            elif (before.speaker, before.text) != (message.speaker, message.text):
                where = f"{conversation.title or conversation.key}, {message.id}"
                reason = "a message of this id was recorded before with other words"
                self.left_out.append(LeftOut(where=where, reason=reason))
        return list(new.values())

    def _free_key(self, key: str) -> str:
        """The conversation's own key, or if that session ended, one for what came since."""
        free, part = key, 1
        while (session := self.by_key.get(free)) and not session.open:
            part += 1
            free = f"{key}#{part}"
        return free

    async def _end(self, session: int, at: datetime) -> None:
        self.ended += len(
            await self.store.turns.end(self.owner, session=session, at=at, digest=self.digest)
        )


def _said(message: Heard) -> Said:
    if message.time is None:
        raise ValueError(f"message {message.id} was not given a time")
    return Said(
        speaker=message.speaker,
        text=message.text,
        time=message.time,
        id=message.id,
        language=detect(message.text),
    )
