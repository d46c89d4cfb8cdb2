"""The engine's own chat model in the clothes of an OpenAI-compatible endpoint."""

from __future__ import annotations

import base64
import json
import secrets
import time
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from omoide.errors import BadInput, OmoideError
from omoide.memory.replies import PENALTY, looping
from omoide.ports import Completion, Message, Request, Signing
from omoide.server.conversation import text_of
from omoide.server.problems import Problem, encoded, problem_of
from omoide.server.upstream import Answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from omoide.ports import ChatModel, Embedder
    from omoide.server.upstream import Forward

_CANNOT = ("tools", "functions", "logprobs", "audio")
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

    What a client writes is none of the forms that adapters were tuned for: it is answered by the
    weights alone, unless an adapter claims all requests, and under the name of what answered.
    """

    def __init__(self, model: ChatModel, embedder: Embedder | None, *, max_tokens: int) -> None:
        self._model = model
        self._embedder = embedder
        self._max_tokens = max_tokens

    @property
    def model(self) -> str:
        """See `Upstream.model`."""
        return self._author(_PLAIN)

    async def close(self) -> None:
        """The model is closed with the memory."""

    @asynccontextmanager
    async def send(self, forward: Forward) -> AsyncIterator[Answer]:
        """See `Upstream.send`."""
        try:
            if forward.path == "/models":
                yield _json({"object": "list", "data": [self._card()]})
            elif forward.path == "/embeddings":
                yield _json(await self._embed(json.loads(forward.body)))
            else:
                body = json.loads(forward.body)
                request = self._request(body)
                author = self._author(request)
                async with aclosing(self._model.stream(request)) as pieces:
                    first = await anext(pieces)  # an error before it still has its own status
                    if body.get("stream"):
                        usage = bool((body.get("stream_options") or {}).get("include_usage"))
                        events = _events(first, pieces, author=author, usage=usage)
                        async with aclosing(events):
                            yield _answer("text/event-stream; charset=utf-8", events)
                    else:
                        yield _json(await _whole(first, pieces, author=author))
        except OmoideError as error:
            raise problem_of(error) from error

    def _request(self, body: dict[str, Any]) -> Request:
        for name in _CANNOT:
            if body.get(name):
                raise Problem(400, "unsupported", f"the embedded model has no {name}", param=name)
        if body.get("n") not in (None, 1):
            raise Problem(400, "unsupported", "the embedded model gives one answer", param="n")
        stop = body.get("stop") or ()
        wanted = body.get("response_format") or {}
        schema = (wanted.get("json_schema") or {}).get("schema")
        if wanted.get("type") == "json_object":
            schema = {"type": "object"}
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or self._max_tokens
        penalty = body.get("frequency_penalty")
        messages = tuple(
            Message(role=_ROLES[m["role"]], content=text_of(m))
            for m in body["messages"]
            if m["role"] in _ROLES and text_of(m).strip()
        )
        if not messages:
            raise Problem(400, "bad-request", "no message holds any text", param="messages")
        return Request(
            messages=messages,
            max_tokens=_number(limit, "max_tokens", whole=True),
            temperature=_number(body.get("temperature") or 0.0, "temperature"),
            seed=body.get("seed") if isinstance(body.get("seed"), int) else None,
            stop=(stop,) if isinstance(stop, str) else tuple(map(str, stop)),
            frequency_penalty=PENALTY if penalty is None else _number(penalty, "penalty"),
            schema=schema if isinstance(schema, dict) else None,
        )

    async def _embed(self, body: dict[str, Any]) -> dict[str, object]:
        if self._embedder is None:
            raise Problem(404, "no-embedder", "this server has no embedder: set OMOIDE_EMBEDDER")
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            raise BadInput("input must be a text or a list of texts")
        vectors = await self._embedder.embed(texts)
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": base64.b64encode(row.tobytes()).decode() if packed else row.tolist(),
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
        return model.author(request) if isinstance(model, Signing) else model.name


_PLAIN = Request(messages=(), max_tokens=0)
"""A request that asks for no skill, as all that come from a client."""


async def _events(
    first: str | Completion,
    pieces: AsyncGenerator[str | Completion],
    *,
    author: str,
    usage: bool,
) -> AsyncGenerator[bytes]:
    head = _head("chat.completion.chunk", author)
    yield _event({**head, "choices": [_choice({"role": "assistant", "content": ""})]})
    said, done = "", None
    async with aclosing(_chained(first, pieces)) as all_pieces:
        async for piece in all_pieces:
            if isinstance(piece, Completion):
                done = piece
            elif piece:
                said += piece
                yield _event({**head, "choices": [_choice({"content": piece})]})
                if looping(said):
                    break
    yield _event({**head, "choices": [_choice({}, finish=done.finish if done else "stop")]})
    if usage and done:
        yield _event({**head, "choices": [], "usage": _usage(done)})
    yield b"data: [DONE]\n\n"


async def _whole(
    first: str | Completion, pieces: AsyncGenerator[str | Completion], *, author: str
) -> dict[str, object]:
    done = None
    async for piece in _chained(first, pieces):
        done = piece if isinstance(piece, Completion) else done
    if done is None:
        raise Problem(502, "upstream-broke-off", "the model ended without an answer")
    message = {"role": "assistant", "content": done.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": done.finish}
    head = _head("chat.completion", done.by or author)
    return {**head, "choices": [choice], "usage": _usage(done)}


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


def _choice(delta: dict[str, str], *, finish: str | None = None) -> dict[str, object]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _usage(done: Completion) -> dict[str, int]:
    return {
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.completion_tokens,
        "total_tokens": done.prompt_tokens + done.completion_tokens,
    }


def _number(value: object, name: str, *, whole: bool = False) -> Any:  # noqa: ANN401 - int or float
    wanted = int if whole else (int, float)
    if not isinstance(value, wanted) or isinstance(value, bool) or value < 0:
        raise Problem(400, "bad-request", f"{name} must be a number from 0 on", param=name)
    return value


def _event(chunk: dict[str, object]) -> bytes:
    return b"data: " + encoded(chunk) + b"\n\n"


def _json(value: dict[str, object]) -> Answer:
    async def once() -> AsyncIterator[bytes]:
        yield encoded(value)

    return _answer("application/json", once())


def _answer(media_type: str, blocks: AsyncIterator[bytes]) -> Answer:
    return Answer(status=200, headers={"content-type": media_type}, blocks=blocks)
