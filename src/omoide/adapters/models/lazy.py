"""A chat model that is got ready when it is first asked something."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.ports import ChatModel, Completion, Request


class LazyChat:
    """Stands for a model whose weights may have to be fetched first, so that a command which
    asks nothing of it does not wait for it. A failed `load` is tried again at the next use."""

    def __init__(
        self,
        load: Callable[[], Awaitable[ChatModel]],
        *,
        name: str,
        window: int,
        author: Callable[[Request], str] | None = None,
    ) -> None:
        self._load = load
        self._author = author
        self._name = name
        self._window = window
        self._model: ChatModel | None = None
        self._closed = False
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """As given: known before it is loaded."""
        return self._name

    @property
    def window(self) -> int:
        """As given."""
        return self._window

    def author(self, request: Request) -> str:
        """As given; its name if nothing was."""
        return self._author(request) if self._author else self._name

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The model's own answer."""
        model = await self._ready()
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def count(self, text: str) -> int:
        """The model's own count."""
        return await (await self._ready()).count(text)

    async def close(self) -> None:
        """Close the model if there is one; one that is being loaded, as soon as it is there."""
        self._closed = True
        if self._model is not None:
            await self._model.close()

    async def _ready(self) -> ChatModel:
        async with self._lock:
            if self._model is None:
                model = await self._load()
                if self._closed:
                    await model.close()
                    raise ModelUnavailable(f"{self._name} was closed while it was being loaded")
                self._model = model
            return self._model
