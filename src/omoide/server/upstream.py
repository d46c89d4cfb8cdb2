"""Forwards chats to an endpoint: an OpenAI-compatible one passes its bytes through unchanged, one
of another protocol is converted (`omoide.wire`)."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote_plus

import httpx

from omoide.server.buffering import buffered, unbuffered
from omoide.server.keys import KEY_PREFIX
from omoide.server.problems import HttpProblem
from omoide.version import __version__
from omoide.wire.address import EndpointAddress, basic_auth
from omoide.wire.connecting import transport_to
from omoide.wire.decoding import decoded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from starlette.datastructures import Headers

_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_NOT_FORWARDED = _HOP_BY_HOP | {
    "accept-encoding",  # we parse the response, so it must not be compressed
    "authorization",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "origin",
    "referer",
}
_NOT_RETURNED = _HOP_BY_HOP | {
    "alt-svc",  # the rest of this list tells a browser something about the upstream's own site
    "clear-site-data",
    "content-encoding",
    "content-length",
    "date",
    "server",
    "set-cookie",
    "strict-transport-security",
}
_STATUSES = range(200, 600)
"""What a client can be answered with."""
_OURS = ("access-control-", "x-omoide-")
"""Beginnings of response headers that only this server sets."""


@dataclass(frozen=True, kw_only=True)
class UpstreamRequest:
    """A request to the upstream."""

    method: str
    path: str
    """Relative to the base URL: `/chat/completions`."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class UpstreamResponse:
    """The upstream's response, its body still to be read."""

    status: int
    headers: dict[str, str]
    blocks: AsyncIterator[bytes]
    """The body. Raises `HttpProblem` if the connection breaks."""

    @property
    def stream(self) -> bool:
        """Whether the body is server-sent events."""
        return "event-stream" in self.headers.get("content-type", "")


class Upstream(Protocol):
    """Answers chats."""

    @property
    def model(self) -> str:
        """The upstream's model if one was configured; if empty, the client has to name one."""

    def send(
        self, forward: UpstreamRequest
    ) -> contextlib.AbstractAsyncContextManager[UpstreamResponse]:
        """Send a request; leaving the context cancels it. Raises `HttpProblem`: 502 if the upstream
        cannot be reached, 504 if it does not answer in time."""

    async def close(self) -> None:
        """Close the connections."""


def forwarded(headers: Headers, *, keep_authorization: bool) -> dict[str, str]:
    """The client's headers that may be sent to the upstream."""
    return {
        name: value
        for name, value in headers.items()
        if (name not in _NOT_FORWARDED or (name == "authorization" and keep_authorization))
        and not name.startswith(("x-omoide-", "x-forwarded-", "sec-", "access-control-"))
        and not _is_own_key(value)
    }


def forwarded_query(query: str) -> str:
    """The client's query that may be sent to the upstream."""
    return "&".join(
        part for part in query.split("&") if not _is_own_key(unquote_plus(part.partition("=")[2]))
    )


def _is_own_key(value: str) -> bool:
    """Whether a header or a parameter has a key of this server, under whatever name."""
    return value.rpartition(" ")[2].startswith(KEY_PREFIX)


def returned(headers: Mapping[str, str]) -> dict[str, str]:
    """The upstream's headers that may be sent to the client."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() not in _NOT_RETURNED and not name.lower().startswith(_OURS)
    }


class HttpUpstream:
    """An upstream over HTTP. `wait` is the timeout in seconds until the response begins, and then
    between two blocks."""

    def __init__(
        self,
        address: str,
        *,
        model: str = "",
        api_key: str = "",
        wait: float = 120.0,
        connect: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`address` is the base URL, with the protocol before it unless it is OpenAI's."""
        endpoint = EndpointAddress.parse(address)
        self._base = endpoint.base_url
        self._password = basic_auth(self._base)
        self._model = model or endpoint.model
        self._key = api_key.strip()
        self._wait = wait
        self._transport = transport_to(endpoint, api_key=self._key, inner=transport)
        self._urls: dict[str, httpx.URL] = {}
        # All other timeouts are enforced here.
        self._timeout = httpx.Timeout(None, connect=connect).as_dict()

    @property
    def model(self) -> str:
        """See `Upstream.model`."""
        return self._model

    @asynccontextmanager
    async def send(self, forward: UpstreamRequest) -> AsyncIterator[UpstreamResponse]:
        """See `Upstream.send`."""
        headers = {**forward.headers, "accept-encoding": "identity", **self._password}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            request = httpx.Request(
                forward.method,
                self._url(forward.path),
                content=forward.body,
                headers={"accept": "*/*", "user-agent": f"omoide/{__version__}", **headers},
                extensions={"timeout": self._timeout},
            )
            async with asyncio.timeout(self._wait):
                response = await self._transport.handle_async_request(request)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._timed_out() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise HttpProblem(
                502, "upstream-unreachable", f"the upstream could not be reached: {_kind(error)}"
            ) from error
        try:
            if response.status_code not in _STATUSES:
                raise HttpProblem(
                    502,
                    "upstream-invalid",
                    f"the upstream answered with status {response.status_code}, which is none",
                )
            async with aclosing(self._blocks(response)) as blocks:
                yield UpstreamResponse(
                    status=response.status_code, headers=returned(response.headers), blocks=blocks
                )
        finally:
            await response.aclose()

    async def _blocks(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        try:
            streamed = "event-stream" in response.headers.get("content-type", "")
            reading = buffered if streamed else unbuffered
            async with aclosing(reading(decoded(response), patience=self._wait)) as incoming:
                async for block in incoming:
                    yield block
        except TimeoutError as error:
            raise self._timed_out() from error
        except httpx.HTTPError as error:
            raise HttpProblem(
                502, "upstream-broke-off", f"the connection to the upstream broke: {_kind(error)}"
            ) from error

    async def close(self) -> None:
        """See `Upstream.close`."""
        await self._transport.aclose()

    def _url(self, path: str) -> httpx.URL:
        """The URL of a path, which is parsed once, unless it has a query of its own."""
        if (known := self._urls.get(path)) is not None:
            return known
        url = httpx.URL(self._base + path)
        if "?" not in path:
            self._urls[path] = url
        return url

    def _timed_out(self) -> HttpProblem:
        return HttpProblem(
            504, "upstream-timeout", f"the upstream sent nothing for {self._wait:g} s"
        )


def _kind(error: Exception) -> str:
    """The error's class name. Its message may contain the URL with a password."""
    return type(error).__name__
