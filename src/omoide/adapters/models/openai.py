"""Chat over any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp's server.

Endpoints differ in the options they accept. An option that is not essential (a schema, a seed, a
usage report) is dropped when an endpoint rejects it, and not sent again. A model that spends its
tokens on thoughts and never comes to its answer is asked once more, with room for them.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import httpx

from omoide.adapters.models.endpoint import (
    HttpEndpoint,
    RequestRejected,
    Retries,
    Timeouts,
    TransientError,
)
from omoide.adapters.models.sse import events
from omoide.adapters.models.thoughts import Thoughts
from omoide.domain.jobs import reported_tokens
from omoide.errors import ContextTooLong, ModelRefused, ModelUnavailable
from omoide.language import estimate_tokens
from omoide.ports import Completion
from omoide.wire.answer_chunks import first_choices, said_in

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from omoide.ports import Request

_PATH = "/chat/completions"
_OPTIONAL = (
    "stream_options",
    "response_format",
    "grammar",
    "frequency_penalty",
    "seed",
    "temperature",
)
_LIMITS = ("max_tokens", "max_completion_tokens")
_CHARS_A_TOKEN = 32
_LEAST_CHARS = 4096
"""An answer may have so many characters for each token that was asked for, and at least so many. An
endpoint that goes on does not heed `max_tokens`."""
_THINKING = 16_000
"""Tokens that a model gets besides those of its answer once it has spent all of them before its
first word: models that think first count their thoughts."""
_FRAME = 5
"""Tokens that a chat template adds to each message: its role and delimiters."""


@dataclass(kw_only=True)
class _Answer:
    """The part of an answer received so far."""

    pieces: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, object] = field(default_factory=dict)
    room: int
    """Characters that it may still have."""
    thoughts: Thoughts = field(default_factory=Thoughts)

    def add(self, text: str) -> str:
        """Add a piece without thoughts, as far as there is room, and return what was added."""
        said = self.thoughts.spoken(text)
        piece = said[: self.room]
        self.room -= len(piece)
        if piece:
            self.pieces.append(piece)
        if len(piece) < len(said):
            self.finish = "length"
        return piece


def _answer_to(request: Request) -> _Answer:
    return _Answer(room=max(_LEAST_CHARS, _CHARS_A_TOKEN * request.max_tokens))


class OpenAIChat:
    """A chat model behind HTTP.

    `grammar=True` means that the endpoint is llama.cpp's and accepts GBNF grammars. `whole=True`
    turns streaming off, which costs a tenth of the work if nobody reads along. Such endpoints do
    not report their context window: give the true one. An instance serves one event loop.
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
        self._endpoint = HttpEndpoint(
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
        self._thinking = 0

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @property
    def window(self) -> int:
        """Maximum tokens of prompt and answer together, as configured."""
        return self._window

    async def count(self, text: str) -> int:
        """An estimate, because the endpoint's tokenizer is not available."""
        return estimate_tokens(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def body(self, request: Request) -> dict[str, object]:
        """See `ports.BatchableModel.body`."""
        sent = self._body(
            request, dropped=self._dropped, limit=self._limit, thinking=self._thinking
        )
        return {key: value for key, value in sent.items() if not key.startswith("stream")}

    def read(self, body: Mapping[str, object], request: Request) -> Completion:
        """See `ports.BatchableModel.read`."""
        answer = _answer_to(request)
        _complete("the batch", dict(body), answer)
        return _completion(answer, request, seconds=0.0)

    def accept_rejection(self, body: Mapping[str, object], *, status: int, reason: str) -> bool:
        """See `ports.BatchableModel.accept_rejection`."""
        error = RequestRejected(reason, status=status, reason=reason)
        try:
            self._dropped, self._limit = _drop_rejected(
                error, dict(body), dropped=self._dropped, limit=self._limit
            )
        except RequestRejected:
            return False
        return True

    def allow_thinking(self) -> None:
        """See `ports.BatchableModel.allow_thinking`."""
        self._thinking = _THINKING

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer's pieces, then its `Completion`; see `ports.ChatModel`."""
        started, attempt = self._clock(), 0
        dropped, limit, thinking = self._dropped, self._limit, self._thinking
        while True:
            answer = _answer_to(request)
            body = self._body(request, dropped=dropped, limit=limit, thinking=thinking)
            try:
                async with aclosing(self._attempt(body, request, answer)) as pieces:
                    async for piece in pieces:
                        yield piece
                if answer.pieces or answer.finish != "length":
                    break
                if thinking:
                    raise ModelRefused(_no_word(self._model, request, thinking))
                thinking = _THINKING
            except ContextTooLong as error:
                if thinking > self._thinking:  # there is no room for thoughts
                    raise ModelRefused(_no_word(self._model, request, 0)) from error
                raise
            except RequestRejected as error:
                dropped, limit = _drop_rejected(error, body, dropped=dropped, limit=limit)
            except (TransientError, httpx.RequestError) as error:
                failure = self._endpoint.transient(_PATH, error)
                if answer.pieces:  # part of an answer was already yielded, so no retry
                    raise ModelUnavailable(f"{failure} (in the middle of an answer)") from error
                attempt += 1
                await self._endpoint.wait(failure, attempt=attempt)
        self._dropped, self._limit, self._thinking = self._dropped | dropped, limit, thinking
        yield _completion(answer, request, seconds=self._clock() - started)

    def _body(
        self, request: Request, *, dropped: frozenset[str], limit: str, thinking: int
    ) -> dict[str, object]:
        """The request as JSON, without the options that this endpoint rejects, and with room for
        so many tokens of thinking."""
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "stream": not self._whole,
            "temperature": request.temperature,
            limit: request.max_tokens + thinking,
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
            json_schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        return {key: value for key, value in body.items() if key not in dropped}

    async def _attempt(
        self, body: dict[str, object], request: Request, answer: _Answer
    ) -> AsyncGenerator[str]:
        """One attempt: yields pieces as they arrive and collects them in `answer`."""
        texts = [message.content for message in request.messages]
        endpoint, timeouts = self._endpoint, self._endpoint.timeouts
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeouts.first
        end = loop.time() + timeouts.whole
        async with AsyncExitStack() as stack:
            async with endpoint.stalling(_PATH, "answer", timeouts.first):
                response = await stack.enter_async_context(endpoint.send(_PATH, body, texts=texts))
            if "event-stream" not in response.headers.get("Content-Type", ""):
                async with endpoint.stalling(_PATH, "answer", deadline - loop.time()):
                    page = await endpoint.body(_PATH, response)
                chunk = _parse_body(endpoint.url(_PATH), page)
                if chunk.get("error"):
                    raise endpoint.in_stream(_PATH, chunk["error"], texts=texts)
                yield _complete(endpoint.url(_PATH), chunk, answer)
                return
            data = await stack.enter_async_context(aclosing(events(response.aiter_bytes())))
            while answer.finish != "length" or answer.room:
                now = loop.time()
                if end <= deadline:
                    limit = endpoint.finishing(_PATH, end - now)
                else:
                    limit = endpoint.stalling(_PATH, "next token", deadline - now)
                async with limit:
                    event = await anext(data, None)
                if event is None or event.strip() == "[DONE]":
                    break
                chunk = _parse(endpoint.url(_PATH), event)
                if chunk.get("error"):  # some endpoints send it as null with every chunk
                    raise endpoint.in_stream(_PATH, chunk["error"], texts=texts)
                deadline = loop.time() + timeouts.between
                if piece := _piece(chunk, answer):
                    yield piece
            if answer.finish is None:
                raise TransientError(
                    f"{endpoint.url(_PATH)} ended its stream before the answer was complete"
                )


def _no_word(model: str, request: Request, thinking: int) -> str:
    """What to say of an answer that was over before its first word."""
    return (
        f"{model} spent all {request.max_tokens + thinking:,} tokens that it may use before the "
        "first word of its answer, as models do that think first; choose one that does not think, "
        "or let the endpoint have it think less"
    )


def _drop_rejected(
    error: RequestRejected, body: dict[str, object], *, dropped: frozenset[str], limit: str
) -> tuple[frozenset[str], str]:
    """What to leave out of the next attempt. Raises the error if nothing can be dropped."""
    if error.status not in (400, 422, 501):
        raise error
    other = _LIMITS[1 - _LIMITS.index(limit)]
    if other == _LIMITS[1] and other in error.reason:  # "use max_completion_tokens instead"
        return dropped, other
    sent = frozenset(option for option in _OPTIONAL if option in body)
    rejected = frozenset(option for option in sent if option in error.reason)
    if "json_schema" in error.reason or "schema" in error.reason.lower():
        rejected |= sent & {"response_format"}
    to_drop = rejected or (sent if error.status != 400 else frozenset())
    if not to_drop:
        raise error
    return dropped | to_drop, limit


def _parse(url: str, event: str) -> dict[str, object]:
    try:
        chunk = json.loads(event)
    except (ValueError, RecursionError) as error:
        raise ModelUnavailable(
            f"{url} sent an event that is not JSON ({len(event)} characters); "
            "is it an OpenAI-compatible endpoint?"
        ) from error
    if not isinstance(chunk, dict):
        raise ModelUnavailable(
            f"{url} sent a JSON {type(chunk).__name__}, expected an object with choices"
        )
    return chunk


def _piece(chunk: dict[str, object], answer: _Answer) -> str:
    """The text in a chunk; usage and finish reason go into `answer`."""
    if isinstance(usage := chunk.get("usage"), dict):
        answer.usage = usage
    text = ""
    for choice in first_choices(chunk):
        if isinstance(finish := choice.get("finish_reason"), str) and finish:
            answer.finish = finish
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            text += "".join(said for kind, said in said_in(message) if kind == "text")
    # Replace an unpaired surrogate: it can be neither displayed nor recorded.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return answer.add(text) if text else ""


def _parse_body(url: str, page: bytes) -> dict[str, object]:
    """The JSON of a response that is not streamed. Raises `ModelUnavailable` for a web page."""
    start = page[:64].lstrip().lower()
    if start.startswith(b"<"):
        raise ModelUnavailable(
            f"{url} answered with a web page; check the base URL (it usually ends in /v1)"
        )
    return _parse(url, page.decode("utf-8", "replace"))


def _complete(url: str, chunk: dict[str, object], answer: _Answer) -> str:
    """The text of a complete answer."""
    piece = _piece(chunk, answer)
    if not isinstance(chunk.get("choices"), list):
        raise ModelUnavailable(f"{url} answered without choices; expected a chat completion")
    answer.finish = answer.finish or "stop"
    return piece


def _completion(answer: _Answer, request: Request, *, seconds: float) -> Completion:
    """The `Completion` of an answer; token counts are estimated if the endpoint reports none."""
    if answer.finish == "content_filter":
        raise ModelRefused("the endpoint's content filter stopped the answer; reword the request")
    text = "".join(answer.pieces)
    prompt = sum(estimate_tokens(m.content) + _FRAME for m in request.messages)
    prompted = reported_tokens(answer.usage.get("prompt_tokens"))
    completed = reported_tokens(answer.usage.get("completion_tokens"))
    details = answer.usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    finish: Literal["stop", "length"] = "length" if answer.finish == "length" else "stop"
    return Completion(
        text=text,
        prompt_tokens=prompt if prompted is None else prompted,
        completion_tokens=estimate_tokens(text) if completed is None else completed,
        seconds=seconds,
        finish=finish,
        cached_tokens=reported_tokens(cached) or 0,
    )
