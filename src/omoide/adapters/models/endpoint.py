"""An OpenAI-compatible HTTP endpoint: requests, bounded retries, and its errors as ours.

The chat adapter and the embeddings adapter both stand on this file.
"""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING

import httpx

from omoide.adapters.models.excerpt import excerpt
from omoide.errors import ContextTooLong, ModelError, ModelRefused, ModelStalled, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_LONGEST_ERROR = 64 * 1024
_CONTEXT_WORDS = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
)


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How many seconds to wait for what."""

    connect: float = 10.0
    first: float = 300.0
    """From the request to the first token: a long prompt on a slow machine takes minutes."""
    between: float = 60.0
    """From one token to the next."""


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often a request is tried again, and how long it waits before that."""

    limit: int = 3
    base: float = 0.5
    cap: float = 30.0
    """The longest wait, whatever the endpoint asks for."""

    def delay(self, attempt: int, *, asked: float | None, chance: float) -> float:
        """Seconds before try `attempt` (from 1): what was asked, or doubling with jitter."""
        if asked is not None:
            return min(max(asked, 0.0), self.cap)
        return min(self.base * 2.0 ** (attempt - 1), self.cap) * (0.5 + chance / 2)


class Transient(ModelUnavailable):
    """A failure that the adapter itself may try again."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Rejected(ModelRefused):
    """A request that was turned down, with the page that says why."""

    def __init__(self, message: str, *, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Endpoint:
    """One base URL and one key. `transport`, `sleep` and `chance` exist for tests."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.timeouts = timeouts or Timeouts()
        self._retries = retries or Retries()
        self._key = (api_key or "").strip()  # a line break behind it is a slip of the paste
        self._base = base_url.rstrip("/")
        self._sleep, self._chance = sleep, chance
        limit = httpx.Timeout(None, connect=self.timeouts.connect)  # the rest is ours to time
        pool = httpx.Limits(max_connections=None, max_keepalive_connections=64)  # callers bound it
        self._client = httpx.AsyncClient(timeout=limit, limits=pool, transport=transport)

    def url(self, path: str) -> str:
        """The address as errors show it: without a user name, a password or a query."""
        url = httpx.URL(self._base + path)
        return str(url.copy_with(username=None, password=None, query=None, fragment=None))

    async def post(self, path: str, body: Mapping[str, object], *, texts: Sequence[str]) -> bytes:
        """The whole answer to `body`, with retries; within `timeouts.first` each time."""
        attempt = 0
        while True:
            try:
                async with (
                    self.stalling(path, "answer", self.timeouts.first),
                    self.send(path, body, texts=texts) as response,
                ):
                    return await response.aread()
            except (Transient, httpx.RequestError) as failure:
                attempt += 1
                await self.wait(self.transient(path, failure), attempt=attempt)

    @asynccontextmanager
    async def send(
        self, path: str, body: Mapping[str, object], *, texts: Sequence[str]
    ) -> AsyncIterator[httpx.Response]:
        """One try: the response, its body still to be read; anything but 2xx raises.

        `texts` are the passages of the prompt, which no error may repeat.
        """
        if not (self._key.isascii() and self._key.isprintable()):  # else a library would quote it
            raise ModelRefused(
                f"the API key for {self.url(path)} holds characters that no header can carry; "
                "copy it again"
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            request = self._client.build_request(
                "POST", self._base + path, json=dict(body), headers=headers
            )
            # A key goes before a user name in the URL, which httpx would put into its place.
            auth = httpx.Auth() if self._key else httpx.USE_CLIENT_DEFAULT
            response = await self._client.send(request, stream=True, auth=auth)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise ModelRefused(
                f"{self._base!r} is not the address of an endpoint; "
                "give one like http://localhost:11434/v1"
            ) from error
        except httpx.TransportError as error:
            raise self.transient(path, error) from error
        try:
            if not response.is_success:
                page = await _beginning(response)
                raise self._failure(path, response, page, texts=texts)
            yield response
        finally:
            await response.aclose()

    async def wait(self, failure: Transient, *, attempt: int) -> None:
        """Sleep before try `attempt`, or raise when there were enough."""
        if attempt > self._retries.limit:
            raise ModelUnavailable(f"{failure} (tried {attempt} times)") from failure
        await self._sleep(self._retries.delay(attempt, asked=failure.after, chance=self._chance()))

    @asynccontextmanager
    async def stalling(self, path: str, awaited: str, seconds: float) -> AsyncIterator[None]:
        """Raise `ModelStalled` if the body takes longer than `seconds`."""
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                yield
        except TimeoutError as error:
            raise ModelStalled(
                f"wanted the {awaited} of {self.url(path)} within {seconds:g} s, none came; "
                "try again, or allow more time for a slow machine"
            ) from error

    def transient(self, path: str, failure: Exception) -> Transient:
        """A broken connection in our words."""
        if isinstance(failure, Transient):
            return failure
        said = str(failure) or type(failure).__name__
        if isinstance(failure, httpx.DecodingError):
            return Transient(f"{self.url(path)} sent what cannot be unpacked ({said})")
        return Transient(f"{self.url(path)} could not be reached ({said}); is it running?")

    def in_stream(self, path: str, event: object, *, texts: Sequence[str]) -> ModelError:
        """An error that the endpoint reported after it had answered 200."""
        page = json.dumps(event, ensure_ascii=False)
        said = excerpt(page, secrets=self._secrets, texts=texts)
        if _too_long(page):
            return _context(f"{self.url(path)}: {said}")
        return Transient(f"{self.url(path)} broke off: {said}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()

    def _failure(
        self, path: str, response: httpx.Response, page: str, *, texts: Sequence[str]
    ) -> ModelError:
        """What a status and its page mean."""
        said = excerpt(page, secrets=self._secrets, texts=texts)
        status = response.status_code
        message = f"{self.url(path)} answered {status}: {said or 'nothing more'}"
        if status in (400, 413, 422, 500) and _too_long(said):
            return _context(message)
        if status in _TRANSIENT:
            return Transient(message, after=_asked(response.headers.get("Retry-After")))
        return Rejected(f"{message}; {_advice(status)}", status=status, reason=said)


async def _beginning(response: httpx.Response) -> str:
    """The first bytes of an error page; an endless one is cut off."""
    page = b""
    try:
        async with asyncio.timeout(10):
            async for block in response.aiter_bytes():
                page += block
                if len(page) >= _LONGEST_ERROR:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass  # the status alone has to do
    return page[:_LONGEST_ERROR].decode("utf-8", "replace")


def _too_long(page: str) -> bool:
    lowered = page.lower()
    return any(word in lowered for word in _CONTEXT_WORDS)


def _context(message: str) -> ContextTooLong:
    return ContextTooLong(f"{message}; shorten the prompt or set the model's true window")


def _advice(status: int) -> str:
    if status in (401, 403):
        return "check the API key and what it may use"
    if status == 404:
        return "check the model's name, and that the base URL ends as the endpoint wants (/v1)"
    if 300 <= status < 400:
        return "it redirects elsewhere: give the final address as base URL"
    return "the endpoint does not take this request"


def _asked(header: str | None) -> float | None:
    """Seconds that `Retry-After` asks for; it may hold a date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        pass
    else:
        return seconds if isfinite(seconds) else None
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
