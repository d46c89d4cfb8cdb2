"""An endpoint of OpenAI's Responses protocol for the server to be tested with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParams
from pydantic import TypeAdapter

from omoide.testing.endpoint import Scripted

if TYPE_CHECKING:
    import asyncio

    from .upstreams import Call

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
ASKED: TypeAdapter[Any] = TypeAdapter(ResponseCreateParams)


class Responses:
    """OpenAI's Responses."""

    name, path = "responses", "/v1/responses"
    reasons: ClassVar[dict[str, str]] = {
        "length": "max_output_tokens",
        "content_filter": "content_filter",
        "stop": "",
    }

    def _response(
        self, output: list[dict[str, Any]], *, finish: str = "stop", status: str = "completed"
    ) -> dict[str, Any]:
        reason = self.reasons[finish]
        details: dict[str, Any] = {"cached_tokens": 7, "cache_write_tokens": 0}
        response = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "fake-1",
            "status": "incomplete" if reason else status,
            "incomplete_details": {"reason": reason} if reason else None,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 11,
                "input_tokens_details": details,
                "output_tokens": 3,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 14,
            },
        }
        Response.model_validate(response)
        return response

    def _items(self, text: str, calls: tuple[Call, ...], thought: str = "") -> list[dict[str, Any]]:
        summary = [{"type": "summary_text", "text": thought}]
        thinking: dict[str, Any] = {"id": "rs_1", "type": "reasoning", "summary": summary}
        said: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
        return [
            *([thinking] if thought else ()),
            *([{**message, "content": [said]}] if text else ()),
            *(
                {
                    "id": f"fc_{id_}",
                    "type": "function_call",
                    "call_id": id_,
                    "name": name,
                    "arguments": json.dumps(arguments),
                }
                for id_, name, arguments in calls
            ),
        ]

    def whole(self, text: str, *, calls: tuple[Call, ...] = (), finish: str = "stop") -> Scripted:
        """See `Vendor.whole`."""
        response = self._response(self._items(text, calls), finish=finish)
        return Scripted(blocks=(json.dumps(response).encode(),))

    def stream(
        self, *pieces: str | asyncio.Event, calls: tuple[Call, ...] = (), thought: str = ""
    ) -> Scripted:
        """See `Vendor.stream`."""
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        items = self._items(text, calls, thought)
        blocks: list[bytes | asyncio.Event] = [
            _event("response.created", response=self._response([], status="in_progress"))
        ]
        for place, item in enumerate(items):
            at: dict[str, Any] = {"item_id": item["id"], "output_index": place}
            blank: dict[str, Any] = {"arguments": ""} if "arguments" in item else {"content": []}
            empty = {**item, **blank}
            blocks.append(_event("response.output_item.added", output_index=place, item=empty))
            if item["type"] == "reasoning":
                kind = "response.reasoning_summary_text.delta"
                blocks.append(_event(kind, **at, summary_index=0, delta=thought))
            elif item["type"] == "message":
                kind, spot = "response.output_text.delta", {**at, "content_index": 0}
                blocks += [
                    _event(kind, **spot, delta=piece, logprobs=[])
                    if isinstance(piece, str)
                    else piece
                    for piece in pieces
                ]
            else:
                kind, arguments = "response.function_call_arguments.delta", item["arguments"]
                blocks += [
                    _event(kind, **at, delta=part) for part in (arguments[:5], arguments[5:])
                ]
            blocks.append(_event("response.output_item.done", output_index=place, item=item))
        blocks.append(_event("response.completed", response=self._response(items)))
        return Scripted(media_type="text/event-stream", blocks=tuple(blocks))

    def failure(self, status: int, message: str) -> Scripted:
        """See `Vendor.failure`."""
        error = {"message": message, "type": "rate_limit", "param": None, "code": "rate_limit"}
        body = json.dumps({"error": error}).encode()
        return Scripted(status=status, blocks=(body,), headers={"retry-after": "7"})

    def models(self) -> Scripted:
        """See `Vendor.models`."""
        row = {"id": "fake-1", "object": "model", "created": 0, "owned_by": "x"}
        return Scripted(blocks=(json.dumps({"object": "list", "data": [row]}).encode(),))

    def check(self, body: dict[str, Any]) -> None:
        """See `Vendor.check`. Nothing is stored there."""
        ASKED.validate_python(body)
        assert body["store"] is False

    def texts(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """See `Vendor.texts`."""
        found = []
        for item in body["input"]:
            if item.get("type") == "function_call_output":
                found.append(("tool", item["output"]))
            elif isinstance(content := item.get("content"), str):
                found.append((item["role"], content))
            elif content:
                texts = [part["text"] for part in content if part["type"] == "input_text"]
                found.append((item["role"], "".join(texts)))
        return found


def _event(kind: str, **data: Any) -> bytes:  # noqa: ANN401 - any JSON
    item = {"type": kind, "sequence_number": 0, **data}
    EVENT.validate_python(item)
    return f"event: {kind}\ndata: {json.dumps(item)}\n\n".encode()
