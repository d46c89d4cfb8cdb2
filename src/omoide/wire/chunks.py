"""Writes answers in the internal form: chat completions, whole or as a stream of chunks."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of a call."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    """Those of the prompt that came from a cache; counted in `prompt`."""

    def as_json(self) -> dict[str, Any]:
        """As Chat Completions report it."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


@dataclass(kw_only=True)
class Chunks:
    """The chunks of one streamed answer."""

    model: str
    apart: bool
    """Whether the cost comes in a chunk of its own, as `include_usage` asks for."""
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    calls: int = 0
    """Tool calls that were begun."""

    @classmethod
    def to(cls, asked: dict[str, Any]) -> Chunks:
        """The chunks of the answer to a chat."""
        options = asked.get("stream_options")
        apart = isinstance(options, dict) and bool(options.get("include_usage"))
        return cls(model=str(asked.get("model") or ""), apart=apart)

    def delta(self, **delta: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        """A chunk that adds to the message."""
        return self._chunk([{"index": 0, "delta": delta, "finish_reason": None}])

    def call(self, *, id_: str, name: str, arguments: str = "") -> dict[str, Any]:
        """A chunk that begins a tool call."""
        self.calls += 1
        function = {"name": name, "arguments": arguments}
        call = {"index": self.calls - 1, "id": id_, "type": "function", "function": function}
        return self.delta(tool_calls=[call])

    def arguments(self, piece: str) -> dict[str, Any]:
        """A chunk that adds to the arguments of the last tool call."""
        part = {"index": max(self.calls - 1, 0), "function": {"arguments": piece}}
        return self.delta(tool_calls=[part])

    def end(self, reason: str, usage: Usage) -> list[dict[str, Any]]:
        """The chunks that end the message and report its cost."""
        last = self._chunk([{"index": 0, "delta": {}, "finish_reason": reason}])
        cost = {"usage": usage.as_json()}
        return [last, {**self._chunk([]), **cost}] if self.apart else [{**last, **cost}]

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


def completion(*, model: str, message: dict[str, Any], finish: str, usage: Usage) -> dict[str, Any]:
    """A whole answer."""
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage.as_json(),
    }


def assistant(
    *, text: str, reasoning: str = "", calls: list[tuple[str, str, str]] | None = None
) -> dict[str, Any]:
    """The message of an answer; each call is given by id, name and arguments in JSON."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["content"] = text or None
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ]
    return message


def models_list(names: list[str], *, owner: str) -> dict[str, Any]:
    """A list of models."""
    rows = [{"id": name, "object": "model", "created": 0, "owned_by": owner} for name in names]
    return {"object": "list", "data": rows}


def event(chunk: dict[str, Any]) -> bytes:
    """A chunk as a server-sent event."""
    return b"data: " + as_bytes(chunk) + b"\n\n"


def as_bytes(value: dict[str, Any]) -> bytes:
    """JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
