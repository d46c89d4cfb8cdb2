"""Fake models, embedders and clocks: no network, no weights, no real time.

They pass the same contract suites as the real adapters (`omoide.testing.contracts`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens, terms
from omoide.ports import Completion, Space

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence

    from omoide.ports import Request, Vectors

    AnswerText = str | Awaitable[str] | AsyncGenerator[str]
    Answer = str | Exception | Completion | Callable[[Request], AnswerText]


class ScriptedModel:
    """A chat model that returns the given answers in order and records the requests.

    An answer is a text, an error to raise, a `Completion` (for a truncated text), or a function of
    the request: async if it should take time, an async generator to control the pieces. Raises
    `AssertionError` when the answers are used up.

    >>> model = ScriptedModel(["Hello!"])
    """

    def __init__(
        self, answers: Iterable[Answer] = (), *, name: str = "scripted", window: int = 8192
    ) -> None:
        self.answers = deque(answers)
        self.requests: list[Request] = []
        self._name = name
        self._window = window

    @property
    def name(self) -> str:
        """As passed to the constructor."""
        return self._name

    @property
    def window(self) -> int:
        """As passed to the constructor."""
        return self._window

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Stream the next answer, one word at a time."""
        self.requests.append(request)
        if not self.answers:
            asked = request.messages[-1].content[-80:]
            raise AssertionError(f"{self.name} has no more answers; it was asked …{asked!r}")
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        finish: Completion | None = answer if isinstance(answer, Completion) else None
        content = answer(request) if callable(answer) else finish.text if finish else str(answer)
        if isinstance(content, AsyncIterator):
            text = ""
            async for piece in content:
                text += piece
                yield piece
        else:
            text = content if isinstance(content, str) else await content
            for i, word in enumerate(text.split(" ")):
                yield word if i == 0 else f" {word}"
        yield finish or Completion(
            text=text,
            prompt_tokens=sum(estimate_tokens(m.content) for m in request.messages),
            completion_tokens=estimate_tokens(text),
            seconds=0.0,
            finish="stop",
        )

    async def count(self, text: str) -> int:
        """Estimate the number of tokens."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Nothing to release."""


class HashEmbedder:
    """An embedder that hashes terms: texts that share words have similar vectors."""

    def __init__(self, *, dimensions: int = 64, name: str = "hash", version: str = "1") -> None:
        self._space = Space(name=name, version=version, dimensions=dimensions)

    @property
    def space(self) -> Space:
        """As passed to the constructor."""
        return self._space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Each term adds 1 to the dimension given by its hash; then the vector is normalised."""
        import numpy as np

        vectors = np.zeros((len(texts), self._space.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for term in terms(text) or [text]:
                digest = hashlib.blake2s(term.encode()).digest()
                vectors[row, int.from_bytes(digest[:4], "big") % self._space.dimensions] += 1
        norms: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
        unit: Vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
        return unit

    async def close(self) -> None:
        """Nothing to release."""


@dataclass
class FrozenClock:
    """A clock that only moves when told to."""

    time: datetime = field(default_factory=lambda: datetime(2026, 1, 5, 9, 0, tzinfo=UTC))

    def now(self) -> datetime:
        """The time it is set to."""
        return self.time

    def advance(self, by: timedelta) -> None:
        """Move it forward."""
        self.time += by
