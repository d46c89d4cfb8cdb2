"""Connections of httpcore over asyncio's own streams.

httpcore's default ones work with several event loops, by way of anyio. That costs a third of the
CPU of a request to a local endpoint: every read and write passes through the loop once more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import httpcore

if TYPE_CHECKING:
    import ssl
    from collections.abc import Coroutine, Iterable

T = TypeVar("T")

LIMIT = 64 * 1024
"""Bytes that wait to be read before the sender has to wait."""
NEXT_ADDRESS = 0.25
"""Seconds until the next address of a host is tried as well (RFC 8305)."""


class AsyncioNetwork(httpcore.AsyncNetworkBackend):
    """Opens connections on the running event loop."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a host."""
        loop = asyncio.get_running_loop()
        reader = _Reader(limit=LIMIT, loop=loop)
        # Loops of another make, such as uvloop's, try one address after the other.
        own = isinstance(loop, asyncio.BaseEventLoop)
        in_parallel: dict[str, Any] = {"happy_eyeballs_delay": NEXT_ADDRESS} if own else {}
        connecting = loop.create_connection(
            lambda: asyncio.StreamReaderProtocol(reader, loop=loop),
            host,
            port,
            local_addr=(local_address, 0) if local_address else None,
            **in_parallel,
        )
        transport, protocol = await _within(
            timeout, connecting, late=httpcore.ConnectTimeout, failed=httpcore.ConnectError
        )
        for option in socket_options or ():
            transport.get_extra_info("socket").setsockopt(*option)
        return _Stream(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def sleep(self, seconds: float) -> None:
        """Wait before a new attempt."""
        await asyncio.sleep(seconds)


class _Reader(asyncio.StreamReader):
    """Knows how much it has received."""

    received = 0

    def feed_data(self, data: bytes) -> None:  # type: ignore[override]
        """See `asyncio.StreamReader`."""
        self.received += len(data)
        super().feed_data(data)


class _Stream(httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._consumed = 0

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
    ) -> bytes:
        """What has arrived; empty at the end."""
        data = await _within(
            timeout,
            self._reader.read(max_bytes),
            late=httpcore.ReadTimeout,
            failed=httpcore.ReadError,
        )
        self._consumed += len(data)
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
    ) -> None:
        """Send, and wait while too much is waiting to be sent."""
        if buffer:
            self._writer.write(buffer)
            await _within(
                timeout,
                self._writer.drain(),
                late=httpcore.WriteTimeout,
                failed=httpcore.WriteError,
            )

    async def aclose(self) -> None:
        """Disconnect at once. Nothing that matters is left to be sent: whoever closes has read the
        answer, or does not want it any more."""
        self._writer.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
    ) -> httpcore.AsyncNetworkStream:
        """Encrypt from now on."""
        try:
            await _within(
                timeout,
                self._writer.start_tls(ssl_context, server_hostname=server_hostname),
                late=httpcore.ConnectTimeout,
                failed=httpcore.ConnectError,
            )
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's interface
        """`is_readable`: whether a connection that should be silent is not, and so cannot be used
        again. Anything else is the transport's."""
        if info == "is_readable":
            reader = self._reader
            unread = reader.received > self._consumed
            return unread or reader.at_eof() or reader.exception() is not None
        return self._writer.get_extra_info(info)


async def _within(
    seconds: float | None,
    work: Coroutine[Any, Any, T],
    *,
    late: type[Exception],
    failed: type[Exception],
) -> T:
    """The result of work that may take so long, if there is a limit at all."""
    try:
        if seconds is None:
            return await work
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise failed(str(error)) from error
