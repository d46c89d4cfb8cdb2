"""An httpx transport that speaks Chat Completions on one side and another protocol on the other."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import httpx

from omoide.errors import Unconvertible
from omoide.version import __version__
from omoide.wire.address import basic_auth
from omoide.wire.chunks import as_bytes, event
from omoide.wire.decoding import decoded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    Convert = Callable[[dict[str, Any]], dict[str, Any]]

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Most bytes of an answer that is read as a whole."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Most bytes of one event of a stream."""
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "request-id", "x-request-id")


@dataclass(frozen=True, kw_only=True)
class VendorRequest:
    """A request in the vendor's protocol."""

    path: str
    """Relative to the base URL."""
    body: dict[str, Any] | None = None
    """A GET if None."""


class AnswerReader(Protocol):
    """Reads one streamed answer."""

    def read(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """The chunks of Chat Completions that an event of the vendor's brings. A chunk with
        `error` ends the stream."""

    @property
    def ended(self) -> bool:
        """Whether the answer is complete."""


class VendorProtocol(Protocol):
    """A vendor's protocol, seen from Chat Completions. Methods that take a request raise
    `Unconvertible`, naming the field, for what has no counterpart."""

    name: str

    def headers(self, api_key: str) -> dict[str, str]:
        """Headers of every request."""

    def chat(self, body: dict[str, Any]) -> VendorRequest:
        """A chat."""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """A whole answer as a chat completion; an object with `error` if it failed."""

    def reader(self, body: dict[str, Any]) -> AnswerReader:
        """Reads the stream that a chat is answered with."""

    def models(self) -> VendorRequest:
        """The list of models."""

    def models_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """That list, as OpenAI's."""

    def embeddings(self, body: dict[str, Any]) -> VendorRequest:
        """A request for embeddings."""

    def embeddings_answer(self, body: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        """Embeddings, as OpenAI's."""

    def problem(self, body: dict[str, Any]) -> tuple[str, str]:
        """Message and type of an error response; each empty if there is none."""


class ProtocolTransport(httpx.AsyncBaseTransport):
    """Sends requests of Chat Completions, `/models` and `/embeddings` in another protocol.

    Of the request's headers none is passed on: they are another vendor's, its secrets among them.
    What cannot be converted is answered with status 400 and OpenAI's error object.
    """

    def __init__(
        self,
        protocol: VendorProtocol,
        *,
        base_url: str,
        api_key: str,
        inner: httpx.AsyncBaseTransport,
    ) -> None:
        self._protocol = protocol
        self._base = base_url.rstrip("/").removesuffix("/v1").removesuffix("/api")
        self._key = api_key.strip()
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of Chat Completions."""
        path, protocol = request.url.path, self._protocol
        try:
            if path.endswith("/models"):
                return await self._whole(request, protocol.models(), protocol.models_answer)
            asked = json.loads(await request.aread())
            if path.endswith("/embeddings"):
                return await self._whole(
                    request,
                    protocol.embeddings(asked),
                    lambda body: protocol.embeddings_answer(body, asked),
                )
            if path.endswith("/chat/completions"):
                wanted = protocol.chat(asked)
                if not asked.get("stream"):
                    return await self._whole(request, wanted, protocol.answer)
                return await self._stream(request, wanted, protocol.reader(asked))
        except Unconvertible as error:
            return _refusal(400, str(error), code=error.slug, param=error.param)
        return _refusal(404, f"{path[-60:]} has no counterpart in {protocol.name}'s protocol")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _whole(
        self, request: httpx.Request, wanted: VendorRequest, convert: Convert
    ) -> httpx.Response:
        response = await self._send(request, wanted)
        body = await _read(response)
        if not response.is_success:
            return self._error(response, body)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise httpx.RemoteProtocolError("the answer is not JSON") from error
        if not isinstance(answer, dict):
            raise httpx.RemoteProtocolError("the answer is not a JSON object")
        if self._protocol.problem(answer)[0]:  # with status 200, as gateways send it
            return self._error(response, body)
        converted = convert(answer)
        status = 502 if converted.get("error") else 200
        return _response(status, converted, headers=_kept(response))

    async def _stream(
        self, request: httpx.Request, wanted: VendorRequest, reader: AnswerReader
    ) -> httpx.Response:
        response = await self._send(request, wanted)
        if not response.is_success:
            return self._error(response, await _read(response))
        headers = {**_kept(response), "content-type": "text/event-stream; charset=utf-8"}
        stream = ConvertedStream(response=response, reader=reader)
        return httpx.Response(200, headers=headers, stream=stream)

    async def _send(self, request: httpx.Request, wanted: VendorRequest) -> httpx.Response:
        headers = {
            "accept": "*/*",
            "accept-encoding": "identity",
            "user-agent": f"omoide/{__version__}",
            **basic_auth(self._base),
            **self._protocol.headers(self._key),
        }
        body = None if wanted.body is None else as_bytes(wanted.body)
        if body is not None:
            headers["content-type"] = "application/json"
        return await self._inner.handle_async_request(
            httpx.Request(
                "GET" if body is None else "POST",
                self._base + wanted.path,
                content=body,
                headers=headers,
                extensions=request.extensions,
            )
        )

    def _error(self, response: httpx.Response, raw: bytes) -> httpx.Response:
        """The vendor's error in OpenAI's format, with its status; 502 instead of a success."""
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            body = {}
        message, kind = self._protocol.problem(body if isinstance(body, dict) else {})
        message = message or f"the upstream answered with status {response.status_code}"
        status = 502 if response.is_success else response.status_code
        return _refusal(status, message, code=kind, headers=_kept(response))


@dataclass(kw_only=True)
class ConvertedStream(httpx.AsyncByteStream):
    """A streamed answer as server-sent events of Chat Completions."""

    response: httpx.Response
    reader: AnswerReader
    _closed: bool = field(default=False, init=False)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The events. One that is too long, or that is no JSON object, breaks the stream off."""
        async with aclosing(items(decoded(self.response))) as found:
            async for item in found:
                for chunk in self.reader.read(item):
                    yield event(chunk)
                    if "error" in chunk:
                        return
                if self.reader.ended:
                    yield b"data: [DONE]\n\n"
                    return

    async def aclose(self) -> None:
        """Close the connection."""
        if not self._closed:
            self._closed = True
            await self.response.aclose()


async def items(blocks: AsyncGenerator[bytes]) -> AsyncGenerator[dict[str, Any]]:
    """The JSON objects of a stream, of server-sent events or one on each line. Raises
    `httpx.RemoteProtocolError` for a line that is too long or holds something else."""
    parts: list[bytes] = []
    size = 0
    async with aclosing(blocks):
        async for block in blocks:
            *ended, rest = block.split(b"\n")
            for line in ended:
                found = _item(b"".join([*parts, line]))
                parts, size = [], 0
                if found is not None:
                    yield found
            parts.append(rest)
            size += len(rest)
            if size > MAX_EVENT_BYTES:
                raise httpx.RemoteProtocolError("an event of the stream is too long")
        if (found := _item(b"".join(parts))) is not None:
            yield found


def _item(line: bytes) -> dict[str, Any] | None:
    line = line.strip()
    if line.startswith(b"data:"):
        line = line[5:].strip()
    elif not line.startswith(b"{"):
        return None  # the name of an event, a comment, an empty line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise httpx.RemoteProtocolError("an event of the stream is not JSON") from error
    if not isinstance(value, dict):
        raise httpx.RemoteProtocolError("an event of the stream is not an object")
    return value


async def _read(response: httpx.Response) -> bytes:
    """The whole body. Raises `httpx.RemoteProtocolError` if it is too long."""
    body = bytearray()
    try:
        async with aclosing(decoded(response)) as blocks:
            async for block in blocks:
                body += block
                if len(body) > MAX_ANSWER_BYTES:
                    raise httpx.RemoteProtocolError("the answer is too long")
    finally:
        await response.aclose()
    return bytes(body)


def _refusal(
    status: int,
    message: str,
    *,
    code: str = "",
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": message, "type": kind, "param": param, "code": code or None}
    return _response(status, {"error": error}, headers=headers or {})


def _response(status: int, body: dict[str, Any], *, headers: Mapping[str, str]) -> httpx.Response:
    return httpx.Response(
        status,
        headers={**headers, "content-type": "application/json"},
        stream=httpx.ByteStream(as_bytes(body)),
    )


def _kept(response: httpx.Response) -> dict[str, str]:
    return {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
