"""Anthropic's Messages protocol, as an endpoint speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from omoide.wire.anthropic_request import messages_body
from omoide.wire.chunks import Chunks, Usage, assistant, completion, models_list
from omoide.wire.fields import refuse
from omoide.wire.json_parts import as_object, count, object_in
from omoide.wire.transport import VendorRequest

if TYPE_CHECKING:
    from omoide.wire.transport import AnswerReader

VERSION = "2023-06-01"
"""Of the protocol; every request names it."""
FINISH = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Chat Completions' word for why an answer ended; `stop` for any other."""


class AnthropicProtocol:
    """See `VendorProtocol`."""

    name = "Anthropic"

    def headers(self, api_key: str) -> dict[str, str]:
        """See `VendorProtocol.headers`."""
        key = {"x-api-key": api_key} if api_key else {}
        return {"anthropic-version": VERSION, **key}

    def chat(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.chat`."""
        return VendorRequest(path="/v1/messages", body=messages_body(body))

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.answer`."""
        texts, thoughts, calls = [], [], []
        blocks = body.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text":
                texts.append(str(block.get("text") or ""))
            elif kind == "thinking":
                thoughts.append(str(block.get("thinking") or ""))
            elif kind == "tool_use":
                arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                calls.append((str(block.get("id")), str(block.get("name")), arguments))
        return completion(
            model=str(body.get("model") or ""),
            message=assistant(text="".join(texts), reasoning="".join(thoughts), calls=calls),
            finish=FINISH.get(str(body.get("stop_reason")), "stop"),
            usage=_usage(body.get("usage")),
        )

    def reader(self, body: dict[str, Any]) -> AnswerReader:
        """See `VendorProtocol.reader`."""
        return MessagesReader(Chunks.to(body))

    def models(self) -> VendorRequest:
        """See `VendorProtocol.models`."""
        return VendorRequest(path="/v1/models?limit=1000")

    def models_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.models_answer`."""
        rows = body.get("data")
        ids = [m.get("id") for m in rows if isinstance(m, dict)] if isinstance(rows, list) else []
        return models_list([i for i in ids if isinstance(i, str)], owner="anthropic")

    def embeddings(self, body: dict[str, Any]) -> VendorRequest:
        """See `VendorProtocol.embeddings`."""
        del body
        refuse("input", "Anthropic's protocol has no embeddings")

    def embeddings_answer(self, body: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
        """See `VendorProtocol.embeddings_answer`."""
        raise NotImplementedError  # never asked for: `embeddings` refuses

    def problem(self, body: dict[str, Any]) -> tuple[str, str]:
        """See `VendorProtocol.problem`."""
        error = body.get("error")
        error = error if isinstance(error, dict) else {}
        message, kind = error.get("message"), error.get("type")
        return (
            message if isinstance(message, str) else "",
            kind if isinstance(kind, str) else "",
        )


class MessagesReader:
    """Reads the events of one streamed message."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._reason: str | None = None
        self._usage: dict[str, Any] = {}
        self.ended = False

    def read(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """See `AnswerReader.read`."""
        kind = item.get("type")
        if kind == "message_start":
            message = object_in(item, "message")
            self._chunks.model = str(message.get("model") or self._chunks.model)
            self._usage |= object_in(message, "usage")
            return [self._chunks.delta(role="assistant", content="")]
        if kind == "content_block_start":
            return self._begin(object_in(item, "content_block"))
        if kind == "content_block_delta":
            return self._add(object_in(item, "delta"))
        if kind == "message_delta":
            usage = object_in(item, "usage")
            self._usage |= {name: count for name, count in usage.items() if count is not None}
            self._reason = object_in(item, "delta").get("stop_reason") or self._reason
            return []
        if kind == "message_stop":
            self.ended = True
            return self._chunks.end(FINISH.get(str(self._reason), "stop"), _usage(self._usage))
        if kind == "error":
            text, type_ = AnthropicProtocol().problem(item)
            error = {"message": text or "the upstream failed", "type": type_, "code": type_}
            return [{"error": error}]
        return []  # a ping, the end of a block, or an event that is newer than this

    def _begin(self, block: dict[str, Any]) -> list[dict[str, Any]]:
        if block.get("type") == "tool_use":
            return [self._chunks.call(id_=str(block.get("id")), name=str(block.get("name")))]
        return self._add({"type": f"{block.get('type')}_delta", **block})

    def _add(self, delta: dict[str, Any]) -> list[dict[str, Any]]:
        for name, field in (("text", "content"), ("thinking", "reasoning_content")):
            if isinstance(piece := delta.get(name), str) and piece:
                return [self._chunks.delta(**{field: piece})]
        if isinstance(piece := delta.get("partial_json"), str) and piece:
            return [self._chunks.arguments(piece)]
        return []  # a signature or a citation


def _usage(value: object) -> Usage:
    """Anthropic counts what went through its cache apart; Chat Completions count it in."""
    usage = as_object(value)
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    return Usage(
        prompt=count(usage.get("input_tokens")) + cached + written,
        completion=count(usage.get("output_tokens")),
        cached=cached,
    )
