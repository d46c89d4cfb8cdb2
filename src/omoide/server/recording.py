"""Recording the user's side of a chat request exactly once, in the right session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Owner, Speaker
from omoide.engine import Utterance
from omoide.errors import NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.domain import Recorded
    from omoide.engine import Memory
    from omoide.server.conversation import Asked, Words

RECENT = 32
"""How many turns back a repetition is looked for."""


class Recording:
    """Records for one tenant. `idle` is the pause after which a session ends."""

    def __init__(self, memory: Memory, *, idle: timedelta) -> None:
        self._memory = memory
        self._idle = idle

    async def record(
        self, user: str, asked: Asked, *, session: str | None, now: datetime
    ) -> Recorded:
        """The turns of what was asked, recorded now or before; durable on return."""
        words = asked.words[-1]
        *earlier, last = (
            Utterance(speaker=Speaker.USER, text=w.text, id=w.id) for w in asked.words
        )
        if not asked.follow_up:  # mostly they are new, and nothing has to be asked beforehand
            turns = await self.into_session(user, [*earlier, last], session=session)
            if words.id in turns.new:
                return turns
        owner = Owner(tenant=self._memory.tenant, user=user)
        id_ = await self._id(owner, words, follow_up=asked.follow_up, now=now)
        return await self.into_session(user, [*earlier, replace(last, id=id_)], session=session)

    async def into_session(
        self, user: str, said: Sequence[Utterance], *, session: str | None
    ) -> Recorded:
        """Record under the caller's session key. Where its session has ended, by idleness or by
        hand, the talk goes on in another: `key~2`, `key~3`, …"""
        try:
            return await self._memory.record(user, said, session=session)
        except NoSuchSession:
            if session is None:
                raise
        family = [
            s for s in await self._memory.sessions(user) if (s.key or "").startswith(f"{session}~")
        ]
        newest = family[-1] if family else None
        if newest is not None and newest.open:
            return await self._memory.record(user, said, session=newest.key)
        return await self._memory.record(user, said, session=f"{session}~{len(family) + 2}")

    async def _id(self, owner: Owner, words: Words, *, follow_up: bool, now: datetime) -> str:
        """The id to record words under that are known, or were answered before: that of the same
        words if they were merely sent again, a new one if they were said again."""
        recent = await self._memory.store.turns.read(owner, last=RECENT)
        if follow_up:  # a client that drops old messages changes the place of these
            known = await self._memory.store.turns.read(owner, ids=[words.id])
            same = [t for t in recent if t.speaker is Speaker.USER and t.text == words.text]
            return words.id if known or not same else same[-1].id
        spoken = [t for t in recent if t.speaker is Speaker.USER]  # a reply's id begins the same
        mine = [t for t in spoken if t.id == words.id or t.id.startswith(f"{words.id}-")]
        if mine and now - mine[-1].time <= self._idle:
            since = [t for t in recent if t.position > mine[-1].position]
            said_more = any(
                t.speaker is Speaker.USER and t.session == mine[-1].session for t in since
            )
            if not (words.first and said_more):
                return mine[-1].id
        return f"{words.id}-{recent[-1].position + 1 if recent else 1}"
