"""Writes an answer as OpenAI's Responses protocol does: as events, or as one response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.server.problems import HttpProblem, encoded, openai_error
from omoide.server.protocols.threads import new_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.server.protocols.answer import ChatAnswer, Piece

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why a response is incomplete, by the chat's finish reason."""


class ResponsesWriter:
    """Writes a response. `keep` stores it, before the client learns that it is complete, and says
    whether that worked."""

    media_type = "text/event-stream; charset=utf-8"

    def __init__(
        self,
        *,
        thread: str,
        echo: dict[str, Any],
        created: int,
        keep: Callable[[dict[str, Any]], Awaitable[bool]],
    ) -> None:
        self._thread = thread
        self._echo = echo
        self._keep = keep
        self._base = {
            "id": new_id("resp", thread),
            "object": "response",
            "created_at": created,
        }
        self._number = 0
        self._items: list[dict[str, Any]] = []
        self._calls: dict[int, int] = {}
        self._open: int | None = None
        self._pieces: list[str] = []
        """Of the open item's last text."""

    def begin(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.begin`."""
        response = self._response(answer, status="in_progress")
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.piece`. Reasoning is not passed on."""
        if piece.kind == "tool":
            return self._tool_piece(piece, answer)
        return b"" if piece.kind == "reasoning" else self._text_piece(piece.kind, piece.text)

    async def end(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.end`."""
        written = b"" if self._items else self._text_piece("text", "")
        written += self._close()
        response = await self._kept(self._response(answer, status=_status(answer)))
        return written + self._event(f"response.{response['status']}", response=response)

    def broken(self, problem: HttpProblem) -> bytes:
        """See `ReplyWriter.broken`. The second event is the one that clients raise."""
        self._join()
        response = {
            **self._shape(),
            "status": "failed",
            "error": {"code": "server_error", "message": problem.detail},
            "output": self._items,
        }
        error = openai_error(problem)["error"]
        flat = error if isinstance(error, dict) else {}
        return self._event("response.failed", response=response) + self._event(
            "error",
            code=flat.get("code"),
            message=problem.detail,
            param=problem.param,
            error=error,
        )

    async def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """See `ReplyWriter.whole`."""
        for kind, text in (("text", answer.text), ("refusal", answer.refusal)):
            if text:
                self._text_piece(kind, text)
        for place, call in enumerate(answer.tool_calls):
            self._open_call(place, answer)
            self._pieces.append(call.arguments)
        if not self._items:
            self._text_piece("text", "")
        self._close()
        return await self._kept(self._response(answer, status=_status(answer)))

    async def _kept(self, response: dict[str, Any]) -> dict[str, Any]:
        return response if await self._keep(response) else {**response, "store": False}

    def _response(self, answer: ChatAnswer, *, status: str) -> dict[str, Any]:
        response = {**self._shape(), "status": status, "model": answer.model}
        if status == "in_progress":
            return response
        reason = INCOMPLETE.get(answer.finish or "")
        return {
            **response,
            "incomplete_details": {"reason": reason} if reason else None,
            "output": self._items,
            "usage": {
                "input_tokens": answer.prompt_tokens,
                "input_tokens_details": {
                    "cached_tokens": answer.cached_tokens,
                    "cache_write_tokens": 0,
                },
                "output_tokens": answer.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
                "total_tokens": answer.prompt_tokens + answer.completion_tokens,
            },
        }

    def _shape(self) -> dict[str, Any]:
        return {**_DEFAULTS, **{k: v for k, v in self._echo.items() if v is not None}, **self._base}

    def _text_piece(self, kind: str, text: str) -> bytes:
        written, name = b"", "output_text" if kind == "text" else "refusal"
        item = self._items[self._open] if self._open is not None else {}
        if item.get("type") != "message":
            written += self._close()
            item = {
                "id": new_id("msg", self._thread),
                "type": "message",
                "role": "assistant",
                "status": "in_progress",
                "content": [],
            }
            written += self._added(item)
        if not item["content"] or item["content"][-1]["type"] != name:
            written += self._close_part()
            empty = {"type": name, "text": "", "annotations": [], "logprobs": []}
            part = empty if kind == "text" else {"type": name, "refusal": ""}
            item["content"].append(part)
            written += self._event("response.content_part.added", **self._at(), part=part)
        self._pieces.append(text)
        more: dict[str, Any] = {"logprobs": []} if kind == "text" else {}
        return written + self._event(f"response.{name}.delta", **self._at(), delta=text, **more)

    def _tool_piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        written = b""
        if piece.call not in self._calls:
            written += self._open_call(piece.call, answer)
        place = self._calls[piece.call]
        item = self._items[place]
        if place == self._open:
            self._pieces.append(piece.text)
        else:  # calls that come by turns, which is rare
            item["arguments"] += piece.text
        return written + self._event(
            "response.function_call_arguments.delta",
            item_id=item["id"],
            output_index=place,
            delta=piece.text,
        )

    def _open_call(self, place: int, answer: ChatAnswer) -> bytes:
        call, written = answer.tool_calls[place], self._close()
        self._calls[place] = len(self._items)
        return written + self._added(
            {
                "id": new_id("fc", self._thread),
                "type": "function_call",
                "status": "in_progress",
                "call_id": call.id,
                "name": call.name,
                "arguments": "",
            }
        )

    def _added(self, item: dict[str, Any]) -> bytes:
        self._open = len(self._items)
        self._items.append(item)
        return self._event("response.output_item.added", output_index=self._open, item=item)

    def _join(self) -> None:
        """Put the pieces together where they belong: adding each would take quadratic time."""
        if self._open is not None and self._pieces:
            item = self._items[self._open]
            part = item["content"][-1] if item["type"] == "message" else item
            field = {"output_text": "text", "refusal": "refusal"}.get(part["type"], "arguments")
            part[field] += "".join(self._pieces)
        self._pieces = []

    def _close(self) -> bytes:
        """Finish the open item."""
        self._join()
        if self._open is None:
            return b""
        item = self._items[self._open]
        if item["type"] == "message":
            written = self._close_part()
        else:
            written = self._event(
                "response.function_call_arguments.done",
                item_id=item["id"],
                output_index=self._open,
                name=item["name"],
                arguments=item["arguments"],
            )
        item["status"] = "completed"
        written += self._event("response.output_item.done", output_index=self._open, item=item)
        self._open = None
        return written

    def _close_part(self) -> bytes:
        """Finish the last part of the open message."""
        self._join()
        content = self._items[self._open]["content"] if self._open is not None else []
        if not content:
            return b""
        part = content[-1]
        field = "text" if part["type"] == "output_text" else "refusal"
        done = {field: part[field], **({"logprobs": []} if field == "text" else {})}
        return self._event(f"response.{part['type']}.done", **self._at(), **done) + self._event(
            "response.content_part.done", **self._at(), part=part
        )

    def _at(self) -> dict[str, Any]:
        """Where the last part of the open message is."""
        place = self._open or 0
        item = self._items[place]
        index = max(len(item["content"]) - 1, 0)
        return {"item_id": item["id"], "output_index": place, "content_index": index}

    def _event(self, kind: str, **data: object) -> bytes:
        event = {"type": kind, "sequence_number": self._number, **data}
        self._number += 1
        return f"event: {kind}\ndata: ".encode() + encoded(event) + b"\n\n"


def _status(answer: ChatAnswer) -> str:
    return "incomplete" if answer.finish in INCOMPLETE else "completed"


_DEFAULTS: dict[str, Any] = {
    "status": "in_progress",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "model": "",
    "output": [],
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "usage": None,
    "user": None,
}
