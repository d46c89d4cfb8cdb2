"""The transport to the upstream: what it sends, when it reuses a connection, and how it fails."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from omoide.wire.certificates import certificates
from omoide.wire.direct import MOST_UNREAD, DirectTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-a: b\r\n\r\nhi"


@asynccontextmanager
async def serving(serve: Serve) -> AsyncIterator[str]:
    """A server that answers each connection so; its address."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}/v1/chat?x=1"
    finally:
        server.close()


@pytest.fixture
async def transport() -> AsyncIterator[DirectTransport]:
    """The transport, closed at the end."""
    made = DirectTransport(verify=certificates())
    yield made
    await made.aclose()


def asked(url: str, content: bytes = b"hello", **timeouts: float) -> httpx.Request:
    """A request with these timeouts."""
    return httpx.Request("POST", url, content=content, extensions={"timeout": timeouts})


async def read(response: httpx.Response) -> bytes:
    """The body; then the response is closed."""
    try:
        return b"".join([block async for block in response.aiter_raw()])
    finally:
        await response.aclose()


async def one(reader: asyncio.StreamReader) -> bytes:
    """One request: its head and the five bytes of its body."""
    return await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(5)


async def test_requests_share_a_connection(transport: DirectTransport) -> None:
    """A request arrives as it was made, and the next one takes the same connection."""
    seen: list[list[bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append([])
        while True:
            seen[-1].append(await one(reader))
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" + OK)

    async with serving(serve) as url:
        for _ in range(3):
            response = await transport.handle_async_request(asked(url))
            assert (response.status_code, response.headers["x-a"]) == (200, "b")
            assert await read(response) == b"hi"
    assert [len(requests) for requests in seen] == [3]
    assert seen[0][0].startswith(b"POST /v1/chat?x=1 HTTP/1.1\r\n")
    assert seen[0][0].endswith(b"\r\n\r\nhello")


async def test_a_connection_in_an_unknown_state_is_not_reused(transport: DirectTransport) -> None:
    """One whose answer was not read, that the server closed, or on which it spoke unasked."""
    connections = 0
    after = [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n", b""]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await one(reader)
        writer.write(OK)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(after.pop())

    async with serving(serve) as url:
        response = await transport.handle_async_request(asked(url))
        await response.aclose()  # unread
        assert await read(await transport.handle_async_request(asked(url))) == b"hi"
        await asyncio.sleep(0.2)
        assert await read(await transport.handle_async_request(asked(url))) == b"hi"
    assert connections == 3


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", httpx.RemoteProtocolError),
        (b"what?\r\n\r\n", httpx.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi", httpx.RemoteProtocolError),
    ],
)
async def test_a_broken_answer_is_an_error(
    transport: DirectTransport, answer: bytes, error: type[Exception]
) -> None:
    """Nothing, nonsense, and too little: never a shorter body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await one(reader)
        writer.write(answer)

    async with serving(serve) as url:
        with pytest.raises(error):
            await read(await transport.handle_async_request(asked(url)))


async def test_nobody_there(transport: DirectTransport) -> None:
    """A port where nothing listens cannot be connected to, and another scheme not at all."""
    async with serving(lambda *_: asyncio.sleep(0)) as url:
        pass
    with pytest.raises(httpx.ConnectError):
        await transport.handle_async_request(asked(url))
    with pytest.raises(httpx.UnsupportedProtocol):
        await transport.handle_async_request(asked("ftp://127.0.0.1/x"))


async def test_a_silent_server_times_out(transport: DirectTransport) -> None:
    """With a timeout for reading, it does not wait for ever."""
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del writer
        await one(reader)
        await gone.wait()

    async with serving(serve) as url:
        with pytest.raises(httpx.ReadTimeout):
            await transport.handle_async_request(asked(url, read=0.05))
        gone.set()


async def test_a_large_body_each_way_waits_for_its_reader(transport: DirectTransport) -> None:
    """Neither side holds more than a little in memory, and nothing is lost."""
    sent, size = b"x" * 3_000_000, 8 * MOST_UNREAD
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)
        assert await reader.readexactly(len(sent)) == sent
        writer.write(head + b"y" * size)
        await writer.drain()

    async with serving(serve) as url:
        response = await transport.handle_async_request(asked(url, sent))
        await asyncio.sleep(0.1)
        assert await read(response) == b"y" * size


async def test_a_cancelled_request_closes_its_connection(transport: DirectTransport) -> None:
    """The upstream notices that nobody waits any more."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del writer
        await one(reader)
        began.set()
        assert await reader.read() == b""
        ended.set()

    async with serving(serve) as url:
        asking = asyncio.ensure_future(transport.handle_async_request(asked(url)))
        await began.wait()
        asking.cancel()
        await asyncio.wait_for(ended.wait(), 60)
