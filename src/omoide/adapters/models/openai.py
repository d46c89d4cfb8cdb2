"""Chat over any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp's server.

Endpoints differ in what they take. What is only wished for (a schema, a seed, a usage report) is
dropped when an endpoint turns it down, and left out from then on.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import httpx

from omoide.adapters.models.endpoint import Endpoint, Rejected, Retries, Timeouts, Transient
from omoide.adapters.models.sse import events
from omoide.errors import ModelRefused, ModelUnavailable
from omoide.language import estimate_tokens
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from omoide.ports import Request

_PATH = "/chat/completions"
_WISHES = (
    "stream_options",
    "response_format",
    "grammar",
    "frequency_penalty",
    "seed",
    "temperature",
)
_LIMITS = ("max_tokens", "max_completion_tokens")
_FRAME = 5
"""Tokens that a chat template spends on one message: its role and the marks around it."""


@dataclass(kw_only=True)
class _Answer:
    """What has come of an answer so far."""

    pieces: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, object] = field(default_factory=dict)


class OpenAIChat:
    """A chat model behind HTTP.

    `grammar=True` says that the endpoint is llama.cpp's and takes GBNF grammars. `whole=True` asks
    for answers in one piece, which costs a tenth of the work where nobody reads along. The window
    is not told by such endpoints: give the true one. An adapter serves one event loop.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        window: int = 8192,
        grammar: bool = False,
        whole: bool = False,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = Endpoint(
            base_url,
            api_key=api_key,
            timeouts=timeouts,
            retries=retries,
            transport=transport,
            sleep=sleep,
        )
        self._model = model
        self._window = window
        self._grammar = grammar
        self._whole = whole
        self._clock = clock
        self._dropped: frozenset[str] = frozenset()
        self._limit = _LIMITS[0]

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @property
    def window(self) -> int:
        """How many tokens prompt and answer may have together, as configured."""
        return self._window

    async def count(self, text: str) -> int:
        """An estimate: the endpoint's tokenizer is out of reach."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer's pieces, then its `Completion`; see `ports.ChatModel`."""
        started, attempt = self._clock(), 0
        dropped, limit = self._dropped, self._limit
        while True:
            answer = _Answer()
            body = self._body(request, dropped=dropped, limit=limit)
            try:
                async with aclosing(self._attempt(body, request, answer)) as pieces:
                    async for piece in pieces:
                        yield piece
                break
            except Rejected as error:
                dropped, limit = _relent(error, body, dropped=dropped, limit=limit)
            except (Transient, httpx.RequestError) as error:
                failure = self._endpoint.transient(_PATH, error)
                if answer.pieces:  # half an answer was given out already: no second one
                    raise ModelUnavailable(f"{failure} (in the middle of an answer)") from error
                attempt += 1
                await self._endpoint.wait(failure, attempt=attempt)
        self._dropped, self._limit = self._dropped | dropped, limit
        yield _completion(answer, request, seconds=self._clock() - started)

    def _body(self, request: Request, *, dropped: frozenset[str], limit: str) -> dict[str, object]:
        """The request as JSON, without what this endpoint does not take."""
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "stream": not self._whole,
            "temperature": request.temperature,
            limit: request.max_tokens,
        }
        if not self._whole:
            body["stream_options"] = {"include_usage": True}
        if request.stop:
            body["stop"] = list(request.stop)
        if request.seed is not None:
            body["seed"] = request.seed
        if request.frequency_penalty:
            body["frequency_penalty"] = request.frequency_penalty
        if request.grammar is not None and self._grammar and "grammar" not in dropped:
            body["grammar"] = request.grammar
        elif request.schema is not None:
            wanted = {"name": "answer", "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return {key: value for key, value in body.items() if key not in dropped}

    async def _attempt(
        self, body: dict[str, object], request: Request, answer: _Answer
    ) -> AsyncGenerator[str]:
        """One try: pieces as they come, gathered in `answer` too."""
        texts = [message.content for message in request.messages]
        endpoint, times = self._endpoint, self._endpoint.timeouts
        loop = asyncio.get_running_loop()
        deadline = loop.time() + times.first
        async with AsyncExitStack() as stack:
            async with endpoint.stalling(_PATH, "answer", times.first):
                response = await stack.enter_async_context(endpoint.send(_PATH, body, texts=texts))
            if "event-stream" not in response.headers.get("Content-Type", ""):
                async with endpoint.stalling(_PATH, "answer", deadline - loop.time()):
                    page = await response.aread()
                chunk = _page(endpoint.url(_PATH), page)
                if chunk.get("error"):
                    raise endpoint.in_stream(_PATH, chunk["error"], texts=texts)
                yield _whole(endpoint.url(_PATH), chunk, answer)
                return
            data = await stack.enter_async_context(aclosing(events(response.aiter_bytes())))
            while True:
                async with endpoint.stalling(_PATH, "next token", deadline - loop.time()):
                    event = await anext(data, None)
                if event is None or event.strip() == "[DONE]":
                    break
                chunk = _parsed(endpoint.url(_PATH), event)
                if chunk.get("error"):  # some send it with every chunk, and null
                    raise endpoint.in_stream(_PATH, chunk["error"], texts=texts)
                deadline = loop.time() + times.between
                if piece := _piece(chunk, answer):
                    yield piece
            if answer.finish is None:
                raise Transient(f"{endpoint.url(_PATH)} ended its stream before the answer did")


def _relent(
    error: Rejected, body: dict[str, object], *, dropped: frozenset[str], limit: str
) -> tuple[frozenset[str], str]:
    """What to leave out on the next try, or the error where nothing would help."""
    if error.status not in (400, 422, 501):
        raise error
    other = _LIMITS[1 - _LIMITS.index(limit)]
    if other == _LIMITS[1] and other in error.reason:  # "use max_completion_tokens instead"
        return dropped, other
    wishes = frozenset(wish for wish in _WISHES if wish in body)
    named = frozenset(wish for wish in wishes if wish in error.reason)
    if "json_schema" in error.reason or "schema" in error.reason.lower():
        named |= wishes & {"response_format"}
    gone = named or (wishes if error.status != 400 else frozenset())
    if not gone:
        raise error
    return dropped | gone, limit


def _parsed(url: str, event: str) -> dict[str, object]:
    try:
        chunk = json.loads(event)
    except (ValueError, RecursionError) as error:
        raise ModelUnavailable(
            f"{url} sent an event that is not JSON ({len(event)} characters); "
            "is it an OpenAI-compatible endpoint?"
        ) from error
    if not isinstance(chunk, dict):
        raise ModelUnavailable(
            f"{url} sent a {type(chunk).__name__}, wanted an object with choices"
        )
    return chunk


def _piece(chunk: dict[str, object], answer: _Answer) -> str:
    """The text in a chunk; what else it says goes into `answer`."""
    if isinstance(usage := chunk.get("usage"), dict):
        answer.usage = usage
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(choice, dict):
        return ""
    if isinstance(finish := choice.get("finish_reason"), str):
        answer.finish = finish
    said = choice.get("delta") or choice.get("message")
    text = said.get("content") if isinstance(said, dict) else None
    if not isinstance(text, str) or not text:
        return ""
    # Half a character that an endpoint has cut in two can neither be shown nor recorded.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    answer.pieces.append(text)
    return text


def _page(url: str, page: bytes) -> dict[str, object]:
    """What an endpoint that does not stream has sent, or complaint about a page that is none."""
    start = page[:64].lstrip().lower()
    if start.startswith(b"<"):
        raise ModelUnavailable(
            f"{url} answered with a web page; check the base URL (it mostly ends in /v1)"
        )
    return _parsed(url, page.decode("utf-8", "replace"))


def _whole(url: str, chunk: dict[str, object], answer: _Answer) -> str:
    """The answer in it."""
    piece = _piece(chunk, answer)
    if not isinstance(chunk.get("choices"), list):
        raise ModelUnavailable(f"{url} answered without choices; wanted a chat completion")
    answer.finish = answer.finish or "stop"
    return piece


def _completion(answer: _Answer, request: Request, *, seconds: float) -> Completion:
    """The account of an answer, estimated where the endpoint gives none."""
    if answer.finish == "content_filter":
        raise ModelRefused("the endpoint's content filter stopped the answer; reword the request")
    text = "".join(answer.pieces)
    prompt = sum(estimate_tokens(m.content) + _FRAME for m in request.messages)
    details = answer.usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    finish: Literal["stop", "length"] = "length" if answer.finish == "length" else "stop"
    return Completion(
        text=text,
        prompt_tokens=_number(answer.usage.get("prompt_tokens"), prompt),
        completion_tokens=_number(answer.usage.get("completion_tokens"), estimate_tokens(text)),
        seconds=seconds,
        finish=finish,
        cached_tokens=_number(cached, 0),
    )


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise
