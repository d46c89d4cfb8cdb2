"""A model and an embedder that cache every answer, and the cost of the calls."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput, BadReply, ModelUnavailable
from omoide.ports import AuthoredModel, Completion, Message, QueryEmbedder, ScoringModel
from omoide_bench.running.calls import key_of, key_of_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from omoide.ports import ChatModel, Embedder, Request, Skill, Space, Vectors
    from omoide_bench.running.batches import BatchQueue
    from omoide_bench.running.calls import CallCache


@dataclass(frozen=True, kw_only=True)
class CallCost:
    """Calls and tokens of a method. Cached answers count in full: the cost is what the method
    needs, no matter which method made the call first."""

    calls: int = 0
    cached: int = 0
    """How many of the calls came from the cache."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0
    """Seconds that the model took, summed over calls."""

    def __add__(self, other: CallCost) -> CallCost:
        return CallCost(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            model_seconds=self.model_seconds + other.model_seconds,
        )


@dataclass(frozen=True, kw_only=True)
class TunedModel:
    """The same model with a LoRA adapter, and the skills it is used for. The product's embedded
    runtime switches adapters per request; an endpoint serves one model or the other."""

    model: ChatModel
    skills: frozenset[Skill]


class SharedModel:
    """A model shared by all methods: limits concurrency and makes each call once.

    Requests for a skill of one of the `tuned` models go to it. With `known`, answers come from the
    cache only; a call that is not in the cache raises `ModelUnavailable`. With `batches`, a call
    that is not in the cache is answered from a batch folder or written there; see `batches`.
    """

    def __init__(
        self,
        model: ChatModel,
        cache: CallCache,
        *,
        concurrency: int,
        tuned: Sequence[TunedModel] = (),
        known: bool = False,
        batches: Mapping[str, BatchQueue] | None = None,
        report: Callable[[], None] = lambda: None,
    ) -> None:
        self.model = model
        self.cache = cache
        self.tuned = tuned
        self._cache_only = known
        self._batches = batches or {}
        """The batch queue of each model, by the model's name."""
        self._slots = asyncio.Semaphore(concurrency)
        self._in_flight: dict[bytes, asyncio.Future[None]] = {}
        self._report = report

    @property
    def name(self) -> str:
        """The model's name, with those of the tuned models."""
        return "+".join((self.model.name, *(tuned.model.name for tuned in self.tuned)))

    def answering(self, request: Request) -> ChatModel:
        """The model that the request goes to."""
        serving = (tuned.model for tuned in self.tuned if request.skill in tuned.skills)
        return next(serving, self.model)

    async def ask(self, request: Request) -> tuple[Completion, bool]:
        """The answer, and whether it came from the cache."""
        model = self.answering(request)
        key = key_of(model.name, request)
        while (other := self._in_flight.get(key)) is not None:
            await asyncio.wait([other])
        batch = self._batches.get(model.name)
        if (known := self.cache.find(key)) is not None:
            return known, batch is None or not batch.first_use(key)
        if batch is not None:
            answer = batch.answer(key, request)
            self.cache.keep(key, model.name, request, answer)
            return answer, not batch.first_use(key)
        if self._cache_only:
            raise ModelUnavailable(
                f"the call is not in the cache, and --known forbids calling {model.name}"
            )
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = done
        try:
            async with self._slots:
                answer = await self._complete(model, request)
            self.cache.keep(key, model.name, request, answer)
        finally:
            del self._in_flight[key]
            done.set_result(None)
        self._report()
        return answer, False

    async def likelihood(self, request: Request, answer: str) -> tuple[Completion, bool]:
        """How likely the answer is: its mean log-probability per token as the text of a
        completion, and whether it came from the cache. Raises `BadInput` if the model cannot
        tell."""
        model = self.answering(request)
        said = Message(role="assistant", content=answer)
        key = key_of(model.name, replace(request, messages=(*request.messages, said), max_tokens=0))
        if (known := self.cache.find(key)) is not None:
            return known, True
        if self._cache_only or self._batches or not isinstance(model, ScoringModel):
            raise BadInput(
                f"{model.name} cannot tell how likely an answer is: use a model in this process, "
                "without --batch and --known, or choose by letter"
            )
        async with self._slots:
            found = await model.likelihood(request, answer)
        scored = Completion(
            text=str(found.logprob / max(found.tokens, 1)),
            prompt_tokens=found.prompt_tokens,
            completion_tokens=found.tokens,
            seconds=found.seconds,
            finish="stop",
        )
        self.cache.keep(key, model.name, request, scored)
        self._report()
        return scored, False

    async def _complete(self, model: ChatModel, request: Request) -> Completion:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    return piece
        raise BadReply(f"{model.name} ended its stream without a Completion")


class CallAccount:
    """What one method spends on one case, over all its models."""

    def __init__(self) -> None:
        self.spent = CallCost()
        self.heard: list[Completion] = []
        self.digests_failed = 0

    def add(self, answer: Completion, *, known: bool) -> None:
        """Count an answer; `known` if it came from the cache."""
        self.heard.append(answer)
        self.spent += CallCost(
            calls=1,
            cached=int(known),
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            model_seconds=answer.seconds,
        )


class MethodModel:
    """The model as one method sees it, with its own cost account.

    The answer is streamed in small pieces, so that a caller that stops a looping answer stops it
    at the same position as with a real stream.
    """

    def __init__(
        self, shared: SharedModel, *, account: CallAccount | None = None, window: int | None = None
    ) -> None:
        self._shared = shared
        self._account = account or CallAccount()
        self._window = window or shared.model.window

    @property
    def name(self) -> str:
        """The shared model's name."""
        return self._shared.name

    @property
    def window(self) -> int:
        """The context window: the model's, or less if the method has less."""
        return min(self._window, self._shared.model.window)

    @property
    def spent(self) -> CallCost:
        """What the method has spent."""
        return self._account.spent

    @property
    def heard(self) -> list[Completion]:
        """The answers that the method got, in order."""
        return self._account.heard

    @property
    def digests_failed(self) -> int:
        """Sessions that could not be turned into memory."""
        return self._account.digests_failed

    def failed(self, sessions: int) -> None:
        """Count sessions that could not be turned into memory."""
        self._account.digests_failed += sessions

    def limited(self, window: int) -> MethodModel:
        """The same model and account with a window of at most so many tokens."""
        return MethodModel(self._shared, account=self._account, window=window)

    def of(self, other: SharedModel) -> MethodModel:
        """Another model on the same account."""
        return MethodModel(other, account=self._account, window=self._window)

    def author(self, request: Request) -> str:
        """The name of the model that the request goes to, or what that model says."""
        model = self._shared.answering(request)
        return model.author(request) if isinstance(model, AuthoredModel) else model.name

    def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """See `ChatModel.stream`."""
        return self.stream_into([], request)

    async def stream_into(
        self, answers: list[Completion], request: Request
    ) -> AsyncGenerator[str | Completion]:
        """The same; the answer is added to `answers`, even if nobody reads it to its end."""
        answer, known = await self._shared.ask(request)
        self._account.add(answer, known=known)
        answers.append(answer)
        for start in range(0, len(answer.text), _PIECE):
            yield answer.text[start : start + _PIECE]
        yield answer

    async def likelihood(self, request: Request, answer: str) -> float:
        """Mean log-probability of a token of the answer. Raises `BadInput` if the model cannot
        tell."""
        scored, known = await self._shared.likelihood(request, answer)
        self._account.add(scored, known=known)
        return float(scored.text)

    async def count(self, text: str) -> int:
        """The model's token count."""
        return await self._shared.model.count(text)

    async def close(self) -> None:
        """Do nothing: other methods use the model too."""


_PIECE = 24
"""Characters of a streamed piece."""


class CachedEmbedder:
    """An embedder that embeds each text once, over all runs with the same cache."""

    def __init__(self, embedder: Embedder, cache: CallCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._known: dict[bytes, bytes] = {}
        self._waiting: dict[bytes, str] = {}
        self._lock = asyncio.Lock()

    @property
    def space(self) -> Space:
        """The embedder's space."""
        return self._embedder.space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        import numpy as np

        space = self._embedder.space
        keys = [key_of_text(space, text) for text in texts]
        self._waiting.update(
            (key, text) for key, text in zip(keys, texts, strict=True) if key not in self._known
        )
        while any(key not in self._known for key in keys):
            async with self._lock:  # the next holder embeds everything queued in the meantime
                await self._embed_waiting()
        joined = b"".join(self._known[key] for key in keys)
        return np.frombuffer(joined, dtype=np.float32).reshape(len(keys), space.dimensions).copy()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """By the embedder's encoder for queries, uncached, if it has one."""
        if isinstance(self._embedder, QueryEmbedder):
            return await self._embedder.embed_queries(texts)
        return await self.embed(texts)

    async def _embed_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        missing = [key for key in waiting if key not in self._known]
        self._known.update(self._cache.vectors(missing))
        missing = [key for key in missing if key not in self._known]
        if missing:
            try:
                vectors = await self._embedder.embed([waiting[key] for key in missing])
            except BaseException:
                self._waiting.update(waiting)
                raise
            self._cache.keep_vectors(missing, vectors)
            self._known.update(
                (key, row.tobytes()) for key, row in zip(missing, vectors, strict=True)
            )

    async def close(self) -> None:
        """Do nothing: other methods use the embedder too."""


def without_loops(answer: str, looping: Callable[[str], bool]) -> str:
    """The answer, cut where it starts to loop."""
    for end in range(_PIECE, len(answer) + _PIECE, _PIECE):
        if looping(answer[:end]):
            return answer[:end]
    return answer
