"""Answers that are longer than an answer may be, over every protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.answer_parser import MAX_ANSWER_BYTES, MAX_REPLY_CHARS
from omoide.server.protocols.answer import chunks
from omoide.testing.endpoint import DONE, Scripted, event, whole
from omoide.wire.answer_chunks import MAX_EVENT_BYTES

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HI = [{"role": "user", "content": "Hi"}]
CHATS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HI},
    "/v1/responses": {"input": "Hi"},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/messages": {"messages": HI, "max_tokens": 9},
    "/api/chat": {"messages": HI},
    "/api/generate": {"prompt": "Hi"},
}
"""The smallest chat of each protocol."""
MIB = 2**20
EVENTS = "text/event-stream"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


async def ask(bench: Bench, path: str, answer: Scripted, *, stream: bool) -> Any:  # noqa: ANN401
    """The response to a chat that the upstream answers so."""
    bench.upstairs.answers.append(answer)
    body = {**CHATS[path], "model": "m", "stream": stream}
    return await bench.client.post(path, json=body, headers={"X-Omoide-User": "ana"})


def endless(first: bytes, block: bytes) -> tuple[bytes, ...]:
    """More than an answer may have."""
    return (first, *(block,) * (MAX_ANSWER_BYTES // len(block) + 8))


@pytest.mark.parametrize("path", CHATS)
async def test_a_stream_without_end_is_ended_with_an_error(bench: Bench, path: str) -> None:
    """The client is told why, and what came before is recorded."""
    blocks = endless(event({"content": "The beginning."}), b":" + b" " * (MIB - 2) + b"\n")
    response = await ask(bench, path, Scripted(media_type=EVENTS, blocks=blocks), stream=True)
    assert len(response.content) < MAX_ANSWER_BYTES + 2 * MIB
    last = response.content[-2000:].decode()
    assert "the upstream's answer is longer than 64 MiB and ends here" in last
    assert await bench.said() == ["Hi", "The beginning."]


@pytest.mark.parametrize("path", CHATS)
async def test_too_long_a_whole_answer_is_an_error(bench: Bench, path: str) -> None:
    """It says so, and the message is recorded."""
    response = await ask(bench, path, Scripted(blocks=endless(b" ", b" " * MIB)), stream=False)
    assert response.status_code == 502
    assert "longer than 64 MiB" in response.text
    assert response.headers["x-omoide-stored"] == "yes"
    assert await bench.said() == ["Hi"]


@pytest.mark.parametrize("path", ["/v1/embeddings", "/api/embed"])
async def test_many_embeddings_are_passed_on_unless_they_are_converted(
    bench: Bench, path: str
) -> None:
    """They are no reply, and nothing of them is held; to be converted they would have to be."""
    blocks = endless(b" ", b" " * MIB)
    bench.upstairs.answers.append(Scripted(blocks=blocks))
    response = await bench.client.post(path, json={"model": "m", "input": "Hi"})
    if path == "/v1/embeddings":
        assert len(response.content) == sum(map(len, blocks))
    else:
        assert response.status_code == 502
        assert "longer than 64 MiB" in response.text


async def test_an_answer_may_be_as_long_as_the_longest(bench: Bench) -> None:
    """With 64 MiB it is converted; one byte more is too long."""
    answer = b'{"data": [{"embedding": [1]}]}'
    padding = b" " * (MAX_ANSWER_BYTES - len(answer))
    for blocks, status in (((answer, padding), 200), ((answer, padding, b" "), 502)):
        bench.upstairs.answers.append(Scripted(blocks=blocks))
        response = await bench.client.post("/api/embed", json={"model": "m", "input": "Hi"})
        assert response.status_code == status


async def test_an_event_without_end_is_not_read_to_its_end() -> None:
    """Who converts a stream stops, with an error, where an event becomes too long."""
    sent = 0

    async def blocks() -> AsyncIterator[bytes]:
        nonlocal sent
        yield event({"content": "before"}) + b"data: {"
        for _ in range(2 * MAX_EVENT_BYTES // MIB):
            sent += MIB
            yield b"x" * MIB

    [before, error] = [chunk async for chunk in chunks(blocks(), stream=True)]
    assert before is not None
    assert before["choices"][0]["delta"] == {"content": "before"}
    assert error == {"error": {"message": "an event of the upstream's stream is too long"}}
    assert sent == MAX_EVENT_BYTES


@pytest.mark.heavy
@pytest.mark.parametrize("stream", [False, True])
async def test_of_a_very_long_reply_the_beginning_is_recorded_and_told(
    bench: Bench, stream: bool
) -> None:
    """The client gets every word of it."""
    words = "word\n" * (MAX_REPLY_CHARS // 5) + "the rest"
    streamed = (event({"content": words[:-3]}), event({"content": words[-3:]}), DONE)
    answer = Scripted(media_type=EVENTS, blocks=streamed) if stream else whole(words)
    response = await ask(bench, "/v1/chat/completions", answer, stream=stream)
    if stream:
        assert response.content.endswith(b": X-Omoide-Stored: no\n\n" + DONE)
        data = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
        passed = [json.loads(line)["choices"][0]["delta"]["content"] for line in data]
        assert "".join(passed) == words
    else:
        assert response.headers["x-omoide-stored"] == "no"
        assert response.headers["x-omoide-status"] == "degraded; reason=text-too-long"
        assert response.json()["choices"][0]["message"]["content"] == words
    _, *reply = await bench.said()
    assert "".join(reply) == words[:MAX_REPLY_CHARS]
    assert bench.server.metrics.degraded == {"text-too-long": 1}
