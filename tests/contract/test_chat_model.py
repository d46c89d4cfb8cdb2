"""Every chat model of ours keeps the shipped contract."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.models.lazy import LazyChat
from omoide.adapters.models.openai import OpenAIChat
from omoide.testing import ScriptedModel
from omoide.testing.contracts.model import ModelContract
from tests.tiny import tiny_chat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from omoide.ports import ChatModel

    Script = Callable[[dict[str, Any], asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def endpoint(script: Script) -> AsyncIterator[str]:
    """The base URL of a real HTTP server on a socket that answers each request by `script`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            await script(json.loads(await reader.readexactly(length)), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side went away
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def begin(writer: asyncio.StreamWriter) -> None:
    """Send the head of an event stream that ends when the connection does."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")


def chunk(text: str = "", *, finish: str | None = None, **more: object) -> bytes:
    """One event with a piece of an answer."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n".encode()


async def counting(body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """A model that counts to ten, or to `max_tokens`."""
    begin(writer)
    wanted = min(10, body["max_tokens"])
    for number in range(wanted):
        writer.write(chunk(f" {number}" if number else "0"))
        await writer.drain()
    usage = {"prompt_tokens": 7, "completion_tokens": wanted}
    writer.write(chunk(finish="stop" if wanted == 10 else "length"))
    writer.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
    writer.write(b"data: [DONE]\n\n")


@asynccontextmanager
async def scripted() -> AsyncIterator[ChatModel]:
    """The stand-in that users test with."""
    yield ScriptedModel(["one two three four five six"] * 20)


@asynccontextmanager
async def remote() -> AsyncIterator[ChatModel]:
    """The adapter for endpoints, over a socket."""
    async with endpoint(counting) as url:
        model = OpenAIChat(url, "counter")
        yield model
        await model.close()


@asynccontextmanager
async def lazy() -> AsyncIterator[ChatModel]:
    """A model that is got ready at its first use."""
    async with endpoint(counting) as url:

        async def load() -> ChatModel:
            return OpenAIChat(url, "counter")

        model = LazyChat(load, name="counter", window=8192)
        yield model
        await model.close()


@asynccontextmanager
async def embedded() -> AsyncIterator[ChatModel]:
    """The model in this process."""
    model = tiny_chat()
    yield model
    await model.close()


class TestScripted(ModelContract):
    """The stand-in."""

    cuts = False

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """See `ModelContract.open`."""
        return scripted()


class TestOpenAI(ModelContract):
    """An endpoint."""

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """See `ModelContract.open`."""
        return remote()


class TestLazy(ModelContract):
    """One that is made late."""

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """See `ModelContract.open`."""
        return lazy()


@pytest.mark.heavy
@pytest.mark.model
class TestEmbedded(ModelContract):
    """The model in this process. `tests/integration/test_models_embedded.py` has what `make test`
    asks it."""

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """See `ModelContract.open`."""
        return embedded()
