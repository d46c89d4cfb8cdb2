"""A method run on one dialogue: an empty memory, and a clock that follows the dialogue."""

from __future__ import annotations

import itertools
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import JobState, Owner
from omoide.engine import Runtime, complete
from omoide.errors import ModelUnavailable
from omoide.mechanisms import is_looping
from omoide.mechanisms.memos import TextTools, no_analyser
from omoide.ports import Message, Request
from omoide_bench.methods import registry
from omoide_bench.running.cached_model import MethodModel, without_loops

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from omoide import Context
    from omoide.domain import Turn
    from omoide.mechanisms import Contribution
    from omoide.ports import Analyser, Completion, Embedder, Store, TokenEncoder, Tokenizer
    from omoide.settings import Settings
    from omoide_bench.methods import Method
    from omoide_bench.metrics.encoded import BertScore
    from omoide_bench.running.batches import BatchFolder
    from omoide_bench.running.cached_model import SharedModel

    Opener = Callable[[], Awaitable[Store]]


@dataclass
class Timeline:
    """A clock set to the current time of the dialogue."""

    time: datetime

    def now(self) -> datetime:
        """The dialogue's time."""
        return self.time


@dataclass(frozen=True, kw_only=True)
class BenchAnswer:
    """A model's answer, and the contributions that were in its prompt."""

    text: str
    completion: Completion
    contributions: tuple[Contribution, ...]
    tries: int = 1
    """How often the model was asked, where the product checks its replies."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What all methods and dialogues of a run share: models, embedder, settings."""

    shared_model: SharedModel
    """The model that is measured."""
    open_store: Opener
    embedder: Embedder | None
    settings: Settings
    judge: SharedModel | None = None
    """The model that judges, if any."""
    iterator: SharedModel | None = None
    """The model that writes the memory, if it is not the one that is measured."""
    data: Path | None = None
    """The folder of the data sets, for tasks that need more of it than their cases."""
    tokenizer: Tokenizer | None = None
    """What random compression takes for tokens; words if None."""
    analyser: Callable[[str], Analyser] | None = None
    encoder: TokenEncoder | BertScore | None = None
    """For the likeness measure, if wanted."""
    batches: BatchFolder | None = None
    """Where requests are written and answers are read, if the models are asked in batches."""

    @property
    def waiting(self) -> bool:
        """Whether any request waits for a batch's answer: then the results so far are partial."""
        return self.batches is not None and bool(self.batches.due)

    @asynccontextmanager
    async def new_memory(
        self,
        method: Method,
        *,
        user: str,
        began: datetime,
        model: MethodModel,
        gold: Mapping[str, Sequence[str]] | None = None,
        partner: str = "person",
    ) -> AsyncIterator[MemoryUnderTest]:
        """An empty memory of that method for one user; discarded on exit. In most data sets both
        speakers are people and are remembered; `partner` says if the second is an assistant."""
        clock = Timeline(began)
        settings = replace(
            method.settings(self.settings),
            timezone=self.settings.timezone or "UTC",
            partner=partner,
            # What is measured is what the method itself remembers, and search looks through topics.
            layers=("memos",) if "search" in method.mechanisms else ("none",),
        )
        model = model.limited(settings.window)
        store = await self.open_store()
        runtime = Runtime(
            settings,
            store=store,
            clock=clock,
            model=model,
            summariser=model.of(self.iterator) if self.iterator else None,
            embedder=self.embedder if method.needs_vectors else None,
            known=registry(gold=gold, analyser=self.analyser, tokenizer=self.tokenizer),
            text_tools=TextTools(analyser=self.analyser or no_analyser, tokenizer=self.tokenizer),
            owns=[store],
        )
        memory = MemoryUnderTest(runtime=runtime, model=model, clock=clock, user=user)
        try:
            yield memory
        finally:
            model.failed(len(memory.failed))
            await runtime.close()


class MemoryUnderTest:
    """One memory of one user, driven through the product's public API."""

    def __init__(self, *, runtime: Runtime, model: MethodModel, clock: Timeline, user: str) -> None:
        self.runtime = runtime
        self.memory = runtime.memory()
        self.store = runtime.store
        self.model = model
        self.user = user
        self.failed: list[str] = []
        """Why sessions could not be digested. Memory then stays as it was before the session."""
        self._settings = runtime.settings
        self.mechanisms = runtime.settings.mechanisms
        self._clock = clock
        self.owner = Owner(tenant=runtime.settings.tenant, user=user)
        self._sessions = itertools.count(1)

    async def replay(self, sessions: Sequence[Sequence[Utterance]]) -> None:
        """Record, end and digest each session, at its own time."""
        for session in sessions:
            if session:
                await self._replay_session(session)

    async def _replay_session(self, session: Sequence[Utterance]) -> None:
        last = session[-1].time
        if last is None:
            raise ValueError("every utterance of a benchmark session needs a time")
        self._clock.time = last
        await self.memory.record(self.user, session, session=f"past {next(self._sessions)}")
        await self.memory.end_session(self.user, at=last)
        await self.digested()

    async def end_session(self) -> None:
        """End the current session and digest it."""
        await self.memory.end_session(self.user, at=self._clock.time)
        await self.digested()

    async def digested(self) -> None:
        """Run the pending jobs. Raises `ModelUnavailable` if the model cannot be reached; a bad
        answer is only counted."""
        await self.memory.run_jobs()
        for job in await self.memory.jobs(self.user, states=(JobState.DEAD, JobState.WAITING)):
            if job.state is JobState.WAITING:
                raise ModelUnavailable(f"a session was not digested: {job.error}")
        dead = await self.memory.jobs(self.user, states=(JobState.DEAD,))
        self.failed = [job.error for job in dead]

    async def say(self, said: Sequence[Utterance], *, session: str = "now") -> tuple[Turn, ...]:
        """Record utterances in the current session."""
        if said and said[-1].time is not None:
            self._clock.time = said[-1].time
        return await self.memory.record(self.user, said, session=session)

    async def reply_to(self, turn: Turn) -> BenchAnswer:
        """The product's reply to the turn. It is not recorded, so that the dialogue continues as
        in the data set."""
        return await self.answer(await self.context_of(turn))

    async def context_of(self, turn: Turn) -> Context:
        """The prompt of the product's reply to the turn; what was recalled for it counts as used.
        No reply enters the memory, so the dialogue may continue before it is asked for."""
        utterance = Utterance(speaker=turn.speaker, text=turn.text, id=turn.id)
        async with self.memory.exchange(self.user, utterance, at=turn.time) as exchange:
            assert exchange.context is not None  # noqa: S101 - a strict exchange has one
            await exchange.finish("", record=False)
            return exchange.context

    async def would_reply(self, text: str, *, at: datetime) -> BenchAnswer:
        """The product's reply to this text in a new session. Nothing is recorded."""
        return await self.answer(await self.memory.context(self.user, text, at=at))

    async def app_would_reply(self, text: str, *, at: datetime, max_tokens: int) -> BenchAnswer:
        """The model's reply to what an application of a developer would send for this text: its
        one message, and what memory adds to it. None of the product's own words about replies."""
        context = await self.memory.context(self.user, text, at=at)
        messages = tuple(Message(role=m["role"], content=m["content"]) for m in context.messages)
        completion = await complete(self.model, Request(messages=messages, max_tokens=max_tokens))
        return BenchAnswer(
            text=completion.text.strip(),
            completion=completion,
            contributions=context.contributions,
        )

    async def recall_for(self, question: str, *, at: datetime) -> tuple[Contribution, ...]:
        """What memory would put into the prompt for this question. It is not recorded, so that
        the next question cannot find it."""
        return (await self.memory.context(self.user, question, at=at)).contributions

    async def answer(self, context: Context) -> BenchAnswer:
        """The product's reply to a prompt, checked as the product checks it. Its cost is that of
        all tries."""
        request = context.request(window=self.model.window)
        text = ""
        answers: list[Completion] = []
        ask = partial(self.model.stream_into, answers)
        async with aclosing(context.stream(request, ask)) as pieces:
            async for piece in pieces:
                text += piece if isinstance(piece, str) else ""
        first, *more = answers
        if context.cut_loops:
            text = without_loops(text, is_looping)
        return BenchAnswer(
            text=text.strip(),
            completion=replace(
                first,
                prompt_tokens=sum(c.prompt_tokens for c in (first, *more)),
                completion_tokens=sum(c.completion_tokens for c in (first, *more)),
            ),
            contributions=context.contributions,
            tries=1 + len(more),
        )

    async def likelihood(self, text: str, *, at: datetime, replies: Sequence[str]) -> list[float]:
        """How likely the product is to give each of these replies to this text in a new session:
        mean log-probabilities of a token."""
        context = await self.memory.context(self.user, text, at=at)
        request = context.request(window=self.model.window)
        return [await self.model.likelihood(request, reply) for reply in replies]

    async def complete(self, request: Request) -> Completion:
        """The model's answer to a request."""
        return await complete(self.model, request)
