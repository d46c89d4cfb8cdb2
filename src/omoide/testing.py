"""Stand-ins for tests, ours and yours: no network, no weights, no real time.

They keep the same contracts as the real adapters, by the same tests (`tests/contract`).
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

    Told = str | Awaitable[str] | AsyncGenerator[str]
    Answer = str | Exception | Completion | Callable[[Request], Told]


class ScriptedModel:
    """A chat model that gives the answers it was handed, in order, and notes what it was asked.

    An answer may be a text, an error to raise, a whole `Completion` (for a text that was cut
    short), or a function of the request: async if it is to take its time, an async generator if its
    pieces are to come one by one. One question too many is an `AssertionError`.

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
        """As given."""
        return self._name

    @property
    def window(self) -> int:
        """As given."""
        return self._window

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The next answer, a word at a time."""
        self.requests.append(request)
        if not self.answers:
            asked = request.messages[-1].content[-80:]
            raise AssertionError(f"{self.name} has no more answers; it was asked …{asked!r}")
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        finish: Completion | None = answer if isinstance(answer, Completion) else None
        told = answer(request) if callable(answer) else finish.text if finish else str(answer)
        if isinstance(told, AsyncIterator):
            text = ""
            async for piece in told:
                text += piece
                yield piece
        else:
            text = told if isinstance(told, str) else await told
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
        """An estimate."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Nothing to let go."""


class HashEmbedder:
    """An embedder by hashed terms: texts that share words are near each other."""

    def __init__(self, *, dimensions: int = 64, name: str = "hash", version: str = "1") -> None:
        self._space = Space(name=name, version=version, dimensions=dimensions)

    @property
    def space(self) -> Space:
        """As given."""
        return self._space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Each term adds 1 at the place its hash says; then the length is made 1."""
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
        """Nothing to let go."""


@dataclass
class FrozenClock:
    """A clock that stands still until it is moved."""

    time: datetime = field(default_factory=lambda: datetime(2026, 1, 5, 9, 0, tzinfo=UTC))

    def now(self) -> datetime:
        """Where it stands."""
        return self.time

    def advance(self, by: timedelta) -> None:
        """Move it."""
        self.time += by
