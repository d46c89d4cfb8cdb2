"""A chat model that is loaded on first use."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from omoide.errors import ModelRefused, ModelUnavailable
from omoide.ports import PreparableModel, ScoringModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.ports import ChatModel, Completion, Likelihood, Request


class LazyChat:
    """Wraps a model whose weights may have to be downloaded, so that commands that do not use it do
    not wait. A failed `load` is retried on the next use."""

    def __init__(
        self,
        load: Callable[[], Awaitable[ChatModel]],
        *,
        name: str,
        window: int,
        author: Callable[[Request], str] | None = None,
        is_here: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_here` tells whether it can be loaded without a download."""
        self._load = load
        self._author = author
        self._is_here = is_here
        self._name = name
        self._window = window
        self._model: ChatModel | None = None
        self._closed = False
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """As configured, so it is known before loading."""
        return self._name

    @property
    def window(self) -> int:
        """As configured."""
        return self._window

    def author(self, request: Request) -> str:
        """As configured; defaults to the model's name."""
        return self._author(request) if self._author else self._name

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The model's answer; loads it first."""
        model = await self._ready()
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def prepare(self, request: Request, *, begun: str = "") -> None:
        """Load the model, and let it read ahead if it can. Weights are not downloaded for that."""
        if self._model is None and not await asyncio.to_thread(self._is_here):
            return
        model = await self._ready()
        if isinstance(model, PreparableModel):
            await model.prepare(request, begun=begun)

    async def likelihood(self, request: Request, answer: str) -> Likelihood:
        """How likely the model finds the answer; loads it first."""
        model = await self._ready()
        if not isinstance(model, ScoringModel):
            raise ModelRefused(f"{self._name} cannot tell how likely an answer is")
        return await model.likelihood(request, answer)

    async def count(self, text: str) -> int:
        """The model's token count; loads it first."""
        return await (await self._ready()).count(text)

    async def close(self) -> None:
        """Close the model if it is loaded; if it is loading, close it as soon as it has loaded."""
        self._closed = True
        if self._model is not None:
            await self._model.close()

    async def _ready(self) -> ChatModel:
        async with self._lock:
            if self._model is None:
                model = await self._load()
                if self._closed:
                    await model.close()
                    raise ModelUnavailable(f"{self._name} was closed while it was loading")
                self._model = model
            return self._model
