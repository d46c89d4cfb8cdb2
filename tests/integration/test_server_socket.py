"""The proxy on a real socket, with a real upstream behind it and OpenAI's own client before it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.server.options import Options
from omoide.testing.endpoint import DONE, FakeEndpoint, Scripted, event, failure, stream, whole
from omoide.wire.certificates import certificates
from tests.server.serving import CHAT, M1, Bench, listening, serving

openai = pytest.importorskip("openai")

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HI = [{"role": "user", "content": "Hi"}]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
    }
]
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"in":"Oslo"}'},
}


@dataclass
class Line:
    """A client, the proxy, and the endpoint behind it."""

    bench: Bench
    endpoint: FakeEndpoint
    url: str
    client: Any

    async def settled(self, *texts: str) -> bool:
        """Whether these, and no others, are what is recorded of ana, once all is written."""
        return await self.bench.settled(*texts)


@asynccontextmanager
async def connected(folder: Path, *, wait: float = 600.0) -> AsyncIterator[Line]:
    """All of it, running; `wait` is the proxy's patience with the upstream."""
    async with (
        FakeEndpoint() as endpoint,
        serving(folder, url=endpoint.url, wait=wait, options=Options(patience=600.0)) as bench,
        listening(bench.app) as url,
        openai.AsyncOpenAI(
            base_url=f"{url}/v1",
            api_key="sk-theirs",
            max_retries=0,
            default_headers={"X-Omoide-User": "ana"},
            http_client=openai.DefaultAsyncHttpxClient(verify=certificates()),
        ) as client,
    ):
        yield Line(bench=bench, endpoint=endpoint, url=url, client=client)


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[Line]:
    """All of it, with patience."""
    async with connected(tmp_path) as line:
        yield line


async def test_the_official_client_talks_to_it_unchanged(line: Line) -> None:
    """Its answer is the upstream's, and the headers tell of memory."""
    await line.bench.remember()
    raw = await line.client.chat.completions.with_raw_response.create(
        model="omoide", messages=[{"role": "user", "content": "My cat is ill."}]
    )
    assert raw.parse().choices[0].message.content == "I see."
    assert raw.headers["x-omoide-status"] == "ok"
    system, last = line.endpoint.requests[-1].body["messages"]
    assert M1 in system["content"]
    assert " a cat called Miso." in last["content"]
    assert line.endpoint.requests[-1].headers["authorization"] == "Bearer sk-theirs"


async def test_the_official_client_streams_piece_by_piece(line: Line) -> None:
    """The first piece is there before the upstream has said the second."""
    gate = asyncio.Event()
    line.endpoint.answers.append(stream("Hel", gate, "lo"))
    chunks = await line.client.chat.completions.create(model="m", messages=HI, stream=True)
    pieces = []
    async for chunk in chunks:
        if piece := chunk.choices[0].delta.content:
            pieces.append(piece)
            gate.set()
    assert pieces == ["Hel", "lo"]
    assert await line.settled("Hi", "Hello")


async def test_tools_go_there_and_back(line: Line) -> None:
    """The model's call, the tool's result and the answer, as an agent does it."""
    line.endpoint.answers += [whole(None, tool_calls=[CALL]), whole("It rains.")]
    create = line.client.chat.completions.create
    first = await create(model="m", messages=HI, tools=TOOLS, tool_choice="auto")
    (call,) = first.choices[0].message.tool_calls
    assert call.function.arguments == '{"in":"Oslo"}'
    result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
    said = first.choices[0].message.model_dump(exclude_none=True)
    second = await create(model="m", messages=[*HI, said, result], tools=TOOLS)
    assert second.choices[0].message.content == "It rains."
    assert line.endpoint.requests[0].body["tools"] == TOOLS
    assert line.endpoint.requests[1].body["messages"][-1] == result
    assert await line.settled("Hi", "It rains.")


async def test_a_streamed_tool_call_arrives_whole(line: Line) -> None:
    """Its pieces are not text, so nothing of them is recorded."""
    pieces = [{"index": 0, **CALL}, {"index": 0, "function": {"arguments": " "}}]
    blocks = (*(event({"tool_calls": [p]}) for p in pieces), event({}, finish="tool_calls"), DONE)
    line.endpoint.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
    chunks = await line.client.chat.completions.create(
        model="m", messages=HI, tools=TOOLS, stream=True
    )
    calls = [c.choices[0].delta.tool_calls async for c in chunks]
    assert [c[0].function.arguments for c in calls if c] == ['{"in":"Oslo"}', " "]
    assert await line.settled("Hi")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
    ],
)
async def test_the_client_raises_what_it_would_without_us(
    line: Line, status: int, kind: str
) -> None:
    """Errors of the upstream keep their status and their message."""
    line.endpoint.answers.append(failure(status, "no such luck"))
    with pytest.raises(getattr(openai, kind), match="no such luck"):
        await line.client.chat.completions.create(model="m", messages=HI)


async def test_the_clients_own_retry_records_once(line: Line) -> None:
    """Two failures and a success are one question and one answer."""
    line.endpoint.answers += [failure(503, "later", retry_after_ms="1")] * 2
    client = line.client.with_options(max_retries=2)
    await client.chat.completions.create(model="m", messages=HI)
    assert len(line.endpoint.requests) == 3
    assert await line.settled("Hi", "I see.")


async def test_an_upstream_that_is_not_there_is_a_502(line: Line) -> None:
    """In OpenAI's form, with the words recorded all the same."""
    await line.endpoint.__aexit__(None, None, None)
    with pytest.raises(openai.InternalServerError) as caught:
        await line.client.chat.completions.create(model="m", messages=HI)
    assert caught.value.status_code == 502
    assert caught.value.code == "upstream_unreachable"
    assert await line.settled("Hi")


async def test_a_stalled_upstream_is_a_504(tmp_path: Path) -> None:
    """The client raises what it raises for any failing server."""
    async with connected(tmp_path, wait=0.05) as line:
        line.endpoint.answers.append(Scripted(blocks=(asyncio.Event(),)))
        with pytest.raises(openai.InternalServerError) as caught:
            await line.client.chat.completions.create(model="m", messages=HI)
        assert caught.value.status_code == 504
        assert await line.settled("Hi")


async def test_a_stream_that_stalls_ends_in_an_error(tmp_path: Path) -> None:
    """A status was sent already, so the error comes as an event that the client knows."""
    async with connected(tmp_path, wait=2.0) as line:
        line.endpoint.answers.append(stream("One ", asyncio.Event(), "two"))
        chunks = await line.client.chat.completions.create(model="m", messages=HI, stream=True)
        with pytest.raises(openai.APIError, match="sent nothing"):
            [chunk async for chunk in chunks]
        assert await line.settled("Hi", "One ")


async def test_an_upstream_that_breaks_off_is_told(line: Line) -> None:
    """Half an answer is recorded as far as it came."""
    line.endpoint.answers.append(
        Scripted(media_type="text/event-stream", blocks=(event({"content": "Hal"}),), cut=True)
    )
    chunks = await line.client.chat.completions.create(model="m", messages=HI, stream=True)
    with pytest.raises(openai.APIError, match="connection to the upstream broke"):
        [chunk async for chunk in chunks]
    assert await line.settled("Hi", "Hal")


async def test_a_client_that_leaves_frees_the_upstream(line: Line) -> None:
    """While nothing comes: the upstream sees it go, and what was shown is recorded."""
    line.endpoint.answers.append(stream("One ", "two ", asyncio.Event(), "three"))
    body = {"messages": HI, "stream": True, "user": "ana", "model": "m"}
    seen = b""
    async with (
        httpx.AsyncClient(timeout=300) as client,
        client.stream("POST", f"{line.url}{CHAT}", json=body) as response,
    ):
        async for block in response.aiter_bytes():
            seen += block
            if b"two" in seen:
                break
    async with asyncio.timeout(300):  # a guard; the proxy's own patience would last longer
        await line.endpoint.left.wait()
    assert await line.settled("Hi", "One two ")
    await line.bench.server.runtime.exchanges.settled()
    (call,) = await line.bench.replies()
    assert call.failed
    assert line.bench.server.metrics.streams == 0


async def test_the_end_of_a_stream_means_that_it_is_recorded(line: Line) -> None:
    """Who saw the response end finds the reply in the memory."""
    body = {"messages": HI, "stream": True, "user": "ana", "model": "m"}
    async with httpx.AsyncClient(timeout=300) as client:
        await client.post(f"{line.url}{CHAT}", json=body)
        turns = await client.get(f"{line.url}/api/turns?user=ana")
    assert [t["text"] for t in turns.json()["items"]] == ["Hi", "I see. "]


async def test_many_streams_at_once_get_their_own_answers(line: Line) -> None:
    """Sixty users, none of whom hears another."""

    async def ask(number: int) -> str:
        chunks = await line.client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": f"I am number {number}."}],
            stream=True,
            extra_headers={"X-Omoide-User": f"user-{number}"},
        )
        return "".join([c.choices[0].delta.content or "" async for c in chunks])

    answers = await asyncio.gather(*(ask(i) for i in range(60)))
    assert answers == ["I see. "] * 60
    assert len(await line.bench.memory().users()) == 60
    for received in line.endpoint.requests:
        assert len(json.dumps(received.body["messages"]).split("I am number")) == 2


async def test_models_are_the_upstreams(line: Line) -> None:
    """A client that lists them finds them."""
    assert [m.id async for m in line.client.models.list()] == ["fake-1"]
