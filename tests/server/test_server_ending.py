"""The last event of a streamed reply comes once the reply is stored."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.ending import EndMark
from omoide.testing.endpoint import DONE, Scripted, event, stream, whole

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.types import Message

HI = [{"role": "user", "content": "Hi"}]
LAST: dict[str, tuple[dict[str, Any], bytes]] = {
    "/v1/chat/completions": ({"messages": HI}, b"data: [DONE]"),
    "/v1/completions": ({"prompt": "Hi"}, b"data: [DONE]"),
    "/v1/responses": ({"input": "Hi"}, b"event: response.completed"),
    "/v1/messages": ({"messages": HI, "max_tokens": 9}, b"event: message_stop"),
    "/api/chat": ({"messages": HI}, b'"done":true'),
}
"""The smallest chat of each protocol, and what says that its stream is complete."""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server whose upstream is in memory."""
    async with serving(tmp_path) as bench:
        yield bench


async def said_at(bench: Bench, path: str, sign: bytes) -> list[str]:
    """What is recorded when a client of this protocol first gets `sign`."""
    body = json.dumps({"model": "m", "stream": True, **LAST[path][0]}).encode()
    request: list[Message] = [{"type": "http.request", "body": body}]
    received, said = b"", None

    async def receive() -> Message:
        if request:
            return request.pop()
        await asyncio_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        nonlocal received, said
        received += message.get("body", b"")
        if said is None and sign in received:
            said = await bench.said()

    headers = [(b"content-type", b"application/json"), (b"x-omoide-user", b"ana")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8377"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8377),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
        "asgi": {"version": "3.0"},
    }
    await bench.app(scope, receive, send)
    assert said is not None, received
    return said


async def asyncio_forever() -> None:
    """The client stays."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("path", LAST)
async def test_who_sees_the_end_of_a_stream_can_rely_on_it_being_stored(
    bench: Bench, path: str
) -> None:
    """In every protocol; what came before was passed on before."""
    bench.upstairs.answers.append(stream("Hel", "lo"))
    assert await said_at(bench, path, LAST[path][1]) == ["Hi", "Hello"]
    await bench.memory().erase("ana")
    bench.upstairs.answers.append(stream("Hel", "lo"))
    assert await said_at(bench, path, b"lo") == ["Hi"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("path", LAST)
async def test_an_error_that_is_null_is_none(bench: Bench, path: str, streamed: bool) -> None:
    """Some endpoints send one with every chunk."""
    usual = stream("Hello") if streamed else whole("Hello")
    sent = b"".join(block for block in usual.blocks if isinstance(block, bytes))
    blocks = (sent.replace(b'"choices"', b'"error":null,"choices"'),)
    bench.upstairs.answers.append(replace(usual, blocks=blocks))
    body = {"model": "m", "stream": streamed, **LAST[path][0]}
    answer = await bench.client.post(path, json=body, headers={"x-omoide-user": "ana"})
    assert answer.status_code == 200
    assert "Hello" in answer.text
    assert b"upstream" not in answer.content
    assert LAST[path][1] in answer.content or not streamed


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_to_a_message_that_was_erased_meanwhile_says_so(
    bench: Bench, streamed: bool
) -> None:
    """Neither side is stored any more."""
    gate = asyncio.Event()
    usual = stream("Hello") if streamed else whole("Hello")
    bench.upstairs.answers.append(replace(usual, blocks=(gate, *usual.blocks)))
    chat = asyncio.create_task(bench.chat("My secret", stream=streamed))
    assert await bench.settled("My secret")
    await bench.memory().erase("ana")
    gate.set()
    answer = await chat
    assert "Hello" in answer.text
    if streamed:  # its headers were sent before
        assert b"\n: X-Omoide-Stored: no\n\ndata: [DONE]" in answer.content
    else:
        assert answer.headers["x-omoide-stored"] == "no"
    assert await bench.said() == []


@pytest.mark.parametrize("size", [1, 2, 5, 13, 1000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
async def test_the_end_is_found_however_it_is_cut(bench: Bench, size: int, ending: bytes) -> None:
    """The client gets the same bytes."""
    whole = event({"content": "data: [DONE]"}) + event({}, finish="stop") + DONE
    whole = whole.replace(b"\n", ending)
    blocks = tuple(whole[i : i + size] for i in range(0, len(whole), size))
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    assert await said_at(bench, "/v1/chat/completions", ending + b"data: [DONE]") == [
        "Hi",
        "data: [DONE]",
    ]
    bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    assert (await bench.chat("Hi", stream=True)).content == whole


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("sent", [b"data: [DON", b"a\ndata: ", b"xdata: [DONE]\n", b"data: [x]\n"])
def test_what_is_no_end_mark_is_passed_on(sent: bytes, size: int) -> None:
    """Also what only began like one."""
    end = EndMark()
    passed = b""
    for i in range(0, len(sent), size):
        before, mark = end.split(sent[i : i + size])
        assert mark == b""
        passed += before
    assert passed + end.rest == sent


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize("mark", [b"data: [DONE]\n\n", b"data:[DONE]\n\n"])
def test_nothing_of_an_end_mark_is_passed_on(mark: bytes, size: int) -> None:
    """However it is cut: its client would take the reply for stored."""
    end, passed, sent = EndMark(), b"", b"data: {}\n\n" + mark
    for i in range(0, len(sent), size):
        before, found = end.split(sent[i : i + size])
        passed += before
        if found:
            break
    assert passed == b"data: {}\n\n"
    assert found.startswith(mark[:11])
