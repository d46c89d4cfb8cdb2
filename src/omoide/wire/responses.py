"""OpenAI's Responses protocol, as an endpoint speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.wire.chunks import Chunks, Usage, assistant, completion
from omoide.wire.json_parts import count, object_in, objects_in, text_in
from omoide.wire.responses_request import responses_body
from omoide.wire.transport import VendorRequest

if TYPE_CHECKING:
    from omoide.wire.transport import AnswerReader

INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Chat Completions' word for why a response is incomplete."""
_DELTAS = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "reasoning_content",
    "response.reasoning_text.delta": "reasoning_content",
}
"""Events that add to a field of the message."""


class ResponsesProtocol:
    """See `VendorProtocol`."""

    name = "OpenAI's Responses"

    def headers(self, api_key: str) -> dict[str, str]:
        """See `VendorProtocol.headers`."""
        return {"authorization": f"Bearer {api_key}"} if api_key else {}

    def chat(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.chat`."""
        return VendorRequest(path="/v1/responses", body=responses_body(body))

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.answer`."""
        if body.get("status") == "failed":
            return self._failure(body)
        texts: dict[str, list[str]] = {"output_text": [], "refusal": [], "reasoning": []}
        calls = []
        for item in objects_in(body, "output"):
            for part in objects_in(item, "content") if item.get("type") == "message" else ():
                for kind, field in (("output_text", "text"), ("refusal", "refusal")):
                    if part.get("type") == kind:
                        texts[kind].append(text_in(part, field))
            if item.get("type") == "reasoning":
                thoughts = objects_in(item, "summary") or objects_in(item, "content")
                texts["reasoning"] += [text_in(part, "text") for part in thoughts]
            if item.get("type") == "function_call":
                calls.append(
                    (text_in(item, "call_id"), text_in(item, "name"), text_in(item, "arguments"))
                )
        text, refusal, reasoning = ("".join(parts) for parts in texts.values())
        message = assistant(text=text, reasoning=reasoning, calls=calls)
        return completion(
            model=text_in(body, "model"),
            message={**message, "refusal": refusal or None},
            finish=_finish(body, calls=bool(calls)),
            usage=_usage(body),
        )

    def reader(self, body: dict[str, Any]) -> AnswerReader:
        """See `VendorProtocol.reader`."""
        return ResponsesReader(Chunks.to(body))

    def models(self) -> VendorRequest:
        """See `VendorProtocol.models`."""
        return VendorRequest(path="/v1/models")

    def models_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.models_answer`. It is OpenAI's already."""
        return body

    def embeddings(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.embeddings`."""
        return VendorRequest(path="/v1/embeddings", body=body)

    def embeddings_answer(self, body: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.embeddings_answer`. It is OpenAI's already."""
        del asked
        return body

    def problem(self, body: dict[str, Any]) -> tuple[str, str]:
        """See `VendorProtocol.problem`."""
        error = object_in(body, "error") or body
        return text_in(error, "message"), text_in(error, "code") or text_in(error, "type")

    def _failure(self, response: dict[str, Any]) -> dict[str, Any]:
        message, code = self.problem({"error": object_in(response, "error")})
        error = {"message": message or "the upstream failed", "type": "server_error"}
        return {"error": {**error, "param": None, "code": code or None}}


class ResponsesReader:
    """Reads the events of one streamed response."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self.ended = False

    def read(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """See `AnswerReader.read`."""
        kind, response = text_in(item, "type"), object_in(item, "response")
        if kind == "response.created":
            self._chunks.model = text_in(response, "model") or self._chunks.model
            return [self._chunks.delta(role="assistant", content="")]
        if kind in _DELTAS:
            piece = text_in(item, "delta")
            return [self._chunks.delta(**{_DELTAS[kind]: piece})] if piece else []
        if kind == "response.output_item.added":
            return self._begin(object_in(item, "item"))
        if kind == "response.function_call_arguments.delta":
            piece = text_in(item, "delta")
            return [self._chunks.arguments(piece)] if piece else []
        if kind in ("response.completed", "response.incomplete"):
            self.ended = True
            finish = _finish(response, calls=self._chunks.calls > 0)
            return self._chunks.end(finish, _usage(response))
        if kind in ("response.failed", "error"):
            source = response if kind == "response.failed" else item
            message, code = ResponsesProtocol().problem(source)
            error = {"message": message or "the upstream failed", "type": code, "code": code}
            return [{"error": error}]
        return []  # the end of a part, or an event that is newer than this

    def _begin(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        if item.get("type") != "function_call":
            return []
        return [self._chunks.call(id_=text_in(item, "call_id"), name=text_in(item, "name"))]


def _finish(response: dict[str, Any], *, calls: bool) -> str:
    if response.get("status") == "incomplete":
        reason = text_in(object_in(response, "incomplete_details"), "reason")
        return INCOMPLETE.get(reason, "length")
    return "tool_calls" if calls else "stop"


def _usage(response: dict[str, Any]) -> Usage:
    usage = object_in(response, "usage")
    return Usage(
        prompt=count(usage.get("input_tokens")),
        completion=count(usage.get("output_tokens")),
        cached=count(object_in(usage, "input_tokens_details").get("cached_tokens")),
    )
