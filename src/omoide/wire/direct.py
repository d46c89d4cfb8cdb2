"""HTTP/1.1 straight over asyncio, for the upstream of the proxy.

Every chat goes through here twice, so this costs CPU for all of them. httpx's own transport takes
twice the time: it enters the event loop again for each lock and each piece that it sends. This one
does what the proxy needs and nothing else: no HTTP proxies, no HTTP/2, no limit of connections.
h11 reads and writes the protocol, as it does for httpx.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import h11
import httpx

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable

    Origin = tuple[str, str, int]

MOST_IDLE = 64
"""Connections that are kept open for later requests."""
IDLE_SECONDS = 5.0
"""How long a connection is kept open. Most servers close one after some more seconds, and a request
that crosses that is lost."""
MOST_UNREAD = 256 * 1024
"""Bytes that arrived and were not read yet, above which the other side has to wait."""
LONGEST_HEAD = 100 * 1024
_PORTS = {"http": 80, "https": 443}


class DirectTransport(httpx.AsyncBaseTransport):
    """Sends requests, each on a connection of its own or on one that an earlier request left."""

    def __init__(self, *, verify: ssl.SSLContext) -> None:
        self._verify = verify
        verify.set_alpn_protocols(["http/1.1"])
        self._idle: dict[Origin, list[_Connection]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return the response with its body unread."""
        url, timeouts = request.url, request.extensions.get("timeout", {})
        if url.scheme not in _PORTS:
            raise httpx.UnsupportedProtocol(f"expected http or https, got {url.scheme[:20]!r}")
        origin = (url.scheme, url.host, url.port or _PORTS[url.scheme])
        connection = self._reused(origin) or await self._connected(origin, timeouts.get("connect"))
        try:
            head = await connection.send(request, timeouts)
        except BaseException:
            connection.close()
            raise
        return httpx.Response(
            head.status_code,
            headers=head.headers.raw_items(),
            stream=_Body(connection, timeouts.get("read"), lambda: self._take_back(connection)),
            extensions={"http_version": b"HTTP/" + head.http_version, "reason_phrase": head.reason},
        )

    async def aclose(self) -> None:
        """Close the idle connections."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        self._idle.clear()

    def _reused(self, origin: Origin) -> _Connection | None:
        """The connection that was left last, if it can still be used."""
        loop = asyncio.get_running_loop()
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            if connection.usable(loop):
                return connection
            connection.close()
        return None

    async def _connected(self, origin: Origin, seconds: float | None) -> _Connection:
        scheme, host, port = origin
        try:
            async with asyncio.timeout(seconds):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: _Connection(origin),
                    host,
                    port,
                    ssl=self._verify if scheme == "https" else None,
                    happy_eyeballs_delay=0.25,
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(f"no connection in {seconds} s") from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection

    def _take_back(self, connection: _Connection) -> None:
        """Keep a connection whose response was read for a later request; close it otherwise."""
        if not connection.left():
            return
        self._idle.setdefault(connection.origin, []).append(connection)
        if sum(map(len, self._idle.values())) > MOST_IDLE:
            oldest = min((c for cs in self._idle.values() for c in cs), key=lambda c: c.since)
            self._idle[oldest.origin].remove(oldest)
            oldest.close()


class _Connection(asyncio.Protocol):
    """One connection, and where it is in the protocol."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.since = 0.0
        """Since when it is idle."""
        self._loop = asyncio.get_running_loop()
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._transport: Any = None
        self._idle = self._over = self._paused = False
        self._unread = 0
        self._error: Exception | None = None
        self._news: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    async def send(self, request: httpx.Request, timeouts: dict[str, Any]) -> h11.Response:
        """Send a request and wait for the head of its response."""
        self._idle = False
        try:
            head = self._http.send(
                h11.Request(
                    method=request.method,
                    target=request.url.raw_path,
                    headers=request.headers.raw,
                )
            )
            body = await request.aread()
            content = self._http.send(h11.Data(data=body)) if body else b""
            end = self._http.send(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        self._transport.write(b"".join((head or b"", content or b"", end or b"")))
        if not self._writable.is_set():
            async with _limited(timeouts.get("write"), httpx.WriteTimeout):
                await self._writable.wait()
        while True:
            event = await self.event(timeouts.get("read"))
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise httpx.RemoteProtocolError(f"expected a response, got {type(event).__name__}")

    async def event(self, seconds: float | None) -> h11.Event:
        """The next part of the response, which may take so many seconds to arrive."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                if self._error is not None:
                    raise httpx.ReadError(str(self._error)) from self._error
                raise httpx.RemoteProtocolError(str(error)) from error
            if isinstance(event, h11.Event):
                return event
            self._unread = 0
            if self._over or event is h11.PAUSED:
                raise httpx.ReadError(str(self._error or "the connection was closed"))
            if self._paused:
                self._paused = False
                self._transport.resume_reading()
            self._news = self._loop.create_future()
            if seconds is None:
                await self._news
            else:
                async with _limited(seconds, httpx.ReadTimeout):
                    await self._news

    def usable(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether another request may be sent on it."""
        fresh = self._loop is loop and loop.time() - self.since < IDLE_SECONDS
        return fresh and not self._over and not self._transport.is_closing()

    def left(self) -> bool:
        """Make it ready for another request. If it cannot be, close it and return False."""
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if not done or self._over or self._http.trailing_data[0]:
            self.close()
            return False
        self._http.start_next_cycle()
        self._idle, self.since = True, self._loop.time()
        return True

    def close(self) -> None:
        """Close it without waiting."""
        self._over = True
        if not self._loop.is_closed():
            self._transport.close()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._idle:  # nothing was asked for: a server says good-bye
            self.close()
            return
        self._http.receive_data(data)
        self._unread += len(data)
        if self._unread > MOST_UNREAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """See `asyncio.Protocol`."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._error = exc
        self._end()
        self._writable.set()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writable.set()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._http.receive_data(b"")
        self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


class _Body(httpx.AsyncByteStream):
    """The body of a response. Whoever is done with it closes it, read or not."""

    def __init__(
        self, connection: _Connection, seconds: float | None, done: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._seconds = seconds
        self._done: Callable[[], None] | None = done

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, as they arrive."""
        try:
            while isinstance(event := await self._connection.event(self._seconds), h11.Data):
                yield bytes(event.data)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        if self._done is not None:
            done, self._done = self._done, None
            done()


@asynccontextmanager
async def _limited(
    seconds: float | None, late: type[httpx.TimeoutException]
) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise late(f"nothing happened for {seconds} s") from error
