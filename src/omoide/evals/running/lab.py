"""Where a method meets a dialogue: a memory of its own, a clock that follows the dialogue."""

from __future__ import annotations

import itertools
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.composition import compose
from omoide.domain import Owner, Speaker, State, Turn
from omoide.errors import ModelUnavailable
from omoide.evals.methods import registry
from omoide.evals.running.asked import Asked, without_loops
from omoide.language import detect
from omoide.memory.mechanism import Moment, fit
from omoide.memory.replies import FORMS, looping

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from omoide.engine import Memory, Utterance
    from omoide.evals.methods import Method
    from omoide.evals.metrics.encoded import BertScore
    from omoide.evals.running.asked import Line
    from omoide.memory.mechanism import Contribution
    from omoide.ports import Completion, Embedder, Request, Store, TokenEncoder
    from omoide.ports.analysis import Analyser
    from omoide.settings import Settings

    Opener = Callable[[], Awaitable[Store]]


@dataclass
class Timeline:
    """A clock that stands where the dialogue is."""

    time: datetime

    def now(self) -> datetime:
        """Where it stands."""
        return self.time


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a model said to one prompt, and what the prompt held."""

    text: str
    completion: Completion
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, kw_only=True)
class Lab:
    """What all methods and dialogues of a run share."""

    line: Line
    """The way to the model that is measured."""
    open_store: Opener
    embedder: Embedder | None
    settings: Settings
    judge: Line | None = None
    """The way to the model that judges, if one does."""
    analyser: Callable[[str], Analyser] | None = None
    encoder: TokenEncoder | BertScore | None = None
    """For likeness token by token, if that is wanted."""

    @asynccontextmanager
    async def place(
        self,
        method: Method,
        *,
        user: str,
        began: datetime,
        model: Asked,
        gold: Mapping[str, Sequence[str]] | None = None,
    ) -> AsyncIterator[Place]:
        """An empty memory of that method for one user; gone when this ends."""
        clock = Timeline(began)
        settings = replace(
            method.settings(self.settings),
            timezone=self.settings.timezone or "UTC",
            partner="person",  # both speakers of the data sets have lives, and are remembered
        )
        store = await self.open_store()
        memory = compose(
            settings,
            store=store,
            model=model,
            iterator=model,
            embedder=self.embedder if method.needs_vectors else None,
            clock=clock,
            worker="bench",
            known=registry(gold=gold, analyser=self.analyser),
        )
        place = Place(memory=memory, model=model, settings=settings, clock=clock, user=user)
        try:
            yield place
        finally:
            model.digests_failed += len(place.failed)
            await store.close()


class Place:
    """One memory, one user. What is told here is told through the product's own verbs."""

    def __init__(
        self, *, memory: Memory, model: Asked, settings: Settings, clock: Timeline, user: str
    ) -> None:
        self.memory = memory
        self.model = model
        self.user = user
        self.failed: list[str] = []
        """Why sessions could not be digested. The memory from before stands then."""
        self._settings = settings
        self.mechanisms = settings.mechanisms
        self._clock = clock
        self.owner = Owner(tenant=memory.tenant, user=user)
        self._sessions = itertools.count(1)
        self._questions = itertools.count(1)

    async def live_through(self, sessions: Sequence[Sequence[Utterance]]) -> None:
        """Record each session when it was, end it and digest it, as a user's would be."""
        for session in sessions:
            if session:
                await self._live(session)

    async def _live(self, session: Sequence[Utterance]) -> None:
        last = session[-1].time
        if last is None:
            raise ValueError("a session of a benchmark was given without its times")
        self._clock.time = last
        await self.memory.record(self.user, session, session=f"past {next(self._sessions)}")
        await self.memory.end_session(self.user, at=last)
        await self.digested()

    async def end_session(self) -> None:
        """End what is being said and digest it."""
        await self.memory.end_session(self.user, at=self._clock.time)
        await self.digested()

    async def digested(self) -> None:
        """Do the work that is due. A model that is gone is an error; a bad answer of one is not:
        it is counted."""
        await self.memory.settle()
        for job in await self.memory.jobs(self.user, states=(State.DEAD, State.WAITING)):
            if job.state is State.WAITING:
                raise ModelUnavailable(f"a session was not digested: {job.error}")
        dead = await self.memory.jobs(self.user, states=(State.DEAD,))
        self.failed = [job.error for job in dead]

    async def say(self, said: Sequence[Utterance], *, session: str = "now") -> tuple[Turn, ...]:
        """Record words of the current session."""
        if said and said[-1].time is not None:
            self._clock.time = said[-1].time
        return await self.memory.record(self.user, said, session=session)

    async def reply_to(self, turn: Turn) -> Answered:
        """What the product would reply to the turn; the reply itself is not recorded, so that the
        dialogue can go on as it truly did."""
        attention = await self.memory.attending.attend(turn, owner=self.owner, now=turn.time)
        form = FORMS[self._settings.asks_by]
        request = form(
            attention.moment,
            attention.contributions,
            window=self.model.window,
            max_tokens=self._settings.reply_tokens,
        )
        answer = await self.complete(request)
        await self.memory.attending.used(attention)
        return Answered(
            text=without_loops(answer.text, looping).strip(),
            completion=answer,
            contributions=attention.contributions,
        )

    async def would_reply(self, text: str, *, at: datetime) -> Answered:
        """What the product would reply to this in a new session, nothing of it recorded."""
        moment = self.moment(text, at=at)
        recalled = await self.recall_for(text, at=at)
        form = FORMS[self._settings.asks_by]
        request = form(
            moment, recalled, window=self.model.window, max_tokens=self._settings.reply_tokens
        )
        answer = await self.complete(request)
        said = without_loops(answer.text, looping).strip()
        return Answered(text=said, completion=answer, contributions=recalled)

    async def recall_for(self, question: str, *, at: datetime) -> tuple[Contribution, ...]:
        """What memory would put into the prompt if this were said now, without recording it: the
        next question must not find this one."""
        moment = self.moment(question, at=at)
        offered = [
            contribution
            for mechanism in self.memory.mechanisms
            for contribution in await mechanism.contribute(moment)
        ]
        return fit(offered, budget=self._settings.memory_tokens)

    def moment(self, text: str, *, at: datetime) -> Moment:
        """A user who says this in a session of its own."""
        turn = Turn(
            id=f"question-{next(self._questions)}",
            session=1_000_000,
            position=1_000_000,
            speaker=Speaker.USER,
            text=text,
            time=at,
            language=detect(text),
        )
        return Moment(owner=self.owner, text=text, session=(turn,), now=at, language=turn.language)

    async def complete(self, request: Request) -> Completion:
        """Ask the model."""
        return await complete(self.model, request)
