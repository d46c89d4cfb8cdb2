"""Recording turns: durably, and exactly once even if a client sends them again."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from omoide.domain import JobTask, NewTurn, RecordedTurns, Speaker
from omoide.domain.text import checked_name, checked_text, cleaned, in_parts, normal_name
from omoide.domain.time import message_time, not_ahead
from omoide.engine.digest import has_grown
from omoide.engine.messages import Utterance, is_same
from omoide.errors import BadInput, ConflictingTurn, EmptyText, StoreError
from omoide.language import detect_language
from omoide.ports.telemetry import OFF, MemoryOperation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime, timedelta

    from omoide.domain import Owner, Turn
    from omoide.engine.messages import Incoming, UserMessage
    from omoide.ports import Store
    from omoide.ports.telemetry import Telemetry

MAX_TURNS = 10_000
"""Most turns in one call: they are one transaction, and other writers wait for it."""
PARTIAL = "+~"
"""In the id of a reply that broke off."""
AT_ONCE = 200_000
"""Most characters of a request's messages in one transaction, unless a single turn has more."""
RECENT = 32
"""How many turns back to look for a repeated message."""


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """Records turns, for any owner."""

    store: Store
    idle: timedelta
    """The pause after which a session ends."""
    max_chars: int
    """Most characters of one turn."""
    follows: Callable[[Owner], Awaitable[bool]]
    """Whether a mechanism of that owner digests sessions while they are open."""
    wake: Callable[[], None]
    """Called when there may be a new job."""
    telemetry: Telemetry = OFF

    async def record(
        self,
        owner: Owner,
        said: Sequence[Utterance],
        *,
        session: str | None,
        now: datetime,
        answers: str | None = None,
        replaces: Sequence[str] = (),
    ) -> RecordedTurns:
        """See `Memory.record`; `answers` and `replaces` as for `TurnStore.append`."""
        if len(said) > MAX_TURNS:
            raise BadInput(
                f"at most {MAX_TURNS:,} turns can be recorded in one call, not {len(said):,}: "
                "record them in several calls"
            )
        if session is not None:
            session = normal_name(session, "a session's key")
        with self.telemetry.operation(MemoryOperation.RECORD, owner) as observed:
            recorded = await self.store.turns.append(
                owner,
                [self._new_turn(u, now) for u in said],
                session=session,
                idle=self.idle,
                answers=answers,
                replaces=replaces,
            )
            if not isinstance(recorded, RecordedTurns):  # a store of someone else's
                raise StoreError(f"the store gave {type(recorded).__name__} instead of turns")
            observed.records(len(recorded.new), (turn.text for turn in recorded))
        if has_grown(recorded) and await self.follows(owner):
            number = recorded[-1].session
            await self.store.jobs.enqueue(owner, JobTask.DIGEST_OPEN, session=number, at=now)
        self.wake()
        return recorded

    async def record_once(
        self, owner: Owner, incoming: Incoming, *, session: str | None, now: datetime
    ) -> RecordedTurns:
        """The turns of a request's new messages, recorded now or before; durable on return."""
        messages = [words for words in incoming.words if cleaned(words.text).strip()]
        if not messages:
            raise EmptyText("the message has no text that can be recorded")
        last = messages[-1]
        before = [part for words in messages[:-1] for part in self._parts_of(words, words.id)]
        said = [*before, *self._parts_of(last, last.id)]
        if not incoming.follow_up:  # mostly they are new: then no lookup is needed
            turns = await self.record_said(owner, said, session=session, now=now)
            if turns[len(before)].id in turns.new:
                return turns
        id_ = await self._known_id(owner, last, follow_up=incoming.follow_up, now=now)
        said = [*before, *self._parts_of(last, id_)]
        return await self.record_said(owner, said, session=session, now=now)

    async def record_said(
        self,
        owner: Owner,
        said: Sequence[Utterance],
        *,
        session: str | None,
        now: datetime,
        answers: str | None = None,
        replaces: Sequence[str] = (),
    ) -> RecordedTurns:
        """Record what was said in a chat, which is not refused: in several transactions if it is
        much, since other writers wait for each of them, and under another id where the id was given
        to another text before."""
        recorded: list[RecordedTurns] = []
        for some in in_batches(said):
            gone = () if recorded else replaces
            record = partial(
                self.record, owner, session=session, now=now, answers=answers, replaces=gone
            )
            try:
                recorded.append(await record(some))
            except ConflictingTurn:
                recorded.append(await record(await self._renamed(owner, some)))
        new = frozenset(id_ for turns in recorded for id_ in turns.new)
        mark = recorded[0].mark
        return RecordedTurns((turn for turns in recorded for turn in turns), new=new, mark=mark)

    async def _renamed(self, owner: Owner, said: Sequence[Utterance]) -> list[Utterance]:
        """The utterances, those with another id whose id is another text's. It follows from the
        text, so that the same message has it whenever it is sent again."""
        ids = [utterance.id for utterance in said if utterance.id is not None]
        known = {turn.id: turn for turn in await self.store.turns.read(owner, ids=ids)}
        renamed = []
        for utterance in said:
            turn = known.get(utterance.id or "")
            if turn and (turn.speaker, turn.text) != (utterance.speaker, utterance.text):
                digest = hashlib.blake2b(utterance.text.encode(), digest_size=8).hexdigest()
                utterance = replace(utterance, id=f"{turn.id[:200]}-{digest}")
            renamed.append(utterance)
        return renamed

    def parts(
        self, speaker: Speaker, text: str, *, id_: str | None, name: str | None = None
    ) -> list[Utterance]:
        """A message of any length as what can be recorded: cleaned, in parts if it is too long for
        one turn; none if it has no text. Later parts get ids of their own."""
        parts = in_parts(cleaned(text), max_chars=self.max_chars)
        return [
            Utterance(
                speaker=speaker,
                text=part,
                id=id_ if id_ is None or number == 1 else f"{id_[:240]}/{number}",
                name=name,
            )
            for number, part in enumerate(parts, start=1)
        ]

    def _parts_of(self, words: UserMessage, id_: str) -> list[Utterance]:
        return self.parts(Speaker.USER, words.text, id_=id_, name=words.name)

    async def _known_id(
        self, owner: Owner, words: UserMessage, *, follow_up: bool, now: datetime
    ) -> str:
        """The id for a message whose id is known or that was answered before: the known id if it
        was merely sent again, a new one if the user said the same thing again."""
        recent = await self.store.turns.read(owner, last=RECENT)
        if follow_up:  # a client that drops old messages changes the position of this one
            known = await self.store.turns.read(owner, ids=[words.id])
            same = [t for t in recent if t.speaker is Speaker.USER and t.text == words.text]
            return words.id if known or not same else same[-1].id
        from_user = [t for t in recent if t.speaker is Speaker.USER]  # a reply's id begins the same
        same = [t for t in from_user if is_same(t.id, words.id)]
        soon = same and now - same[-1].time <= self.idle
        if soon and not (words.first and _said_since(same[-1], recent)):
            return same[-1].id
        return f"{words.id}-{recent[-1].position + 1 if recent else 1}"

    def _new_turn(self, said: Utterance, now: datetime) -> NewTurn:
        time = message_time(said.time, "time") if said.time is not None else now
        return NewTurn(
            speaker=said.speaker,
            text=checked_text(said.text, max_chars=self.max_chars),
            time=not_ahead(time, now),
            id=checked_name(said.id, "a turn's id") if said.id is not None else uuid.uuid4().hex,
            language=detect_language(said.text),
            name=checked_name(said.name, "a speaker's name") if said.name is not None else None,
        )


def in_batches(said: Sequence[Utterance]) -> list[list[Utterance]]:
    """The utterances in order, as many together as one call takes, and at most `AT_ONCE` characters
    unless one alone has more."""
    batches: list[list[Utterance]] = [[]]
    chars = 0
    for utterance in said:
        chars += len(utterance.text)
        if batches[-1] and (chars > AT_ONCE or len(batches[-1]) == MAX_TURNS):
            batches.append([])
            chars = len(utterance.text)
        batches[-1].append(utterance)
    return batches


def _said_since(turn: Turn, recent: Sequence[Turn]) -> bool:
    """Whether a request that begins with the words of `turn` says them anew: the user said
    something else since; or the client sends no history, as the session did not begin with them,
    and they were answered."""
    session = [t for t in recent if t.session == turn.session]
    since = [t for t in session if t.position > turn.position and not _is_part(t, turn)]
    if any(t.speaker is Speaker.USER for t in since):
        return True
    began_before = any(t.position < turn.position for t in session)
    return began_before and any(not is_partial(t) for t in since)


def _is_part(turn: Turn, whole: Turn) -> bool:
    """Whether a turn is a later part of a message that was too long for one."""
    return turn.speaker is whole.speaker and turn.id.startswith(f"{whole.id[:240]}/")


def is_partial(turn: Turn) -> bool:
    """Whether a turn is a reply that broke off."""
    return turn.speaker is Speaker.ASSISTANT and PARTIAL in turn.id
