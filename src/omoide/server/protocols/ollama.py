"""Ollama's protocol: `/api/chat`, `/api/generate`, `/api/tags`, `/api/embed`, `/api/version`."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import Response

from omoide.server.answer_parser import answer_too_long
from omoide.server.collecting import collected
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.keys import Scope
from omoide.server.problems import HttpProblem, encoded, ollama_error
from omoide.server.protocols.ollama_request import chat_of_chat, chat_of_generate, model_name
from omoide.server.protocols.writing import ConvertedRequest, upstream_problem
from omoide.server.proxy import (
    OWN_NAMES,
    converse,
    forwarded_headers,
    session_key,
    wants_memory,
)
from omoide.server.upstream import UpstreamRequest
from omoide.version import __version__
from omoide.wire.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.ports import Clock
    from omoide.server.protocols.answer import ChatAnswer, Piece

NDJSON = "application/x-ndjson"


async def ollama_chat(call: RouteCall) -> Response:
    """`/api/chat`."""
    return await _answer(call, chat_of_chat(call.body), chat=True)


async def ollama_generate(call: RouteCall) -> Response:
    """`/api/generate`."""
    return await _answer(call, chat_of_generate(call.body), chat=False)


async def _answer(call: RouteCall, body: dict[str, Any], *, chat: bool) -> Response:
    writer = OllamaWriter(clock=call.context.runtime.clock, chat=chat)
    if not call.body.get("messages" if chat else "prompt"):  # only loads the model
        wants_memory(call)  # headers are checked as in a chat
        session_key(call)
        model = body.get("model") or call.context.upstream.model
        return _json(writer.loaded(model))
    return await converse(call, ConvertedRequest(body=body, writer=writer))


class OllamaWriter:
    """Writes an answer as lines of JSON, or as one object."""

    media_type = NDJSON

    def __init__(
        self, *, clock: Clock, chat: bool, elapsed: Callable[[], int] = monotonic_ns
    ) -> None:
        self._clock = clock
        self._chat = chat
        self._elapsed = elapsed
        self._began = elapsed()

    def begin(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.begin`."""
        del answer
        return b""

    def piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.piece`. Tool calls come whole, at the end."""
        if piece.kind == "tool":
            return b""
        thought = piece.text if piece.kind == "reasoning" else ""
        said = "" if thought else piece.text
        return _line({**self._head(answer.model), **self._said(said, thought), "done": False})

    async def end(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.end`."""
        calls = b""
        if answer.tool_calls:
            said = self._said("", "", answer)
            calls = _line({**self._head(answer.model), **said, "done": False})
        return calls + _line(
            {**self._head(answer.model), **self._said("", ""), **self._done(answer)}
        )

    def broken(self, problem: HttpProblem) -> bytes:
        """See `ReplyWriter.broken`."""
        return _line(ollama_error(problem))

    async def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """See `ReplyWriter.whole`."""
        said = self._said(answer.text or answer.refusal, answer.reasoning, answer)
        return {**self._head(answer.model), **said, **self._done(answer)}

    def loaded(self, model: str) -> dict[str, Any]:
        """The answer to a request without a prompt, which only loads a model."""
        return {**self._head(model), **self._said("", ""), "done": True, "done_reason": "load"}

    def _head(self, model: str) -> dict[str, Any]:
        now = self._clock.now().astimezone(UTC).isoformat().replace("+00:00", "Z")
        return {"model": model, "created_at": now}

    def _said(self, text: str, thought: str, answer: ChatAnswer | None = None) -> dict[str, Any]:
        thinking = {"thinking": thought} if thought else {}
        if not self._chat:
            return {"response": text, **thinking}
        message: dict[str, Any] = {"role": "assistant", "content": text, **thinking}
        if answer is not None and answer.tool_calls:
            message["tool_calls"] = [
                {"id": call.id, "function": {"name": call.name, "arguments": call.input}}
                for call in answer.tool_calls
            ]
        return {"message": message}

    def _done(self, answer: ChatAnswer) -> dict[str, Any]:
        return {
            "done": True,
            "done_reason": "length" if answer.finish == "length" else "stop",
            "total_duration": self._elapsed() - self._began,
            "load_duration": 0,
            "prompt_eval_count": answer.prompt_tokens,
            "prompt_eval_duration": 0,
            "eval_count": answer.completion_tokens,
            "eval_duration": 0,
        }


async def ollama_tags(call: RouteCall) -> Response:
    """`/api/tags`: the upstream's models."""
    found = await _ask(call, UpstreamRequest(method="GET", path="/models"))
    models = found.get("data")
    ids = [m.get("id") for m in models if isinstance(m, dict)] if isinstance(models, list) else []
    return _json({"models": [_model(name) for name in ids if isinstance(name, str)]})


def _model(name: str) -> dict[str, Any]:
    details = {
        "parent_model": "",
        "format": "",
        "family": "",
        "families": [],
        "parameter_size": "",
        "quantization_level": "",
    }
    return {
        "name": name,
        "model": name,
        "modified_at": datetime.fromtimestamp(0, UTC).isoformat().replace("+00:00", "Z"),
        "size": 0,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": details,
    }


async def ollama_embed(call: RouteCall) -> Response:
    """`/api/embed`: the upstream's embeddings."""
    began, fields = monotonic_ns(), Fields(call.body)
    model = model_name(fields.text("model"))
    if model in OWN_NAMES:
        model = call.context.upstream.model or None
    wanted = {
        "model": model,
        "input": fields.take("input"),
        "dimensions": fields.whole("dimensions"),
        "encoding_format": "float",
    }
    fields.ignore("keep_alive", "options", "truncate")
    fields.close()
    body = encoded({name: value for name, value in wanted.items() if value is not None})
    found = await _ask(call, UpstreamRequest(method="POST", path="/embeddings", body=body))
    rows, usage = found.get("data"), found.get("usage")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise HttpProblem(502, "upstream-invalid", "the upstream's answer has no embeddings")
    return _json(
        {
            "model": found.get("model") or model or "",
            "embeddings": [row.get("embedding") for row in rows],
            "total_duration": monotonic_ns() - began,
            "load_duration": 0,
            "prompt_eval_count": usage.get("prompt_tokens", 0) if isinstance(usage, dict) else 0,
        }
    )


async def _ask(call: RouteCall, forward: UpstreamRequest) -> dict[str, Any]:
    """The upstream's answer to a request that is not a chat. Raises `HttpProblem` if it fails."""
    forward = UpstreamRequest(
        method=forward.method,
        path=forward.path,
        body=forward.body,
        headers=forwarded_headers(call, openai=False),
    )
    async with call.context.upstream.send(forward) as answer:
        start = await collected(answer)
    content = start.body
    if not start.complete:
        raise answer_too_long()
    if answer.status >= 400:
        raise upstream_problem(content, status=answer.status, headers=answer.headers)
    try:
        found = json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HttpProblem(502, "upstream-invalid", "the upstream's answer is not a JSON object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN, which no answer may have


async def ollama_version(call: RouteCall) -> Response:
    """`/api/version`: of this server."""
    del call
    return _json({"version": __version__})


def _json(value: dict[str, Any]) -> Response:
    return Response(encoded(value), media_type="application/json")


def _line(value: dict[str, Any]) -> bytes:
    return encoded(value) + b"\n"


_BOTH = frozenset({Scope.READ, Scope.WRITE})

ROUTES = (
    *(
        RouteSpec(
            method="POST",
            path=path,
            handler=handler,
            tag="ollama",
            about=about,
            needs=_BOTH,
            takes=takes,
            answer="OllamaAnswer",
            also={NDJSON: ""},
            headers=("X-Omoide-Session", "X-Omoide-Memory"),
            fails=(502, 504),
        )
        for path, handler, takes, about in (
            ("/api/chat", ollama_chat, "OllamaChat", "Ollama's chat, with memory"),
            ("/api/generate", ollama_generate, "OllamaGenerate", "Ollama's prompt, with memory"),
        )
    ),
    RouteSpec(
        method="GET",
        path="/api/tags",
        handler=ollama_tags,
        tag="ollama",
        about="The upstream's models, as Ollama lists them",
        needs=frozenset({Scope.READ}),
        answer="OllamaModels",
        user=False,
        fails=(502, 504),
    ),
    RouteSpec(
        method="POST",
        path="/api/embed",
        handler=ollama_embed,
        tag="ollama",
        about="The upstream's embeddings, as Ollama gives them",
        needs=frozenset({Scope.WRITE}),
        takes="OllamaEmbed",
        answer="OllamaEmbeddings",
        user=False,
        fails=(404, 502, 504),
    ),
    RouteSpec(
        method="GET",
        path="/api/version",
        handler=ollama_version,
        tag="ollama",
        about="The version of this server",
        needs=None,
        answer="OllamaVersion",
        user=False,
    ),
)
