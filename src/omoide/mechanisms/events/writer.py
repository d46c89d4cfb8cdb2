"""Writers of events at the end of a session.

Hou et al. 2024 have their model make events from the chat history, with topics and keywords, and
give no details. `ModelEventWriter` asks for one-sentence events with a JSON schema and uses the
same guards as the summary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from omoide.claims.answers import Flaw, Problem, check, without_echoes, without_repeats
from omoide.claims.citation import cite_sources
from omoide.domain import RejectedAnswer, Speaker
from omoide.errors import BadReply
from omoide.mechanisms.base import TRIES
from omoide.mechanisms.events import form as forms
from omoide.mechanisms.flags import flagged
from omoide.ports import Message, Request, Skill
from omoide.prompts import render
from omoide.prompts.transcript import lines, parts, spoken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from omoide.claims.contradiction import RetiredEvent
    from omoide.domain import Event, Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.mechanisms.events.form import EventDraft
    from omoide.ports import Completion

TOKENS = 80
"""Tokens for one event in an answer."""


@dataclass(frozen=True, kw_only=True)
class EventsWritten:
    """The events of a session, or None and the rejected answers."""

    events: tuple[Event, ...] | None
    rejected: tuple[RejectedAnswer, ...] = ()
    flags: tuple[str, ...] = ()
    """What the guards found in answers that were taken all the same."""


class EventWriter(Protocol):
    """Makes events from a session."""

    async def __call__(self, to_digest: SessionToDigest) -> EventsWritten:
        """Make the session's events. Never raises for a bad answer; raises `ModelError` if the
        model is unavailable."""


@runtime_checkable
class RetiringWriter(Protocol):
    """A writer of events that also knows which older events they make untrue."""

    async def retired(self, to_digest: SessionToDigest) -> tuple[RetiredEvent, ...]:
        """The older events that the session's events make untrue."""


class ModelEventWriter:
    """Asks the session's model, in as many parts as fit its window."""

    def __init__(
        self,
        *,
        window: int,
        count: Callable[[str], Awaitable[int]],
        limit: int = forms.LIMIT,
        name: str = "",
        flags: bool = False,
        free: bool = False,
    ) -> None:
        """With `flags` there is one try, and every event that can be read is taken. With `free` the
        form of its sentences is left to the model."""
        self._window = window
        self._count = count
        self._limit = limit
        self._tries = 1 if flags else TRIES
        self._name = name
        self._flags = flags
        self._free = free

    async def __call__(self, to_digest: SessionToDigest) -> EventsWritten:
        """Ask once per part. If one part has no usable answer, there are no events."""
        spoken_turns = [turn for turn in to_digest.turns if spoken(turn)]
        if not any(turn.speaker is Speaker.USER for turn in spoken_turns):
            return EventsWritten(events=())
        frame = render("event_write", to_digest.language, session="", limit=str(self._limit))
        fixed = sum([await self._count(message.content) for message in frame.messages])
        room = self._window - fixed - self._answer_tokens * 2 - 200
        drafts: list[EventDraft] = []
        rejected: list[RejectedAnswer] = []
        flags: list[str] = []
        for part in await parts(lines(spoken_turns), room=max(room, 200), count=self._count):
            session = "\n".join(line.labelled(to_digest.language) for line in part)
            part_drafts, part_rejected = await self._part(session, to_digest, spoken_turns, flags)
            rejected += part_rejected
            if part_drafts is None:
                return EventsWritten(events=None, rejected=tuple(rejected))
            drafts += part_drafts
        events = forms.to_events(
            drafts,
            turns=spoken_turns,
            session=to_digest.session.number,
            at=to_digest.at,
            language=to_digest.language,
            unsupported=self._flags,
        )
        kept = {event.id for event in events}
        number = to_digest.session.number
        without_turn = [d.text for d in drafts if forms.event_id(number, d.text) not in kept]
        rejected += self._left_out(without_turn, Flaw.UNSUPPORTED, to_digest)
        whole = tuple(turn.id for turn in spoken_turns)
        if self._flags and any(event.sources == whole for event in events if len(whole) > 1):
            flags += flagged([Problem(flaw=Flaw.UNSUPPORTED)], to_digest.language)
        return EventsWritten(events=events, rejected=tuple(rejected), flags=tuple(flags))

    @property
    def _answer_tokens(self) -> int:
        return min(TOKENS * self._limit, self._window // 4)

    async def _part(
        self,
        session: str,
        to_digest: SessionToDigest,
        turns: Sequence[Turn],
        flags: list[str],
    ) -> tuple[list[EventDraft] | None, list[RejectedAnswer]]:
        language = to_digest.language
        prompt = render("event_write", language, session=session, limit=str(self._limit))
        first = Request(
            messages=prompt.messages,
            max_tokens=self._answer_tokens,
            schema=forms.schema(language, self._limit, free=self._free),
            skill=Skill.EVENTS,
        )
        instructions = "\n".join(m.content.replace(session, "") for m in prompt.messages)
        request = first
        rejected: list[RejectedAnswer] = []
        for _ in range(self._tries):
            completion = await to_digest.ask(request)
            drafts, problems = self._read(completion, to_digest, turns, instructions)
            if self._flags and _readable(completion.text):
                flags += flagged(problems, language)
                return list(forms.read_events(completion.text)), rejected
            if not problems:
                read = forms.read_events(completion.text)
                chat = [d.text for d in read if forms.tells_of_chat(d)]
                told = {*chat, *(draft.text for draft in drafts)}
                distinct = without_repeats(forms.sentences(read, language))
                copied = [s.text for s in distinct if s.text not in told]
                rejected += self._left_out(chat, Flaw.ABOUT_THE_CHAT, to_digest)
                rejected += self._left_out(copied, Flaw.ECHO_DIALOGUE, to_digest)
                return drafts, rejected
            reasons = tuple(problem.message(language) for problem in problems)
            by = completion.by or self._name
            rejected.append(_rejected(completion.text, reasons, to_digest, by=by))
            retry = render("event_retry", language, problems="\n".join(reasons)).messages
            shown = Message(role="assistant", content=completion.text[:400] or "-")
            request = replace(first, messages=(*first.messages, shown, *retry))
        return None, rejected

    def _left_out(
        self, texts: Sequence[str], flaw: Flaw, to_digest: SessionToDigest
    ) -> list[RejectedAnswer]:
        """Sentences of an answer that was taken without them."""
        reasons = (Problem(flaw=flaw).message(to_digest.language),)
        text = "\n".join(texts)
        return [_rejected(text, reasons, to_digest, by=self._name)] if texts else []

    def _read(
        self,
        completion: Completion,
        to_digest: SessionToDigest,
        turns: Sequence[Turn],
        instructions: str,
    ) -> tuple[list[EventDraft], tuple[Problem, ...]]:
        if not completion.text.strip():
            return [], (Problem(flaw=Flaw.EMPTY),)
        if completion.finish == "length":
            return [], (Problem(flaw=Flaw.CUT_SHORT),)
        return read_drafts(
            completion.text,
            turns=turns,
            instructions=instructions,
            language=to_digest.language,
            limit=self._limit,
        )


def _rejected(
    text: str, reasons: tuple[str, ...], to_digest: SessionToDigest, *, by: str
) -> RejectedAnswer:
    return RejectedAnswer(
        session=to_digest.session.number, text=text, problems=reasons, model=by, time=to_digest.at
    )


def _readable(text: str) -> bool:
    """Whether events can be read in an answer."""
    try:
        forms.read_events(text)
    except BadReply:
        return False
    return True


def read_drafts(
    text: str, *, turns: Sequence[Turn], instructions: str, language: str, limit: int
) -> tuple[list[EventDraft], tuple[Problem, ...]]:
    """The events in an answer, and the problems with them."""
    try:
        read = forms.read_events(text)
    except BadReply:
        return [], (Problem(flaw=Flaw.UNREADABLE),)
    drafts = [draft for draft in read if not forms.tells_of_chat(draft)]
    if read and not drafts:
        return [], (Problem(flaw=Flaw.ABOUT_THE_CHAT),)
    answer = forms.sentences(drafts, language)
    kept = without_echoes(without_repeats(answer), turns, language=language)
    problems = check(
        answer,
        cleaned=cite_sources(kept, old=(), turns=turns),
        old=(),
        turns=turns,
        instructions=instructions,
        language=language,
        limit=limit,
    )
    texts = {sentence.text for sentence in kept}
    return [draft for draft in drafts if draft.text in texts], problems


class NullEventWriter:
    """Writes no events. Used as the fallback for small models: if their notes were unusable, asking
    them for JSON would not help."""

    async def __call__(self, to_digest: SessionToDigest) -> EventsWritten:
        """Return no events; the turns are still stored."""
        return EventsWritten(events=None)
