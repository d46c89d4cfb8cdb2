"""A model and an embedder that are asked the same thing only once, and what that took."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadReply, ModelUnavailable
from omoide.evals.running.calls import key_of, key_of_text
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from omoide.evals.running.calls import CallCache
    from omoide.ports import ChatModel, Embedder, Request, Skill, Space, Vectors


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Calls and tokens. What the cache gave counts like what was asked anew: it is what the
    method takes, whoever asked first."""

    calls: int = 0
    cached: int = 0
    """Of these, how many the cache answered."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0
    """Seconds of the model, one call after another."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            model_seconds=self.model_seconds + other.model_seconds,
        )


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The same model with an adapter, and the skills that the adapter claims: the product's
    embedded runtime switches adapters by request, an endpoint has one model or the other."""

    model: ChatModel
    skills: frozenset[Skill]


class Line:
    """The one way to a model for all who ask: so many calls at a time, each of them once. What
    the `tuned` model is tuned for goes to it. Where only what is `known` is wanted, nobody is
    asked: what the cache does not hold cannot be had."""

    def __init__(
        self,
        model: ChatModel,
        cache: CallCache,
        *,
        concurrency: int,
        tuned: Tuned | None = None,
        known: bool = False,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        self.model = model
        self.cache = cache
        self.tuned = tuned
        self._closed = known
        self._room = asyncio.Semaphore(concurrency)
        self._under_way: dict[bytes, asyncio.Future[None]] = {}
        self._told = told

    @property
    def name(self) -> str:
        """Who answers: the model, and the tuned one if there is one."""
        return f"{self.model.name}+{self.tuned.model.name}" if self.tuned else self.model.name

    def answering(self, request: Request) -> ChatModel:
        """Whom the request goes to."""
        if self.tuned is not None and request.skill in self.tuned.skills:
            return self.tuned.model
        return self.model

    async def ask(self, request: Request) -> tuple[Completion, bool]:
        """The answer, and whether it was known."""
        model = self.answering(request)
        key = key_of(model.name, request)
        while (other := self._under_way.get(key)) is not None:
            await asyncio.wait([other])
        if (known := self.cache.find(key)) is not None:
            return known, True
        if self._closed:
            raise ModelUnavailable(f"this is not in the cache, and {model.name} is not to be asked")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = done
        try:
            async with self._room:
                answer = await self._asked(model, request)
            self.cache.keep(key, model.name, request, answer)
        finally:
            del self._under_way[key]
            done.set_result(None)
        self._told()
        return answer, False

    async def _asked(self, model: ChatModel, request: Request) -> Completion:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    return piece
        raise BadReply(f"{model.name} ended its answer without saying so")


class Asked:
    """The model as one method sees it, with an account of its own.

    The answer comes in small pieces, so that whoever breaks off a looping answer does so here at
    the same place as with a model that streams.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.spent = Spent()
        self.digests_failed = 0
        """Sessions of which it gave no usable memory."""
        self.heard: list[Completion] = []
        """Its answers, in the order they came."""

    @property
    def name(self) -> str:
        """As the line's."""
        return self._line.name

    @property
    def window(self) -> int:
        """As the model's."""
        return self._line.model.window

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """See `ChatModel.stream`."""
        answer, known = await self._line.ask(request)
        self.spent += Spent(
            calls=1,
            cached=int(known),
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            model_seconds=answer.seconds,
        )
        self.heard.append(answer)
        for start in range(0, len(answer.text), _PIECE):
            yield answer.text[start : start + _PIECE]
        yield answer

    async def count(self, text: str) -> int:
        """As the model's."""
        return await self._line.model.count(text)

    async def close(self) -> None:
        """Nothing: the model serves the other methods too."""


_PIECE = 24


class KnownVectors:
    """An embedder that embeds a text once, in this run and in all others with this cache."""

    def __init__(self, embedder: Embedder, cache: CallCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._known: dict[bytes, bytes] = {}
        self._waiting: dict[bytes, str] = {}
        self._turn = asyncio.Lock()

    @property
    def space(self) -> Space:
        """As the embedder's."""
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
            async with self._turn:  # whoever comes next embeds all that has gathered meanwhile
                await self._learn()
        joined = b"".join(self._known[key] for key in keys)
        return np.frombuffer(joined, dtype=np.float32).reshape(len(keys), space.dimensions).copy()

    async def _learn(self) -> None:
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
        """Nothing: the embedder serves the other methods too."""


def without_loops(answer: str, looping: Callable[[str], bool]) -> str:
    """The answer up to where it begins to say the same thing over and over."""
    for end in range(_PIECE, len(answer) + _PIECE, _PIECE):
        if looping(answer[:end]):
            return answer[:end]
    return answer
