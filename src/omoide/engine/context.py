"""What memory adds to a prompt: all mechanisms contribute, and what fits the budget is used."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker, Turn
from omoide.domain.time import message_time
from omoide.engine.checked import checked_stream
from omoide.engine.messages import (
    compared,
    latest,
    memory_text,
    recalled_text,
    spoken_words,
    with_memory,
)
from omoide.language import both_ends, detect_language, dominant_language
from omoide.mechanisms.base import (
    Participants,
    PromptPlace,
    ReplyRequest,
    ShortensSession,
    fit_budget,
    without_repeats,
)
from omoide.mechanisms.reply_checks import checks_for
from omoide.mechanisms.reply_forms import latest_that_fit
from omoide.mechanisms.reply_room import SHORT, kept_for_reply, with_room

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence, Set
    from datetime import datetime, tzinfo

    from omoide.domain import Owner
    from omoide.engine.edits import HistoryPlace
    from omoide.engine.messages import ChatMessage, Utterance
    from omoide.mechanisms.base import Contribution, Mechanism
    from omoide.mechanisms.facts.layers import FactLayer
    from omoide.mechanisms.reply_forms import ReplyForm
    from omoide.ports import Completion, Request, Store

    OnFailure = Callable[[Exception], None]

RECENT = 8
"""How many of the user's last turns decide the language of a reply: people switch languages."""
SESSION = 64
"""How many turns of the session are compared with the messages that a client sends."""
ROOM = 4_000
"""Tokens of the session in a prompt, where nothing else is known about the model."""
UNRECORDED = 1_000_000_000
"""The session number of messages that are not recorded: after all that are."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What memory adds to the prompt of one reply, and why."""

    reply_request: ReplyRequest
    contributions: tuple[Contribution, ...]
    form: ReplyForm
    """How the configured model is asked for a reply."""
    given: tuple[ChatMessage, ...] = ()
    """The caller's messages, if they passed any."""
    last: int = 0
    """Index in `given` of the message that is answered."""
    checked: bool = False
    """Whether the configured model's reply is checked before it is shown: a small one's is."""
    cut_loops: bool = True
    """Whether that reply is cut off once it repeats itself endlessly."""
    window: int | None = None
    """The window that the settings give, if the model's may be larger."""
    reply_tokens: int = SHORT
    """Most tokens of that reply."""
    to_mark: tuple[FactLayer, ...] | None = None
    """The layers that may have something to note about the reply; None if that is not known."""

    @property
    def recalled(self) -> tuple[Contribution, ...]:
        """What was recalled for the user's message."""
        return tuple(c for c in self.contributions if c.place is PromptPlace.RECALLED)

    @property
    def text(self) -> str:
        """The memory as one text, for your own prompt; empty if there is nothing to add."""
        language, today = self.reply_request.language, self.reply_request.now.date()
        parts = (
            memory_text(self.contributions, language, today=today),
            recalled_text(self.contributions, language, today=today),
        )
        return "\n\n".join(part for part in parts if part)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages to send to a model: the caller's with memory added; or, if the caller passed
        a text, the memory, the session so far and the text."""
        given = self.given or tuple(
            {"role": turn.speaker.value, "content": turn.text}
            for turn in self.reply_request.session
        )
        last = self.last if self.given else len(given) - 1
        return with_memory(
            given,
            self.contributions,
            last=last,
            language=self.reply_request.language,
            today=self.reply_request.now.date(),
        )

    def request(self, *, window: int) -> Request:
        """The request for the configured model, in the configured form."""
        narrow = window if self.window is None else min(window, self.window)
        kept = kept_for_reply(self.reply_tokens, window=narrow)
        asked = self.form(self.reply_request, self.contributions, window=narrow, max_tokens=kept)
        return with_room(asked, self.reply_tokens, window=narrow)

    def stream(
        self, request: Request, ask: Callable[[Request], AsyncGenerator[str | Completion]]
    ) -> AsyncGenerator[str | Completion]:
        """The configured model's reply to the request, checked if it is to be; `ask` asks it."""
        if not self.checked:
            return ask(request)
        return checked_stream(
            ask, request, checks_for(self.reply_request, self.contributions, request)
        )


class ContextBuilder:
    """Collects the contributions of the configured mechanisms, in their order."""

    def __init__(
        self,
        store: Store,
        mechanisms: Sequence[Mechanism],
        *,
        layers: Sequence[FactLayer] = (),
        form: ReplyForm,
        budget: int,
        room: int = ROOM,
        company: Participants | None = None,
        checked: bool = False,
        cut_loops: bool = True,
        window: int | None = None,
        reply_tokens: int = SHORT,
    ) -> None:
        """`budget` is the most tokens of memory in a prompt, `room` how many of the session. If
        `checked`, replies are checked before they are shown; with `cut_loops`, one that loops is
        cut off. `window` limits a prompt if the model's is larger, `reply_tokens` the reply."""
        self._reply_tokens = reply_tokens
        self._checked = checked
        self._cut_loops = cut_loops
        self._window = window
        self._store = store
        self._room = room
        self._company = company or Participants()
        self._mechanisms = tuple(mechanisms)
        self._layers = tuple(layers)
        self._marking = tuple(layer for layer in layers if layer.marks)
        self._form = form
        self._budget = budget

    @property
    def timezone(self) -> tzinfo | None:
        """The user's time zone; None for the machine's."""
        return self._company.timezone

    async def for_turn(
        self,
        turn: Turn,
        *,
        owner: Owner,
        now: datetime,
        text: str | None = None,
        parts: Sequence[Turn] = (),
        sent: Sequence[ChatMessage] | None = None,
        place: HistoryPlace | None = None,
        budget: int | None = None,
        on_failure: OnFailure | None = None,
    ) -> Context:
        """What memory adds to the reply to a recorded turn. `text` is what the user wants answered,
        if more than the turn, and `parts` are the turns that it was recorded as. `sent` are the
        messages that a client sends itself; without it, as much of the session is sent as fits.
        Turns of the session that are not sent may be recalled, but for those that the user took
        back, if the message's `place` in the chat is known. With `on_failure`, a mechanism that
        fails is reported to it and the others still contribute."""
        sent = None if sent is None else latest(sent)
        last = None if sent is None else max(SESSION, len(sent))
        session = await self._store.turns.read(owner, session=turn.session, last=last)
        read = {t.id for t in session}
        session = (*(part for part in parts if part.id not in read), *session)
        if all(turn.position < t.position for t in session):
            session = (turn, *session)  # answered again much later: it is the current topic
        until = tuple(t for t in session if t.position <= turn.position)
        words = _words_of(sent or ())
        so_far = self._current(until, (turn, *parts), None if sent is None else words)
        from_user = [t.text for t in session if t.speaker is Speaker.USER]
        before: tuple[Turn, ...] = ()
        if last is not None and len(read) < last:  # else the latest turns are all of this session
            before = await self._sent_before(turn, words, so_far, owner=owner, last=last)
        edited = place.taken_back(session, besides=turn.id) if place else ()
        request = ReplyRequest(
            owner=owner,
            text=both_ends(turn.text if text is None else text),
            session=so_far,
            now=now.astimezone(self._company.timezone),
            language=dominant_language(from_user[-RECENT:]),
            participants=self._company,
            former_replies=(*_replies_to(turn, session), *before, *edited),
            own_form=sent is None,
        )
        if sent is None:  # else the caller keeps the history and sends it whole
            request = await self._shortened(request)
        return await self._build(request, budget=budget, on_failure=on_failure)

    async def for_words(
        self, said: Sequence[Utterance], *, owner: Owner, now: datetime, budget: int | None = None
    ) -> Context:
        """What memory adds to the reply to messages that this call does not record. If the caller
        recorded them before, they are not recalled: they are in the prompt already."""
        session = tuple(
            Turn(
                id=utterance.id or f"unrecorded-{i}",
                session=UNRECORDED,
                position=UNRECORDED + i,
                speaker=utterance.speaker,
                text=utterance.text,
                time=now if utterance.time is None else message_time(utterance.time, "time"),
                language=detect_language(utterance.text),
                name=utterance.name,
            )
            for i, utterance in enumerate(said)
        )
        from_user = [turn.text for turn in session if turn.speaker is Speaker.USER]
        given = {(turn.speaker, compared(turn.text)) for turn in session}
        recent = await self._store.turns.read(owner, last=SESSION)
        request = ReplyRequest(
            owner=owner,
            text=both_ends(from_user[-1]),
            session=session,
            now=now.astimezone(self._company.timezone),
            language=dominant_language(from_user[-RECENT:]),
            participants=self._company,
            former_replies=tuple(t for t in recent if (t.speaker, compared(t.text)) in given),
        )
        return await self._build(request, budget=budget)

    def resumed(
        self, turn: Turn, contributions: Sequence[Contribution], *, owner: Owner, now: datetime
    ) -> Context:
        """The context that the reply to a recorded turn was given, for `mark_used`."""
        request = ReplyRequest(
            owner=owner,
            text=turn.text,
            session=(turn,),
            now=now.astimezone(self._company.timezone),
            language=turn.language,
            participants=self._company,
        )
        return Context(reply_request=request, contributions=tuple(contributions), form=self._form)

    async def mark_used(self, context: Context) -> None:
        """Tell each mechanism that its contributions were used: recalled events consolidate."""
        for mechanism in self._mechanisms:
            used = [c for c in context.contributions if c.mechanism == mechanism.name]
            await mechanism.mark_used(context.reply_request, used)
        for layer in self._layers if context.to_mark is None else context.to_mark:
            await layer.mark_used(context.reply_request, context.contributions)

    def _current(
        self,
        session: tuple[Turn, ...],
        answered: Sequence[Turn],
        sent: Collection[tuple[Speaker, str]] | None,
    ) -> tuple[Turn, ...]:
        """The turns of the session that the model will see without any help of memory, given who
        says what in the messages that a client sends itself."""
        if sent is None:
            return tuple(latest_that_fit(session[:-1], self._room)) + session[-1:]
        here = {turn.id for turn in answered}
        return tuple(t for t in session if t.id in here or (t.speaker, compared(t.text)) in sent)

    async def _sent_before(
        self,
        turn: Turn,
        sent: Set[tuple[Speaker, str]],
        so_far: Sequence[Turn],
        *,
        owner: Owner,
        last: int,
    ) -> tuple[Turn, ...]:
        """The turns of earlier sessions that the client sends too: a chat that goes on after a
        pause is a new session to memory, and the same history to the client."""
        known = sent - {(t.speaker, compared(t.text)) for t in so_far}
        if not known:
            return ()
        recent = await self._store.turns.read(owner, last=last)
        return tuple(
            t
            for t in recent
            if t.session != turn.session and (t.speaker, compared(t.text)) in known
        )

    async def _build(
        self, request: ReplyRequest, *, budget: int | None, on_failure: OnFailure | None = None
    ) -> Context:
        # Mechanisms and layers only read here, so they can run concurrently.
        marking = asyncio.gather(
            *(layer.may_mark(request) for layer in self._marking), return_exceptions=True
        )
        results = await asyncio.gather(
            *(mechanism.contribute(request) for mechanism in self._mechanisms),
            return_exceptions=True,
        )
        may_mark = zip(self._marking, await marking, strict=True)
        offered: list[Contribution] = []
        for result in results:
            if isinstance(result, Exception) and on_failure is not None:
                on_failure(result)
            elif isinstance(result, BaseException):
                raise result
            else:
                offered.extend(result)
        limit = self._budget if budget is None else budget
        fitting = fit_budget(without_repeats(offered), budget=limit)
        return Context(
            reply_request=request,
            contributions=fitting,
            form=self._form,
            checked=self._checked,
            cut_loops=self._cut_loops,
            window=self._window,
            reply_tokens=self._reply_tokens,
            # One that fails may have something to note: it says so when it is asked to.
            to_mark=tuple(layer for layer, may in may_mark if may),
        )

    async def _shortened(self, request: ReplyRequest) -> ReplyRequest:
        """The request without the part of the session that mechanisms take the place of."""
        for mechanism in self._mechanisms:
            if isinstance(mechanism, ShortensSession):
                request = replace(request, session=await mechanism.current_turns(request))
        return request


def _replies_to(turn: Turn, session: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns after `turn` up to the user's next one."""
    later = (t for t in session if t.position > turn.position)
    return tuple(takewhile(lambda t: t.speaker is not Speaker.USER, later))


def _words_of(messages: Sequence[ChatMessage]) -> frozenset[tuple[Speaker, str]]:
    """Who says what in the messages."""
    return frozenset(said for message in messages if (said := spoken_words(message)) is not None)
