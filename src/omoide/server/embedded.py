"""The server's own chat model behind the interface of an OpenAI-compatible upstream."""

from __future__ import annotations

import base64
import json
import secrets
import time
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from omoide.errors import ModelRefused, OmoideError
from omoide.mechanisms.reply_forms import PENALTY, is_looping
from omoide.ports import AuthoredModel, Completion, Request
from omoide.server.embedded_request import EmbeddedChat
from omoide.server.embedded_tools import ToolCall
from omoide.server.problems import HttpProblem, encoded, problem_of, slug_of
from omoide.server.upstream import UpstreamResponse
from omoide.wire.fields import Fields, refuse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from omoide.ports import ChatModel, Embedder
    from omoide.server.embedded_tools import OfferedTools
    from omoide.server.upstream import UpstreamRequest


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
            path = forward.path.partition("?")[0]
            if path == "/models":
                yield _json({"object": "list", "data": [self._card()]})
            elif path == "/embeddings":
                yield _json(await self._embed(Fields(json.loads(forward.body))))
            else:
                chat = EmbeddedChat.read(
                    forward.body, max_tokens=self._max_tokens, penalty=self._penalty
                )
                author = self._author(chat.request)
                async with aclosing(self._model.stream(chat.request)) as pieces:
                    first = await _first(pieces)  # errors up to here still get their own status
                    if chat.tools is not None:
                        yield await _called(first, pieces, chat.tools, chat=chat, author=author)
                    elif chat.stream:
                        events = _events(
                            first,
                            pieces,
                            author=author,
                            usage=chat.usage,
                            cut_loops=self._cut_loops,
                        )
                        async with aclosing(events):
                            yield _answer("text/event-stream; charset=utf-8", events)
                    else:
                        yield _json(await _complete(first, pieces, author=author))
        except OmoideError as error:
            raise problem_of(error) from error

    async def _embed(self, fields: Fields) -> dict[str, object]:
        if self._embedder is None:
            raise HttpProblem(
                404, "no-embedder", "this server has no embedder: set OMOIDE_EMBEDDER"
            )
        texts = fields.texts("input")
        if not texts:
            refuse("input", "it must be a string or an array of strings")
        name, own = self._embedder.space.name, self._embedder.space.dimensions
        fields.refuse("dimensions", f"the vectors of {name} have {own}", unless=(own,))
        as_base64 = fields.one_of("encoding_format", "float", "base64") == "base64"
        vectors = await self._embedder.embed(texts)
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
        return {"object": "list", "data": data, "model": name, "usage": usage}

    def _card(self) -> dict[str, object]:
        return {"id": self.model, "object": "model", "created": 0, "owned_by": "omoide"}

    def _author(self, request: Request) -> str:
        model = self._model
        return model.author(request) if isinstance(model, AuthoredModel) else model.name


_PLAIN = Request(messages=(), max_tokens=0)
"""A request without a skill, like every client request."""


async def _first(pieces: AsyncGenerator[str | Completion]) -> str | Completion:
    try:
        return await anext(pieces)
    except ModelRefused as error:  # as a schema of the client's: a retry will not help
        raise HttpProblem(400, slug_of(error), str(error)) from error


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
    chat: EmbeddedChat,
    author: str,
) -> UpstreamResponse:
    """The answer to a request with tools. What it is, a call or a reply, is known at its end, so a
    stream has it in one piece."""
    done = await _done(first, pieces)
    answer = tools.answer(done.text)
    call = answer.as_message() if isinstance(answer, ToolCall) else None
    finish = "tool_calls" if call else done.finish
    if not chat.stream:
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
        if chat.usage:
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


def _event(chunk: dict[str, object]) -> bytes:
    return b"data: " + encoded(chunk) + b"\n\n"


def _json(value: dict[str, object]) -> UpstreamResponse:
    async def once() -> AsyncIterator[bytes]:
        yield encoded(value)

    return _answer("application/json", once())


def _answer(media_type: str, blocks: AsyncIterator[bytes]) -> UpstreamResponse:
    return UpstreamResponse(status=200, headers={"content-type": media_type}, blocks=blocks)
