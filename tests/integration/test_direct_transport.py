"""The transport over asyncio's streams, against servers that behave well and badly."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from omoide.wire.direct import DirectTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


@asynccontextmanager
async def serving(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The address of a server that calls `serve` for each connection."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (OSError, EOFError):
            pass  # the client has left
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    scheme = "https" if tls else "http"
    async with server:
        yield f"{scheme}://localhost:{server.sockets[0].getsockname()[1]}/"


@asynccontextmanager
async def client(
    trusted: ssl.SSLContext | None = None, **more: float
) -> AsyncIterator[httpx.AsyncClient]:
    """A client over the transport."""
    transport = DirectTransport(trusted or ssl.create_default_context(), kept=2)
    async with httpx.AsyncClient(transport=transport, timeout=more.get("timeout", 30.0)) as made:
        yield made


async def asked(reader: asyncio.StreamReader) -> bytes:
    """The head of the next request."""
    return await reader.readuntil(b"\r\n\r\n")


async def test_a_connection_serves_several_requests() -> None:
    """A body is sent whole, and the second request needs no new connection."""
    bodies: list[bytes] = []
    connections: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(None)
        while True:
            await asked(reader)
            bodies.append(await reader.readexactly(100_000))
            writer.write(HELLO)

    async with serving(serve) as url, client() as http:
        for letter in (b"a", b"b"):
            assert (await http.post(url, content=letter * 100_000)).text == "hello"
    assert bodies == [b"a" * 100_000, b"b" * 100_000]
    assert len(connections) == 1


@pytest.mark.parametrize("farewell", [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n"])
async def test_a_connection_that_was_closed_is_not_used_again(farewell: bytes) -> None:
    """Nor one on which something came that nobody asked for."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(HELLO)
        await writer.drain()
        await asyncio.sleep(0.05)  # the client has read the answer
        writer.write(farewell)
        await writer.drain()

    async with serving(serve) as url, client() as http:
        for _ in range(2):
            assert (await http.get(url)).text == "hello"
            await asyncio.sleep(0.2)


async def test_what_goes_wrong_is_told_as_httpx_tells_it() -> None:
    """Nobody listens, nothing comes, the answer is no HTTP, and the answer breaks off."""
    starts = iter([b"", b"What?\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhell"])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        start = next(starts)
        writer.write(start)
        await writer.drain()
        if not start:
            await reader.read()

    async with client(timeout=0.3) as http:
        async with serving(serve) as url:
            with pytest.raises(httpx.ReadTimeout):
                await http.get(url)
            for _ in range(2):
                with pytest.raises(httpx.RemoteProtocolError):
                    await http.get(url)
        with pytest.raises(httpx.ConnectError):
            await http.get(url)


async def test_an_answer_that_is_not_wanted_any_more_is_cut_off() -> None:
    """Its sender waits while nobody reads, and sees the connection end when it is closed."""
    sent, over = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while sent < 100_000_000:
                writer.write(b"x" * 100_000)
                await writer.drain()
                sent += 100_000
        finally:
            over.set()

    async with serving(serve) as url, client() as http:
        async with http.stream("GET", url) as response:
            blocks = response.aiter_bytes()
            assert (await anext(blocks))[:1] == b"x"
            await asyncio.sleep(0.3)
            assert not over.is_set()
        await asyncio.wait_for(over.wait(), 10)
    assert sent < 100_000_000


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine's own, with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    made = folder / "both.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "own.pem")]
    try:
        subprocess.run(
            ["openssl", "req", *options, *names, *files], check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    made.write_text((folder / "key.pem").read_text() + (folder / "own.pem").read_text())
    return made


async def test_encrypted(certificate: Path) -> None:
    """A server is talked to if its certificate is trusted, and otherwise not."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await asked(reader)
            writer.write(HELLO)

    trusted = ssl.create_default_context(cafile=str(certificate))
    async with serving(serve, tls=tls) as url:
        async with client(trusted) as http:
            for _ in range(2):
                assert (await http.get(url)).text == "hello"
        async with client() as http:
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await http.get(url)
