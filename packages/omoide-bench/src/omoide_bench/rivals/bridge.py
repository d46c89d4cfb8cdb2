"""Our asynchronous model and embedder, as synchronous libraries in threads call them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal, TypeVar

from omoide.ports import Message, Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from omoide.ports import Completion, Embedder

    Ask = Callable[[Request], Awaitable[Completion]]

T = TypeVar("T")
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}
THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="rival")
"""Threads of their own: in the event loop's default ones, libraries that wait for an embedding
would take the threads that embed."""


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking call in a thread."""
    return await asyncio.get_running_loop().run_in_executor(THREADS, work)


class Bridge:
    """The model and embedder for one memory. It is made in the event loop and called in threads.

    Libraries catch errors of a model and go on with an empty memory. Here the first error is kept,
    so that an unreachable model, or an answer that a batch still owes, ends the case instead of
    counting against the library.
    """

    def __init__(self, embedder: Embedder, *, max_tokens: int = 2000) -> None:
        self._loop = asyncio.get_running_loop()
        self._embedder = embedder
        self._max_tokens = max_tokens
        self.ask: Ask | None = None
        """How to ask the model, while a session is digested."""
        self.error: Exception | None = None
        self.calls = 0

    def answer(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        """The model's answer to messages with role and content, in JSON if a schema is given."""
        if self.ask is None:
            raise RuntimeError("the library asked the model outside of a session's digest")
        request = Request(
            messages=tuple(Message(role=_ROLES[m["role"]], content=m["content"]) for m in messages),
            max_tokens=self._max_tokens,
            schema=schema,
        )
        self.calls += 1
        return self._run(self._complete(self.ask, request)).text

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts."""
        return self._run(self._vectors(list(texts)))

    async def _complete(self, ask: Ask, request: Request) -> Completion:
        return await ask(request)

    async def _vectors(self, texts: list[str]) -> list[list[float]]:
        return [[float(x) for x in row] for row in await self._embedder.embed(texts)]

    def _run(self, work: Coroutine[object, object, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except Exception as error:
            self.error = self.error or error
            raise

    def raise_error(self) -> None:
        """Raise the first error of the model or embedder since the last call, if there was one."""
        error, self.error = self.error, None
        if error is not None:
            raise error
