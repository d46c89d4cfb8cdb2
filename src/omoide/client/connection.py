"""Requests to a server: retried where that is safe, and answered with the library's errors."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx

from omoide import errors
from omoide.version import __version__
from omoide.wire.certificates import certificates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

RETRIED = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed."""
MAX_PAUSE = 30.0
"""Most seconds between two tries."""
PAGE = 1000
"""Items of one page."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A server and a key of it."""

    http: httpx.AsyncClient
    retries: int = 2
    """How often a request is sent again that could not be delivered or done."""
    pause: float = 0.5
    """Seconds before the first retry; doubled for each further one, or as the server asks."""

    async def get(self, path: str, /, **query: Any) -> Any:  # noqa: ANN401 - JSON
        """The answer to a GET. Parameters that are None are left out."""
        return _content(await self._send("GET", path, query=query))

    async def pages(self, path: str, /, **query: Any) -> list[Any]:  # noqa: ANN401 - parameters
        """All items of a list, page by page."""
        items: list[Any] = []
        cursor = None
        while True:
            page = await self.get(path, **query, limit=PAGE, cursor=cursor)
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        user: str | None = None,
        wait: float | None = None,
    ) -> Any:  # noqa: ANN401 - JSON
        """The answer to a POST. Fields that are None are left out. `wait` is the timeout of this
        request, 0 for none."""
        query = {"user": user}
        return _content(await self._send("POST", path, query=query, body=body, wait=wait))

    async def patch(self, path: str, body: Mapping[str, Any], *, user: str) -> Any:  # noqa: ANN401
        """The answer to a PATCH. Unlike with `post`, None is sent."""
        response = await self._send("PATCH", path, query={"user": user}, body=body, keep_none=True)
        return _content(response)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, user: str, body: Mapping[str, Any] | None = None
    ) -> AsyncIterator[httpx.Response]:
        """A response that is read as it comes. It is not retried."""
        request = self._request(method, path, query={"user": user}, body=body)
        response = await self._deliver(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise error_of(response)
            with _translated():
                yield response
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        await self.http.aclose()

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None = None,
        wait: float | None = None,
        keep_none: bool = False,
    ) -> httpx.Response:
        request = self._request(
            method, path, query=query, body=body, wait=wait, keep_none=keep_none
        )
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            pause = self.pause * 2**attempt
            try:
                response = await self._deliver(request)
            except errors.ServerUnavailable:
                if last:
                    raise
            else:
                if response.is_success:
                    return response
                if last or not _may_succeed(response):
                    raise error_of(response)
                pause = _asked_pause(response) or pause
            await asyncio.sleep(min(pause, MAX_PAUSE))
        raise AssertionError  # the last attempt returns or raises

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None = None,
        wait: float | None = None,
        keep_none: bool = False,
    ) -> httpx.Request:
        given = {name: _text(value) for name, value in query.items() if value is not None}
        options: dict[str, Any] = {"params": given}
        if body is not None:
            sent = {n: v for n, v in body.items() if keep_none or v is not None}
            # A retried write is done once: the server keeps its answer under this key.
            headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
            options |= {"content": json.dumps(sent, default=datetime.isoformat), "headers": headers}
        if wait is not None:
            options["timeout"] = httpx.Timeout(None if wait <= 0 else wait)
        return self.http.build_request(method, path, **options)

    async def _deliver(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        if self.http.is_closed:
            raise errors.StoreError("the memory was closed; open it again")
        with _translated():
            return await self.http.send(request, stream=stream)


def make_connection(
    url: str,
    *,
    key: str = "",
    timeout: float = 60.0,
    retries: int = 2,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Connection:
    """A connection to the server at this address. Nothing is sent yet."""
    if not url.lower().startswith(("http://", "https://")):
        raise errors.BadInput(
            f"{url[:80]!r} is not a server's address: give one like http://127.0.0.1:8377"
        )
    headers = {"User-Agent": f"omoide-python/{__version__}"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    http = httpx.AsyncClient(
        base_url=url.rstrip("/"),
        headers=headers,
        timeout=timeout,
        transport=transport,
        verify=certificates(),
    )
    return Connection(http=http, retries=retries)


class _translated:  # noqa: N801 - reads as a statement
    """Turns errors of the network into ours."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, httpx.TimeoutException):
            raise errors.ServerUnavailable(
                "the server did not answer in time: try again, or connect with a longer timeout"
            ) from error
        if isinstance(error, httpx.HTTPError):
            raise errors.ServerUnavailable(
                f"the server cannot be reached: {type(error).__name__}; is `omoide serve` running "
                "at that address?"
            ) from error


async def lines(response: httpx.Response) -> AsyncIterator[str]:
    """The lines of a response as they come. Only a line feed ends one: httpx would also cut at
    characters that JSON may contain, such as U+2028."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line
    if rest:
        yield rest


def _content(response: httpx.Response) -> Any:  # noqa: ANN401 - JSON
    """The object that the server answered."""
    try:
        content = response.json()
    except ValueError:  # a web page, or bytes
        content = None
    if not isinstance(content, dict):
        raise error_of(response)
    return content


def error_of(response: httpx.Response) -> errors.OmoideError:
    """The error that an error response stands for."""
    try:
        problem = response.json()
        slug, detail = problem["type"].rpartition(":")[2], problem["detail"]
    except (ValueError, KeyError, AttributeError, TypeError):
        return errors.ServerUnavailable(
            f"status {response.status_code} with a body that is not this server's: is it "
            "`omoide serve` at that address?"
        )
    return problem_error(slug, detail, status=response.status_code)


def problem_error(slug: str, detail: str, *, status: int) -> errors.OmoideError:
    """The error of this kind: the class that the server raised, or the nearest to its status."""
    named = _by_slug(errors.OmoideError).get(slug.replace("-", ""))
    if named is not None:
        return named(detail)
    if status in (401, 403):
        return errors.AccessDenied(detail)
    if slug in ("not-found", "method-not-allowed"):
        return errors.NotOverHttp(
            f"the server has no such route; is it of another version than this client? {detail}"
        )
    return (
        errors.BadInput(detail)
        if 400 <= status < 500 and status != 429
        else (errors.ServerUnavailable(detail))
    )


def _by_slug(kind: type[errors.OmoideError]) -> dict[str, type[errors.OmoideError]]:
    found = {kind.__name__.lower(): kind}
    for child in kind.__subclasses__():
        found |= _by_slug(child)
    return found


def _may_succeed(response: httpx.Response) -> bool:
    """Whether the same request may succeed later: the server is busy, or is still doing it."""
    running = response.status_code == 409 and b":under-way" in response.content
    return running or response.status_code in RETRIED


def _asked_pause(response: httpx.Response) -> float:
    asked = response.headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else 0.0


def _text(value: Any) -> Any:  # noqa: ANN401 - a parameter's value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return [_text(item) for item in value]
    return value
