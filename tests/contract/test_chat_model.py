"""What every chat model keeps to, whoever made it. Add a maker to `MAKERS` to hold yours to it."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.models.catalogue import Weights, resolve
from omoide.adapters.models.download import Cache
from omoide.adapters.models.embedded import EmbeddedChat
from omoide.adapters.models.lazy import LazyChat
from omoide.adapters.models.openai import OpenAIChat
from omoide.ports import Completion, Message, Request
from omoide.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from omoide.ports import ChatModel

    Script = Callable[[dict[str, Any], asyncio.StreamWriter], Awaitable[None]]

CACHE = Path(os.environ.get("OMOIDE_MODELS") or Path.home() / ".cache/omoide/models")


def tiny_model() -> Path:
    """The file of the model for plumbing tests; skips where it is not in the cache."""
    weights = resolve("tiny")
    assert isinstance(weights, Weights)
    if found := Cache(CACHE, offline=True).find(weights.artifact):
        return found
    pytest.skip(f"no {weights.artifact.file} in {CACHE}: set OMOIDE_MODELS or run `make model`")


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
    model = EmbeddedChat(tiny_model(), window=1024, cache_mib=16)
    yield model
    await model.close()


MAKERS = [
    pytest.param(scripted, id="scripted"),
    pytest.param(remote, id="openai"),
    pytest.param(lazy, id="lazy"),
    pytest.param(embedded, id="embedded", marks=pytest.mark.model),
]

pytestmark = pytest.mark.parametrize("make", MAKERS)
Make = Any


def ask(text: str = "Count to ten.", *, max_tokens: int = 16) -> Request:
    """A short question."""
    return Request(messages=(Message(role="user", content=text),), max_tokens=max_tokens)


async def answer(model: ChatModel, request: Request) -> tuple[list[str], Completion]:
    """All pieces, and the one completion after them."""
    pieces: list[str] = []
    completions: list[Completion] = []
    async for item in model.stream(request):
        if isinstance(item, Completion):
            completions.append(item)
        else:
            assert not completions, "a piece came after the completion"
            pieces.append(item)
    (completion,) = completions
    return pieces, completion


async def test_pieces_come_first_and_make_up_the_completion(make: Make) -> None:
    """The completion is the last item, the only one, and holds all the pieces."""
    async with make() as model:
        pieces, completion = await answer(model, ask())
    assert len(pieces) > 1
    assert "".join(pieces) == completion.text


async def test_the_completion_accounts_for_the_answer(make: Make) -> None:
    """Tokens and seconds are counted, and of the cached tokens none is outside the prompt."""
    async with make() as model:
        _, completion = await answer(model, ask())
    assert completion.prompt_tokens > 0
    assert completion.completion_tokens > 0
    assert completion.seconds >= 0
    assert 0 <= completion.cached_tokens <= completion.prompt_tokens


async def test_an_answer_that_was_cut_says_so(make: Make) -> None:
    """At `max_tokens` the answer ends, and its finish is `length`."""
    if make is scripted:
        pytest.skip("a script is not cut")
    async with make() as model:
        _, completion = await answer(model, ask(max_tokens=3))
    assert completion.finish == "length"
    assert completion.completion_tokens == 3


async def test_closing_early_leaves_the_model_ready(make: Make) -> None:
    """After a stream was closed at its first piece, the next question is answered in full."""
    async with make() as model:
        async with aclosing(model.stream(ask(max_tokens=200))) as stream:
            assert isinstance(await anext(stream), str)
        pieces, completion = await answer(model, ask())
    assert "".join(pieces) == completion.text


async def test_many_may_ask_at_once(make: Make) -> None:
    """Five conversations each get a whole answer of their own."""
    async with make() as model:
        answers = await asyncio.gather(
            *(answer(model, ask(f"Say {n}.", max_tokens=6)) for n in range(5))
        )
    assert all("".join(pieces) == completion.text for pieces, completion in answers)


async def test_more_text_counts_more_tokens(make: Make) -> None:
    """A count grows with its text."""
    async with make() as model:
        short, long = await model.count("Hello."), await model.count("Hello, world. " * 50)
    assert 0 < short < long


async def test_it_says_who_it_is(make: Make) -> None:
    """Name and window are known before anything is asked."""
    async with make() as model:
        assert model.name
        assert model.window > 0


async def test_closing_twice_does_nothing(make: Make) -> None:
    """A second close is silent, also before the first use."""
    async with make() as model:
        await model.close()
        await model.close()
