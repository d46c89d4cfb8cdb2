"""A fake OpenAI-compatible endpoint on a real local socket."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


@dataclass(frozen=True, kw_only=True)
class Received:
    """A received request."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:  # noqa: ANN401 - any JSON
        """The parsed JSON body."""
        return json.loads(self.raw)


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """A scripted response: blocks of bytes, and events to wait for between them. An event that is
    never set simulates a stall; `cut` closes the connection before the response is complete."""

    status: int = 200
    media_type: str = "application/json"
    blocks: tuple[bytes | asyncio.Event, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


def whole(text: str | None, **message: object) -> Scripted:
    """A chat completion in one response."""
    reply = {"role": "assistant", "content": text, **message}
    finish = "tool_calls" if "tool_calls" in message else "stop"
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "message": reply, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }
    return Scripted(blocks=(json.dumps(body).encode(),))


def event(delta: Mapping[str, object], *, finish: str | None = None, index: int = 0) -> bytes:
    """One server-sent chunk of a stream."""
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk)}\n\n".encode()


DONE = b"data: [DONE]\n\n"


def stream(*pieces: str | asyncio.Event) -> Scripted:
    """A chat completion streamed in these pieces."""
    chunks = (p if isinstance(p, asyncio.Event) else event({"content": p}) for p in pieces)
    blocks = (event({"role": "assistant", "content": ""}), *chunks, event({}, finish="stop"), DONE)
    return Scripted(media_type="text/event-stream", blocks=blocks)


def failure(status: int, message: str, **headers: str) -> Scripted:
    """An error in OpenAI's format."""
    error = {"message": message, "type": "server_error", "param": None, "code": None}
    return Scripted(
        status=status,
        blocks=(json.dumps({"error": error}).encode(),),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


class FakeEndpoint:
    """Returns the given answers in order, then `otherwise`, and records the requests.

    >>> async with FakeEndpoint([whole("Hello.")]) as endpoint:  # doctest: +SKIP
    ...     client = AsyncOpenAI(base_url=endpoint.url, api_key="none")
    """

    def __init__(self, answers: list[Scripted] | None = None, *, otherwise: str = "I see.") -> None:
        self.answers = deque(answers or ())
        self.requests: list[Received] = []
        self.left = asyncio.Event()
        """Set when a client disconnects before its response is complete."""
        self._otherwise = otherwise
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.url = ""

    async def __aenter__(self) -> FakeEndpoint:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=1024)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
        try:
            while (received := await _received(reader)) is not None:
                self.requests.append(received)
                if not await self._answer(self._next(received), reader, writer):
                    break
        except ConnectionError:
            self.left.set()
        except asyncio.CancelledError:
            pass  # the endpoint is being closed
        finally:
            if task is not None:
                self._open.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _next(self, received: Received) -> Scripted:
        if self.answers:
            return self.answers.popleft()
        if received.path.startswith("/v1/models"):
            return Scripted(blocks=(b'{"object":"list","data":[{"id":"fake-1"}]}',))
        if received.body.get("stream"):
            return stream(*(f"{word} " for word in self._otherwise.split()))
        return whole(self._otherwise)

    async def _answer(
        self, scripted: Scripted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send the response; return whether the connection stays open."""
        lines = [
            f"HTTP/1.1 {scripted.status} Scripted",
            f"Content-Type: {scripted.media_type}",
            "Transfer-Encoding: chunked",
            *(f"{name}: {value}" for name, value in scripted.headers.items()),
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        for block in scripted.blocks:
            if isinstance(block, bytes):
                writer.write(b"%x\r\n%b\r\n" % (len(block), block))
                await writer.drain()
            elif not await _waited(block, reader):
                self.left.set()
                return False
        if not scripted.cut:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return not scripted.cut


async def _waited(event: asyncio.Event, reader: asyncio.StreamReader) -> bool:
    """Wait for the event; False if the client disconnects first."""
    waiting = asyncio.ensure_future(event.wait())
    leaving = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.done()
    finally:
        waiting.cancel()
        leaving.cancel()
        await asyncio.gather(waiting, leaving, return_exceptions=True)


async def _received(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ")
    pairs = (line.partition(": ") for line in head[1:] if line)
    headers = {name.lower(): value for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method=method, path=path, headers=headers, raw=raw)
