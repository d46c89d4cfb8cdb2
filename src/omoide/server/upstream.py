"""Where chats are forwarded to: an OpenAI-compatible endpoint, byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from omoide.server.joining import joined
from omoide.server.problems import Problem
from omoide.version import __version__

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
    "accept-encoding",  # what goes by is listened to, so it has to come plain
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
_NOT_RETURNED = _HOP_BY_HOP | {"content-encoding", "content-length", "date", "server", "set-cookie"}


@dataclass(frozen=True, kw_only=True)
class Forward:
    """A request to the upstream."""

    method: str
    path: str
    """Below its base URL: `/chat/completions`."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Answer:
    """The upstream's answer, on its way."""

    status: int
    headers: dict[str, str]
    blocks: AsyncIterator[bytes]
    """The body. Raises `Problem` where it breaks off."""

    @property
    def stream(self) -> bool:
        """Whether it comes as events."""
        return "event-stream" in self.headers.get("content-type", "")


class Upstream(Protocol):
    """Answers chats."""

    @property
    def model(self) -> str:
        """The model's name there, if one was chosen; else the client has to name one."""

    def send(self, forward: Forward) -> contextlib.AbstractAsyncContextManager[Answer]:
        """Send a request; leaving the context breaks the answer off. Raises `Problem`: 502 if the
        upstream cannot be reached, 504 if it does not answer in time."""

    async def close(self) -> None:
        """Let go of connections."""


def forwarded(headers: Headers, *, keep_authorization: bool) -> dict[str, str]:
    """The client's headers as far as they concern the upstream."""
    return {
        name: value
        for name, value in headers.items()
        if (name not in _NOT_FORWARDED or (name == "authorization" and keep_authorization))
        and not name.startswith(("x-omoide-", "x-forwarded-", "sec-", "access-control-"))
    }


class HttpUpstream:
    """An endpoint behind HTTP. `wait` is how many seconds it may be silent."""

    def __init__(
        self,
        base_url: str,
        *,
        model: str = "",
        api_key: str = "",
        wait: float = 120.0,
        connect: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._model = model
        self._key = api_key.strip()
        self._wait = wait
        # Of a client only the sending is wanted: no redirects, and no jar in which the cookies of
        # one caller's answer lie for the next caller's request.
        self._transport = transport or httpx.AsyncHTTPTransport(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            proxy=proxy_to(self._base),
        )
        # The rest is ours to time.
        self._timeout = httpx.Timeout(None, connect=connect).as_dict()

    @property
    def model(self) -> str:
        """See `Upstream.model`."""
        return self._model

    @asynccontextmanager
    async def send(self, forward: Forward) -> AsyncIterator[Answer]:
        """See `Upstream.send`."""
        headers = {**forward.headers, "accept-encoding": "identity"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            request = httpx.Request(
                forward.method,
                self._base + forward.path,
                content=forward.body,
                headers={"accept": "*/*", "user-agent": f"omoide/{__version__}", **headers},
                extensions={"timeout": self._timeout},
            )
            async with asyncio.timeout(self._wait):
                response = await self._transport.handle_async_request(request)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._late() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Problem(
                502, "upstream-unreachable", f"the upstream could not be reached: {_said(error)}"
            ) from error
        told = {k: v for k, v in response.headers.items() if k not in _NOT_RETURNED}
        try:
            async with aclosing(self._blocks(response)) as blocks:
                yield Answer(status=response.status_code, headers=told, blocks=blocks)
        finally:
            await response.aclose()

    async def _blocks(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        plain = "content-encoding" not in response.headers  # as was asked for, so mostly
        blocks = response.aiter_raw() if plain else response.aiter_bytes()
        try:
            async with aclosing(joined(blocks, patience=self._wait)) as whatever_came:
                async for block in whatever_came:
                    yield block
        except TimeoutError as error:
            raise self._late() from error
        except httpx.HTTPError as error:
            raise Problem(
                502, "upstream-broke-off", f"the upstream broke off: {_said(error)}"
            ) from error

    async def close(self) -> None:
        """See `Upstream.close`."""
        await self._transport.aclose()

    def _late(self) -> Problem:
        return Problem(504, "upstream-timeout", f"the upstream was silent for {self._wait:g} s")


def proxy_to(url: str) -> str | None:
    """The proxy that this machine's settings name for an address, if any."""
    address = urlsplit(url)
    if not address.hostname or proxy_bypass(address.hostname):
        return None
    named = getproxies()
    return named.get(address.scheme) or named.get("all")


def _said(error: Exception) -> str:
    """The kind of failure. Its message may hold the address, with a password in it."""
    return type(error).__name__
