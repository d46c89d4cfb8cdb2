"""The server's own chat model behind the interface of an OpenAI-compatible upstream."""

from __future__ import annotations

import base64
import json
import secrets
import time
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from omoide.engine.messages import text_of
from omoide.errors import BadInput, OmoideError
from omoide.mechanisms.reply_forms import PENALTY, is_looping
from omoide.ports import AuthoredModel, Completion, Message, Request
from omoide.server.embedded_tools import OfferedTools, ToolCall, call_text
from omoide.server.problems import HttpProblem, encoded, problem_of
from omoide.server.upstream import UpstreamResponse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from omoide.ports import ChatModel, Embedder
    from omoide.server.upstream import UpstreamRequest

_UNSUPPORTED = ("functions", "logprobs", "audio")
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
}


class EngineUpstream:
    """Serves `/chat/completions`, `/models` and `/embeddings` from this process.

    Client requests have none of the forms that LoRA adapters were tuned for. The base weights
    answer them, unless an adapter claims all requests. The response names what answered.
    """

    def __init__(
        self,
        model: ChatModel,
        embedder: Embedder | None,
        *,
        max_tokens: int,
        cut_loops: bool = True,
        penalty: float = PENALTY,
    ) -> None:
        """With `cut_loops`, a streamed answer that repeats itself endlessly is cut off. `penalty`
        is the frequency penalty of requests that name none."""
        self._model = model
        self._embedder = embedder
        self._max_tokens = max_tokens
        self._cut_loops = cut_loops
        self._penalty = penalty

    @property
    def model(self) -> str:
        """See `Upstream.model`."""
        return self._author(_PLAIN)

    async def close(self) -> None:
        """Does nothing: the runtime closes the model."""

    @asynccontextmanager
    async def send(self, forward: UpstreamRequest) -> AsyncIterator[UpstreamResponse]:
        """See `Upstream.send`."""
        try:
            if forward.path == "/models":
                yield _json({"object": "list", "data": [self._card()]})
            elif forward.path == "/embeddings":
                yield _json(await self._embed(json.loads(forward.body)))
            else:
                body = json.loads(forward.body)
                tools = OfferedTools.read(body)
                request = self._request(body, tools)
                author = self._author(request)
                async with aclosing(self._model.stream(request)) as pieces:
                    first = await anext(pieces)  # errors up to here still get their own status
                    if tools is not None:
                        yield await _called(first, pieces, tools, body=body, author=author)
                    elif body.get("stream"):
                        usage = bool((body.get("stream_options") or {}).get("include_usage"))
                        events = _events(
                            first, pieces, author=author, usage=usage, cut_loops=self._cut_loops
                        )
                        async with aclosing(events):
                            yield _answer("text/event-stream; charset=utf-8", events)
                    else:
                        yield _json(await _complete(first, pieces, author=author))
        except OmoideError as error:
            raise problem_of(error) from error

    def _request(self, body: dict[str, Any], tools: OfferedTools | None) -> Request:
        for name in _UNSUPPORTED:
            if body.get(name):
                raise HttpProblem(
                    400, "unsupported", f"the embedded model does not support {name}", param=name
                )
        if body.get("n") not in (None, 1):
            raise HttpProblem(
                400, "unsupported", "the embedded model supports only n = 1", param="n"
            )
        stop = body.get("stop") or ()
        response_format = body.get("response_format") or {}
        schema = (response_format.get("json_schema") or {}).get("schema")
        if response_format.get("type") == "json_object":
            schema = {"type": "object"}
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or self._max_tokens
        penalty = body.get("frequency_penalty")
        messages = tuple(
            Message(role=_ROLES[m["role"]], content=text)
            for m in body["messages"]
            if m["role"] in _ROLES
            and (text := "\n".join(filter(str.strip, (text_of(m), call_text(m)))))
        )
        if not messages:
            raise HttpProblem(400, "bad-request", "no message contains text", param="messages")
        if tools is not None:
            if schema is not None:
                raise HttpProblem(
                    400,
                    "unsupported",
                    "the embedded model supports tools or a response_format, not both at once",
                    param="response_format",
                )
            schema = tools.schema
            messages = (tools.system_message([m.content for m in messages]), *messages)
        return Request(
            messages=messages,
            max_tokens=_number(limit, "max_tokens", whole=True),
            temperature=_number(body.get("temperature") or 0.0, "temperature"),
            seed=body.get("seed") if isinstance(body.get("seed"), int) else None,
            stop=(stop,) if isinstance(stop, str) else tuple(map(str, stop)),
            frequency_penalty=self._penalty if penalty is None else _number(penalty, "penalty"),
            schema=schema if isinstance(schema, dict) else None,
        )

    async def _embed(self, body: dict[str, Any]) -> dict[str, object]:
        if self._embedder is None:
            raise HttpProblem(
                404, "no-embedder", "this server has no embedder: set OMOIDE_EMBEDDER"
            )
        source = body.get("input")
        texts = [source] if isinstance(source, str) else source
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            raise BadInput("input must be a string or a list of strings")
        vectors = await self._embedder.embed(texts)
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": base64.b64encode(row.tobytes()).decode()
                if as_base64
                else row.tolist(),
            }
            for i, row in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        name = self._embedder.space.name
        return {"object": "list", "data": data, "model": name, "usage": usage}

    def _card(self) -> dict[str, object]:
        return {"id": self.model, "object": "model", "created": 0, "owned_by": "omoide"}

    def _author(self, request: Request) -> str:
        model = self._model
        return model.author(request) if isinstance(model, AuthoredModel) else model.name


_PLAIN = Request(messages=(), max_tokens=0)
"""A request without a skill, like every client request."""


async def _events(
    first: str | Completion,
    pieces: AsyncGenerator[str | Completion],
    *,
    author: str,
    usage: bool,
    cut_loops: bool,
) -> AsyncGenerator[bytes]:
    head = _head("chat.completion.chunk", author)
    yield _event({**head, "choices": [_choice({"role": "assistant", "content": ""})]})
    text, done = "", None
    async with aclosing(_chained(first, pieces)) as all_pieces:
        async for piece in all_pieces:
            if isinstance(piece, Completion):
                done = piece
            elif piece:
                text += piece
                yield _event({**head, "choices": [_choice({"content": piece})]})
                if cut_loops and is_looping(text):
                    break
    yield _event({**head, "choices": [_choice({}, finish=done.finish if done else "stop")]})
    if usage and done:
        yield _event({**head, "choices": [], "usage": _usage(done)})
    yield b"data: [DONE]\n\n"


async def _called(
    first: str | Completion,
    pieces: AsyncGenerator[str | Completion],
    tools: OfferedTools,
    *,
    body: dict[str, Any],
    author: str,
) -> UpstreamResponse:
    """The answer to a request with tools. What it is, a call or a reply, is known at its end, so a
    stream has it in one piece."""
    done = await _done(first, pieces)
    answer = tools.answer(done.text)
    call = answer.as_message() if isinstance(answer, ToolCall) else None
    finish = "tool_calls" if call else done.finish
    if not body.get("stream"):
        message: dict[str, object] = {"role": "assistant", "content": None, "refusal": None}
        message |= {"tool_calls": [call]} if call else {"content": answer}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        head = _head("chat.completion", done.by or author)
        return _json({**head, "choices": [choice], "usage": _usage(done)})

    async def events() -> AsyncGenerator[bytes]:
        head = _head("chat.completion.chunk", author)
        delta: dict[str, object] = {"role": "assistant", "content": None}
        delta |= {"tool_calls": [{"index": 0, **call}]} if call else {"content": answer}
        yield _event({**head, "choices": [_choice(delta)]})
        yield _event({**head, "choices": [_choice({}, finish=finish)]})
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _event({**head, "choices": [], "usage": _usage(done)})
        yield b"data: [DONE]\n\n"

    return _answer("text/event-stream; charset=utf-8", events())


async def _complete(
    first: str | Completion, pieces: AsyncGenerator[str | Completion], *, author: str
) -> dict[str, object]:
    done = await _done(first, pieces)
    message = {"role": "assistant", "content": done.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": done.finish}
    head = _head("chat.completion", done.by or author)
    return {**head, "choices": [choice], "usage": _usage(done)}


async def _done(first: str | Completion, pieces: AsyncGenerator[str | Completion]) -> Completion:
    """The end of an answer."""
    done = None
    async for piece in _chained(first, pieces):
        done = piece if isinstance(piece, Completion) else done
    if done is None:
        raise HttpProblem(
            502, "upstream-broke-off", "the model stopped before it completed its answer"
        )
    return done


def _head(kind: str, author: str) -> dict[str, object]:
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": author,
    }


async def _chained(
    first: str | Completion, rest: AsyncGenerator[str | Completion]
) -> AsyncGenerator[str | Completion]:
    yield first
    async for piece in rest:
        yield piece


def _choice(delta: Mapping[str, object], *, finish: str | None = None) -> dict[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _usage(done: Completion) -> dict[str, int]:
    return {
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.completion_tokens,
        "total_tokens": done.prompt_tokens + done.completion_tokens,
    }


def _number(value: object, name: str, *, whole: bool = False) -> Any:  # noqa: ANN401 - int or float
    allowed = int if whole else (int, float)
    if not isinstance(value, allowed) or isinstance(value, bool) or value < 0:
        raise HttpProblem(400, "bad-request", f"{name} must be a number of at least 0", param=name)
    return value


def _event(chunk: dict[str, object]) -> bytes:
    return b"data: " + encoded(chunk) + b"\n\n"


def _json(value: dict[str, object]) -> UpstreamResponse:
    async def once() -> AsyncIterator[bytes]:
        yield encoded(value)

    return _answer("application/json", once())


def _answer(media_type: str, blocks: AsyncIterator[bytes]) -> UpstreamResponse:
    return UpstreamResponse(status=200, headers={"content-type": media_type}, blocks=blocks)
