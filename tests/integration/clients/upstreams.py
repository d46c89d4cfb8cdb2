"""Endpoints of other protocols for the server to be tested with. What they answer is built with the
vendors' own types, and what they are asked is checked with them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import ollama
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParams
from pydantic import TypeAdapter

from omoide.testing.endpoint import FakeEndpoint, Scripted

from .upstream_responses import Responses

if TYPE_CHECKING:
    import asyncio

    from omoide.testing.endpoint import Received

Call = tuple[str, str, dict[str, Any]]
"""Id, name and arguments of a tool call."""
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
ASKED: TypeAdapter[Any] = TypeAdapter(MessageCreateParams)


class Vendor(Protocol):
    """How a vendor's endpoint answers, and what it was asked."""

    name: str
    path: str
    """Of a chat."""
    reasons: ClassVar[dict[str, str]]
    """Its word for each of Chat Completions' reasons to end."""

    def whole(self, text: str, *, calls: tuple[Call, ...] = (), finish: str = "stop") -> Scripted:
        """A whole answer: 11 tokens of prompt, 3 of completion."""

    def stream(
        self, *pieces: str | asyncio.Event, calls: tuple[Call, ...] = (), thought: str = ""
    ) -> Scripted:
        """A streamed answer."""

    def failure(self, status: int, message: str) -> Scripted:
        """An error."""

    def models(self) -> Scripted:
        """Its list of models: one, called `fake-1`."""

    def check(self, body: dict[str, Any]) -> None:
        """Raise if the vendor's own types do not allow this request."""

    def texts(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """Role and text of each message, the system prompt first."""


class Anthropic:
    """Anthropic's Messages."""

    name, path = "anthropic", "/v1/messages"
    reasons: ClassVar[dict[str, str]] = {
        "length": "max_tokens",
        "content_filter": "refusal",
        "stop": "end_turn",
    }

    def _message(self, content: list[dict[str, Any]], stop: str | None) -> dict[str, Any]:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake-1",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 4, "cache_read_input_tokens": 7, "output_tokens": 3},
        }
        Message.model_validate(message)
        return message

    def whole(self, text: str, *, calls: tuple[Call, ...] = (), finish: str = "stop") -> Scripted:
        """See `Vendor.whole`."""
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "tool_use", "id": id_, "name": name, "input": arguments}
            for id_, name, arguments in calls
        ]
        stop = "tool_use" if calls else self.reasons[finish]
        return Scripted(blocks=(json.dumps(self._message(content, stop)).encode(),))

    def stream(
        self, *pieces: str | asyncio.Event, calls: tuple[Call, ...] = (), thought: str = ""
    ) -> Scripted:
        """See `Vendor.stream`."""
        blocks: list[bytes | asyncio.Event] = [
            _event("message_start", message=self._message([], None)),
            _event("ping", check=False),
        ]
        index = 0
        if thought:
            blank = {"type": "thinking", "thinking": "", "signature": ""}
            blocks += _block(index, blank, [{"type": "thinking_delta", "thinking": thought}])
            index += 1
        if pieces:
            begin: dict[str, Any] = {"type": "text", "text": ""}
            blocks.append(_event("content_block_start", index=index, content_block=begin))
            for piece in pieces:
                if isinstance(piece, str):
                    delta = {"type": "text_delta", "text": piece}
                    blocks.append(_event("content_block_delta", index=index, delta=delta))
                else:
                    blocks.append(piece)
            blocks.append(_event("content_block_stop", index=index))
            index += 1
        for id_, name, arguments in calls:
            text = json.dumps(arguments)
            begin = {"type": "tool_use", "id": id_, "name": name, "input": {}}
            parts = [
                {"type": "input_json_delta", "partial_json": part} for part in (text[:5], text[5:])
            ]
            blocks += _block(index, begin, parts)
            index += 1
        end: dict[str, Any] = {
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
        }
        blocks += [
            _event("message_delta", delta=end, usage={"output_tokens": 3}),
            _event("message_stop"),
        ]
        return Scripted(media_type="text/event-stream", blocks=tuple(blocks))

    def failure(self, status: int, message: str) -> Scripted:
        """See `Vendor.failure`."""
        error = {"type": "error", "error": {"type": "rate_limit_error", "message": message}}
        return Scripted(
            status=status, blocks=(json.dumps(error).encode(),), headers={"retry-after": "7"}
        )

    def models(self) -> Scripted:
        """See `Vendor.models`."""
        row = {"id": "fake-1", "type": "model", "display_name": "Fake", "created_at": "2026-01-01"}
        return Scripted(blocks=(json.dumps({"data": [row], "has_more": False}).encode(),))

    def check(self, body: dict[str, Any]) -> None:
        """See `Vendor.check`."""
        ASKED.validate_python(body)
        roles = [message["role"] for message in body["messages"]]
        assert roles[0] == "user"
        assert all(one != other for one, other in pairwise(roles))

    def texts(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """See `Vendor.texts`."""
        found = [("system", body["system"])] if "system" in body else []
        for message in body["messages"]:
            for block in message["content"]:
                if block["type"] == "text":
                    found.append((message["role"], block["text"]))
                elif block["type"] == "tool_result":
                    found.append(("tool", block["content"][0]["text"]))
        return found


class Ollama:
    """Ollama's chat."""

    name, path = "ollama", "/api/chat"
    reasons: ClassVar[dict[str, str]] = {"length": "length", "stop": "stop"}

    def _line(self, message: dict[str, Any], **more: object) -> bytes:
        now = "2026-01-01T00:00:00Z"
        line = {"model": "fake-1", "created_at": now, "message": message, "done": False, **more}
        ollama.ChatResponse.model_validate(line)
        return json.dumps(line).encode() + b"\n"

    def _done(self, finish: str) -> dict[str, Any]:
        counts = {"prompt_eval_count": 11, "eval_count": 3, "total_duration": 5}
        return {"done": True, "done_reason": self.reasons[finish], **counts}

    def _calls(self, calls: tuple[Call, ...]) -> dict[str, Any]:
        made = [{"function": {"name": name, "arguments": given}} for _, name, given in calls]
        return {"tool_calls": made} if made else {}

    def whole(self, text: str, *, calls: tuple[Call, ...] = (), finish: str = "stop") -> Scripted:
        """See `Vendor.whole`. Ollama's tool calls have no ids."""
        message = {"role": "assistant", "content": text, **self._calls(calls)}
        return Scripted(blocks=(self._line(message, **self._done(finish)),))

    def stream(
        self, *pieces: str | asyncio.Event, calls: tuple[Call, ...] = (), thought: str = ""
    ) -> Scripted:
        """See `Vendor.stream`."""
        blocks: list[bytes | asyncio.Event] = []
        if thought:
            blocks.append(self._line({"role": "assistant", "content": "", "thinking": thought}))
        for piece in pieces:
            said = {"role": "assistant", "content": piece}
            blocks.append(self._line(said) if isinstance(piece, str) else piece)
        if calls:
            blocks.append(self._line({"role": "assistant", "content": "", **self._calls(calls)}))
        blocks.append(self._line({"role": "assistant", "content": ""}, **self._done("stop")))
        return Scripted(media_type="application/x-ndjson", blocks=tuple(blocks))

    def failure(self, status: int, message: str) -> Scripted:
        """See `Vendor.failure`."""
        body = json.dumps({"error": message}).encode()
        return Scripted(status=status, blocks=(body,), headers={"retry-after": "7"})

    def models(self) -> Scripted:
        """See `Vendor.models`."""
        body = {"models": [{"name": "fake-1", "model": "fake-1", "size": 1}]}
        ollama.ListResponse.model_validate(body)
        return Scripted(blocks=(json.dumps(body).encode(),))

    def check(self, body: dict[str, Any]) -> None:
        """See `Vendor.check`."""
        ollama._types.ChatRequest.model_validate(body)
        ollama.Options.model_validate(body.get("options", {}), extra="forbid")

    def texts(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """See `Vendor.texts`."""
        return [(message["role"], message["content"]) for message in body["messages"]]


VENDORS: tuple[type[Vendor], ...] = (Anthropic, Ollama, Responses)


class VendorEndpoint(FakeEndpoint):
    """An endpoint that speaks a vendor's protocol: answers "I see." unless scripted."""

    def __init__(self, vendor: Vendor) -> None:
        super().__init__()
        self.vendor = vendor

    @property
    def address(self) -> str:
        """As `omoide serve --upstream` takes it."""
        return f"{self.vendor.name}+{self.url.removesuffix('/v1')}"

    def _next(self, received: Received) -> Scripted:
        if received.method == "GET":
            return self.vendor.models()
        if self.answers:
            return self.answers.popleft()
        assert received.path == self.vendor.path
        return (
            self.vendor.stream("I ", "see.")
            if received.body.get("stream")
            else self.vendor.whole("I see.")
        )


def _event(kind: str, *, check: bool = True, **data: Any) -> bytes:  # noqa: ANN401 - any JSON
    item = {"type": kind, **data}
    if check:
        EVENT.validate_python(item)
    return f"event: {kind}\ndata: {json.dumps(item)}\n\n".encode()


def _block(index: int, begin: dict[str, Any], deltas: list[dict[str, Any]]) -> list[bytes]:
    return [
        _event("content_block_start", index=index, content_block=begin),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]
