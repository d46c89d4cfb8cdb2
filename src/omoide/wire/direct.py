"""A transport for httpx that connects without a proxy, over asyncio's own streams (`network`)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpcore
import httpx

from omoide.wire.network import AsyncioNetwork

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, AsyncIterator, Iterator


class DirectTransport(httpx.AsyncBaseTransport):
    """Sends requests over a pool of connections of its own."""

    def __init__(self, trusted: ssl.SSLContext, *, kept: int) -> None:
        """Keeps at most `kept` idle connections."""
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted,
            max_connections=None,
            max_keepalive_connections=kept,
            keepalive_expiry=httpx.Limits().keepalive_expiry,
            network_backend=AsyncioNetwork(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.AsyncBaseTransport`."""
        url = request.url
        target = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        assert isinstance(request.stream, httpx.AsyncByteStream)  # noqa: S101 - of an async client
        sent = httpcore.Request(
            method=request.method,
            url=target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _translated_errors():
            got = await self._pool.handle_async_request(sent)
        assert not isinstance(got.stream, bytes)  # noqa: S101 - it was not read yet
        return httpx.Response(
            status_code=got.status,
            headers=got.headers,
            stream=_Body(got),
            extensions=got.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of an answer as it arrives."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream: AsyncIterable[bytes] = self._response.stream  # type: ignore[assignment]
        with _translated_errors():
            async for block in stream:
                yield block

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        await self._response.aclose()


@contextmanager
def _translated_errors() -> Iterator[None]:
    """httpcore's errors as those of httpx, which have the same names."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
    ) as error:
        translated: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
        raise translated(str(error)) from error
