"""Anthropic's Messages protocol: `/v1/messages` and `/v1/messages/count_tokens`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.engine.messages import text_of
from omoide.language import estimate_tokens
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.keys import Scope
from omoide.server.problems import HttpProblem, anthropic_error, encoded
from omoide.server.protocols.message_threads import opened
from omoide.server.protocols.messages_request import chat_body
from omoide.server.protocols.threads import threads_of
from omoide.server.protocols.writing import ConvertedRequest
from omoide.server.proxy import converse, may_store

if TYPE_CHECKING:
    from omoide.server.protocols.answer import ChatAnswer, Piece
    from omoide.server.protocols.message_threads import MessageThread

STOP_REASONS = {
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""Anthropic's word for why an answer ended; `end_turn` for any other."""


async def messages(call: RouteCall) -> Response:
    """`/v1/messages`."""
    if call.body.get("max_tokens") is None:
        raise HttpProblem(
            400,
            "missing",
            "max_tokens must be given: the most tokens of the answer, such as 1024",
            param="max_tokens",
        )
    threads = threads_of(call)
    thread = await opened(call.body, threads)
    body = chat_body(thread.body if thread else call.body)
    thinking = call.body.get("thinking")
    enabled = isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
    writer = MessagesWriter(
        prompt=_prompt(body), thinking=enabled, thread=thread if may_store(call) else None
    )
    return await converse(call, ConvertedRequest(body=body, writer=writer, threads=threads))


async def count_tokens(call: RouteCall) -> Response:
    """`/v1/messages/count_tokens`: an estimate, without what memory will add."""
    body = chat_body(call.body)
    return Response(
        encoded({"input_tokens": estimate_tokens(_prompt(body))}), media_type="application/json"
    )


def _prompt(body: dict[str, Any]) -> str:
    """All text that the model will read, tools and their calls included."""
    texts = [text_of(message) for message in body["messages"]]
    calls = [message["tool_calls"] for message in body["messages"] if "tool_calls" in message]
    structured = [encoded(value).decode() for value in (*calls, body.get("tools")) if value]
    return "\n".join([*texts, *structured])


class MessagesWriter:
    """Writes an answer as Anthropic's events, or as one message. A thread is stored before the
    client learns that the answer is complete."""

    media_type = "text/event-stream; charset=utf-8"

    def __init__(self, *, prompt: str, thinking: bool, thread: MessageThread | None) -> None:
        self._thread = thread
        self._id = thread.message_id() if thread else f"msg_{secrets.token_hex(12)}"
        self._prompt = prompt
        self._thinking = thinking
        self._block = -1
        self._open: tuple[str, int] | None = None

    def begin(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.begin`. The upstream counts at the end, so the start has an estimate."""
        usage = {**_usage(answer), "input_tokens": estimate_tokens(self._prompt)}
        message = {**self._message(answer), "stop_reason": None, "usage": usage, "content": []}
        return _event("message_start", message=message)

    def piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.piece`."""
        kind = "text" if piece.kind == "refusal" else piece.kind
        if kind == "reasoning" and not self._thinking:
            return b""
        written = b""
        if self._open != (kind, piece.call):
            written += self._close()
            self._open, self._block = (kind, piece.call), self._block + 1
            block = _new_block(kind, piece.call, answer)
            written += _event("content_block_start", index=self._block, content_block=block)
        delta = _delta(kind, piece.text)
        return written + _event("content_block_delta", index=self._block, delta=delta)

    async def end(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.end`."""
        await self.whole(answer)
        delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        return (
            self._close()
            + _event("message_delta", delta=delta, usage=_usage(answer))
            + _event("message_stop")
        )

    def broken(self, problem: HttpProblem) -> bytes:
        """See `ReplyWriter.broken`."""
        return b"event: error\ndata: " + encoded(anthropic_error(problem)) + b"\n\n"

    async def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """See `ReplyWriter.whole`."""
        content: list[dict[str, Any]] = []
        if answer.reasoning and self._thinking:
            content.append({"type": "thinking", "thinking": answer.reasoning, "signature": ""})
        if text := answer.text or answer.refusal:
            content.append({"type": "text", "text": text})
        content += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
            for call in answer.tool_calls
        ]
        message = {**self._message(answer), "content": content}
        if self._thread is not None:
            await self._thread.keep(message)
        return message

    def _message(self, answer: ChatAnswer) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": [],
            "stop_reason": _stop_reason(answer),
            "stop_sequence": None,
            "usage": _usage(answer),
        }

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        signed = b""
        if self._open[0] == "reasoning":
            delta = {"type": "signature_delta", "signature": ""}
            signed = _event("content_block_delta", index=self._block, delta=delta)
        self._open = None
        return signed + _event("content_block_stop", index=self._block)


def _new_block(kind: str, place: int, answer: ChatAnswer) -> dict[str, Any]:
    if kind == "tool":
        call = answer.tool_calls[place]
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    if kind == "reasoning":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _delta(kind: str, text: str) -> dict[str, str]:
    if kind == "tool":
        return {"type": "input_json_delta", "partial_json": text}
    if kind == "reasoning":
        return {"type": "thinking_delta", "thinking": text}
    return {"type": "text_delta", "text": text}


def _stop_reason(answer: ChatAnswer) -> str:
    if answer.refusal and not answer.text:
        return "refusal"
    return STOP_REASONS.get(answer.finish or "", "tool_use" if answer.tool_calls else "end_turn")


def _usage(answer: ChatAnswer) -> dict[str, int]:
    """Anthropic counts what came from a cache apart; Chat Completions counts it in."""
    return {
        "input_tokens": max(answer.prompt_tokens - answer.cached_tokens, 0),
        "cache_read_input_tokens": answer.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": answer.completion_tokens,
    }


def _event(kind: str, **data: object) -> bytes:
    return f"event: {kind}\ndata: ".encode() + encoded({"type": kind, **data}) + b"\n\n"


ROUTES = (
    RouteSpec(
        method="POST",
        path="/v1/messages",
        handler=messages,
        tag="anthropic",
        about="Anthropic's Messages, with memory",
        needs=frozenset({Scope.READ, Scope.WRITE}),
        takes="MessagesRequest",
        answer="MessagesAnswer",
        also={"text/event-stream": "Event"},
        headers=("X-Omoide-Session", "X-Omoide-Memory"),
        user_fields=("metadata.user_id",),
        fails=(502, 504),
    ),
    RouteSpec(
        method="POST",
        path="/v1/messages/count_tokens",
        handler=count_tokens,
        tag="anthropic",
        about="An estimate of a request's tokens; records nothing",
        needs=frozenset({Scope.READ}),
        takes="MessagesRequest",
        answer="TokenCount",
        user=False,
    ),
)
