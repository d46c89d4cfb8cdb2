"""Ollama's protocol, as an endpoint speaks it."""

from __future__ import annotations

import base64
import json
import secrets
from array import array
from typing import TYPE_CHECKING, Any

import httpx

from omoide.wire.chunks import Chunks, Usage, assistant, completion, models_list
from omoide.wire.fields import Fields, refuse
from omoide.wire.json_parts import as_object, count, object_in
from omoide.wire.ollama_request import chat_request
from omoide.wire.transport import VendorRequest

if TYPE_CHECKING:
    from omoide.wire.transport import AnswerReader


class OllamaProtocol:
    """See `VendorProtocol`."""

    name = "Ollama"

    def headers(self, api_key: str) -> dict[str, str]:
        """See `VendorProtocol.headers`."""
        return {"authorization": f"Bearer {api_key}"} if api_key else {}

    def chat(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.chat`."""
        return VendorRequest(path="/api/chat", body=chat_request(body))

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.answer`."""
        message = object_in(body, "message")
        calls = _calls(message)
        return completion(
            model=str(body.get("model") or ""),
            message=assistant(
                text=str(message.get("content") or ""),
                reasoning=str(message.get("thinking") or ""),
                calls=calls,
            ),
            finish=_finish(body, called=bool(calls)),
            usage=_usage(body),
        )

    def reader(self, body: dict[str, Any]) -> AnswerReader:
        """See `VendorProtocol.reader`."""
        return ChatReader(Chunks.to(body))

    def models(self) -> VendorRequest:
        """See `VendorProtocol.models`."""
        return VendorRequest(path="/api/tags")

    def models_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.models_answer`."""
        rows = body.get("models")
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        names = [row.get("name") or row.get("model") for row in rows]
        return models_list([name for name in names if isinstance(name, str)], owner="ollama")

    def embeddings(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.embeddings`."""
        fields = Fields(body)
        texts = fields.take("input")
        many = texts if isinstance(texts, list) else [texts]
        if not many or not all(isinstance(text, str) for text in many):
            refuse("input", "it must be a text or an array of texts")
        fields.one_of("encoding_format", "float", "base64")
        asked = {
            "model": fields.needed("model"),
            "input": many,
            "dimensions": fields.whole("dimensions"),
        }
        fields.ignore("user")
        fields.close()
        given = {name: value for name, value in asked.items() if value is not None}
        return VendorRequest(path="/api/embed", body=given)

    def embeddings_answer(self, body: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.embeddings_answer`."""
        rows = body.get("embeddings")
        vectors = rows if isinstance(rows, list) else []
        if asked.get("encoding_format") == "base64":
            vectors = [_packed(vector) for vector in vectors]
        tokens = count(body.get("prompt_eval_count"))
        return {
            "object": "list",
            "model": body.get("model") or asked.get("model"),
            "data": [
                {"object": "embedding", "index": i, "embedding": vector}
                for i, vector in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def problem(self, body: dict[str, Any]) -> tuple[str, str]:
        """See `VendorProtocol.problem`."""
        error = body.get("error")
        return error if isinstance(error, str) else "", ""


def _packed(vector: Any) -> str:  # noqa: ANN401 - any JSON
    """A vector as OpenAI's clients ask for it by default: 32-bit numbers in base64."""
    try:
        return base64.b64encode(array("f", vector).tobytes()).decode()
    except (TypeError, OverflowError) as error:
        raise httpx.RemoteProtocolError("a vector is not a list of numbers") from error


class ChatReader:
    """Reads the lines of one streamed answer."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._begun = False
        self.ended = False

    def read(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """See `AnswerReader.read`."""
        if isinstance(error := item.get("error"), str):
            return [{"error": {"message": error, "type": "server_error", "code": None}}]
        found = []
        self._chunks.model = str(item.get("model") or self._chunks.model)
        if not self._begun:
            self._begun = True
            found.append(self._chunks.delta(role="assistant", content=""))
        message = object_in(item, "message")
        if isinstance(thought := message.get("thinking"), str) and thought:
            found.append(self._chunks.delta(reasoning_content=thought))
        if isinstance(text := message.get("content"), str) and text:
            found.append(self._chunks.delta(content=text))
        for id_, name, arguments in _calls(message):
            found.append(self._chunks.call(id_=id_, name=name, arguments=arguments))
        if item.get("done"):
            self.ended = True
            reason = _finish(item, called=bool(self._chunks.calls))
            found += self._chunks.end(reason, _usage(item))
        return found


def _calls(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Tool calls as id, name and arguments in JSON. Ollama's come whole, often without ids."""
    calls = message.get("tool_calls")
    found = []
    for call in calls if isinstance(calls, list) else ():
        function = as_object(as_object(call).get("function"))
        id_ = as_object(call).get("id")
        found.append(
            (
                id_ if isinstance(id_, str) and id_ else f"call_{secrets.token_hex(12)}",
                str(function.get("name") or ""),
                json.dumps(function.get("arguments") or {}, ensure_ascii=False),
            )
        )
    return found


def _finish(body: dict[str, Any], *, called: bool) -> str:
    if body.get("done_reason") == "length":
        return "length"
    return "tool_calls" if called else "stop"


def _usage(body: dict[str, Any]) -> Usage:
    return Usage(
        prompt=count(body.get("prompt_eval_count")), completion=count(body.get("eval_count"))
    )
