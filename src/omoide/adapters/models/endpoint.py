"""An endpoint over HTTP: requests, limited retries, and translated errors.

The chat and the embeddings adapter both use it.
"""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING

import httpx

from omoide.adapters.models.excerpt import excerpt, message_in
from omoide.errors import ContextTooLong, ModelError, ModelRefused, ModelStalled, ModelUnavailable
from omoide.wire.address import EndpointAddress, without_credentials
from omoide.wire.certificates import certificates
from omoide.wire.connecting import transport_to

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

_TRANSIENT = frozenset({408, 425, 429, *range(500, 600)} - {501})
"""Statuses of what may pass, such as Anthropic's 529 and Cloudflare's 520 to 527. 501 is of what
the endpoint will never do."""
_LONGEST_ERROR = 64 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
"""Most bytes of a response that is read as a whole."""
_CONTEXT_WORDS = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
    "input token count",
)


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Timeouts in seconds."""

    connect: float = 10.0
    first: float = 300.0
    """From the request to the first token: a long prompt on a slow machine takes minutes."""
    between: float = 60.0
    """From one token to the next."""
    whole: float = 1800.0
    """For the whole answer, however steadily it comes."""


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often a request is retried, and how long it waits before a retry."""

    limit: int = 3
    base: float = 0.5
    cap: float = 30.0
    """Maximum wait, whatever the endpoint asks for."""

    def delay(self, attempt: int, *, asked: float | None, chance: float) -> float:
        """Seconds before retry `attempt` (from 1): as asked, else exponential with jitter."""
        if asked is not None:
            return min(max(asked, 0.0), self.cap)
        return min(self.base * 2.0 ** (attempt - 1), self.cap) * (0.5 + chance / 2)


class TransientError(ModelUnavailable):
    """A failure that the adapter itself may retry."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class RequestRejected(ModelRefused):
    """A request that the endpoint rejected, with the reason as it was given, which is not shown."""

    def __init__(self, message: str, *, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class HttpEndpoint:
    """One base URL, with its protocol before it unless it is OpenAI's, and one API key.
    `transport`, `sleep` and `chance` exist for tests."""

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
        self._key = (api_key or "").strip()  # pasted keys often end in a newline
        address = EndpointAddress.parse(base_url)
        self._base = address.base_url
        if address.converted:
            transport = transport_to(address, api_key=self._key, inner=transport)
        self._sleep, self._chance = sleep, chance
        limit = httpx.Timeout(None, connect=self.timeouts.connect)  # other timeouts: `stalling`
        pool = httpx.Limits(max_connections=None, max_keepalive_connections=64)  # callers limit it
        self._client = httpx.AsyncClient(
            timeout=limit, limits=pool, transport=transport, verify=certificates()
        )

    def url(self, path: str) -> str:
        """The URL as shown in errors: without user name, password and query."""
        url = httpx.URL(self._base + path)
        return str(url.copy_with(username=None, password=None, query=None, fragment=None))

    async def post(self, path: str, body: Mapping[str, object], *, texts: Sequence[str]) -> bytes:
        """The complete response to `body`, with retries; each takes at most `timeouts.first`."""
        attempt = 0
        while True:
            try:
                async with (
                    self.stalling(path, "answer", self.timeouts.first),
                    self.send(path, body, texts=texts) as response,
                ):
                    return await self.body(path, response)
            except (TransientError, httpx.RequestError) as failure:
                attempt += 1
                await self.wait(self.transient(path, failure), attempt=attempt)

    async def body(self, path: str, response: httpx.Response) -> bytes:
        """The whole body. Raises `ModelUnavailable` if it is too long to be held."""
        page = bytearray()
        async for block in response.aiter_bytes():
            page += block
            if len(page) > MAX_BODY_BYTES:
                raise ModelUnavailable(
                    f"{self.url(path)} sent more than {MAX_BODY_BYTES // 2**20} MiB in one answer; "
                    "is it an OpenAI-compatible endpoint?"
                )
        return bytes(page)

    @asynccontextmanager
    async def send(
        self, path: str, body: Mapping[str, object], *, texts: Sequence[str]
    ) -> AsyncIterator[httpx.Response]:
        """One attempt: the response, its body still to be read. Anything but 2xx raises.

        `texts` are passages of the prompt, which no error may repeat.
        """
        if not (
            self._key.isascii() and self._key.isprintable()
        ):  # httpx would quote it in its error
            raise ModelRefused(
                f"the API key for {self.url(path)} contains characters that are not allowed in a "
                "header; copy it again"
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            request = self._client.build_request(
                "POST", self._base + path, json=dict(body), headers=headers
            )
            # The key takes precedence over a user name in the URL, which httpx would send instead.
            auth = httpx.Auth() if self._key else httpx.USE_CLIENT_DEFAULT
            response = await self._client.send(request, stream=True, auth=auth)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise ModelRefused(
                f"{without_credentials(self._base)!r} is not a valid endpoint URL; give one like "
                "http://localhost:11434/v1"
            ) from error
        except httpx.TransportError as error:
            raise self.transient(path, error) from error
        try:
            if not response.is_success:
                page = await _read_start(response)
                raise self._failure(path, response, page, texts=texts)
            yield response
        finally:
            await response.aclose()

    async def wait(self, failure: TransientError, *, attempt: int) -> None:
        """Sleep before retry `attempt`, or raise if the limit is reached."""
        if attempt > self._retries.limit:
            raise ModelUnavailable(f"{failure} (tried {attempt} times)") from failure
        await self._sleep(self._retries.delay(attempt, asked=failure.after, chance=self._chance()))

    def stalling(
        self, path: str, awaited: str, seconds: float
    ) -> AbstractAsyncContextManager[None]:
        """Raise `ModelStalled` if what is awaited takes longer than `seconds`."""
        return _within(
            seconds,
            f"timed out after {max(seconds, 0.0):g} s waiting for the {awaited} of "
            f"{self.url(path)}; try again, or allow more time with OMOIDE_TIMEOUT (seconds)",
        )

    def finishing(self, path: str, seconds: float) -> AbstractAsyncContextManager[None]:
        """Raise `ModelStalled` if the rest of an answer takes longer than `seconds`."""
        return _within(
            seconds, f"{self.url(path)} did not finish its answer in {self.timeouts.whole:g} s"
        )

    def transient(self, path: str, failure: Exception) -> TransientError:
        """A failed connection as a `TransientError`."""
        if isinstance(failure, TransientError):
            return failure
        reason = str(failure) or type(failure).__name__
        if isinstance(failure, httpx.DecodingError):
            return TransientError(
                f"{self.url(path)} sent a body that cannot be decompressed ({reason})"
            )
        return TransientError(f"{self.url(path)} could not be reached ({reason}); is it running?")

    def in_stream(self, path: str, event: object, *, texts: Sequence[str]) -> ModelError:
        """An error that the endpoint reported after status 200."""
        page = json.dumps(event, ensure_ascii=False)
        reason = excerpt(page, secrets=self._secrets, texts=texts)
        if _too_long(page):
            return _context_too_long(f"{self.url(path)}: {reason}")
        return TransientError(f"{self.url(path)} failed during its answer: {reason}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()

    def _failure(
        self, path: str, response: httpx.Response, page: str, *, texts: Sequence[str]
    ) -> ModelError:
        """The error for a status and its body."""
        reason = excerpt(page, secrets=self._secrets, texts=texts)
        # What the prompt is about may be what is wrong too, and is left out of the reason.
        status, said = response.status_code, message_in(page)
        message = f"{self.url(path)} answered with status {status}: {reason or 'no details'}"
        if status in (400, 413, 422, 500) and _too_long(said):
            return _context_too_long(message)
        if status in _TRANSIENT:
            return TransientError(message, after=_retry_after(response.headers.get("Retry-After")))
        return RequestRejected(f"{message}; {_advice(status)}", status=status, reason=said)


@asynccontextmanager
async def _within(seconds: float, message: str) -> AsyncIterator[None]:
    if seconds <= 0:  # a timeout would wait for the event loop, which is not always entered
        raise ModelStalled(message)
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ModelStalled(message) from error


async def _read_start(response: httpx.Response) -> str:
    """The beginning of an error body; an endless one is cut off."""
    page = b""
    try:
        async with asyncio.timeout(10):
            async for block in response.aiter_bytes():
                page += block
                if len(page) >= _LONGEST_ERROR:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass  # report the status alone
    return page[:_LONGEST_ERROR].decode("utf-8", "replace")


def _too_long(page: str) -> bool:
    lowered = page.lower()
    return any(word in lowered for word in _CONTEXT_WORDS)


def _context_too_long(message: str) -> ContextTooLong:
    return ContextTooLong(f"{message}; shorten the prompt or set the model's true window")


def _advice(status: int) -> str:
    if status in (401, 403):
        return "check the API key and its permissions"
    if status == 404:
        return "check the model's name, and the end of the base URL (usually /v1)"
    if 300 <= status < 400:
        return "it redirects: give the final URL as base URL"
    return "the endpoint rejected this request"


def _retry_after(header: str | None) -> float | None:
    """Seconds that `Retry-After` asks for; its value may be a date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        pass
    else:
        return seconds if isfinite(seconds) else None
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return (date - datetime.now(UTC)).total_seconds()
