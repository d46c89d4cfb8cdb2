"""OpenAI's older Completions protocol: `/v1/completions`. The prompt is a message of the user's."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.keys import Scope
from omoide.server.problems import HttpProblem, encoded, openai_error
from omoide.server.protocols.writing import ConvertedRequest, streamed
from omoide.server.proxy import converse
from omoide.wire.fields import Fields, refuse

if TYPE_CHECKING:
    from starlette.responses import Response

    from omoide.server.protocols.answer import ChatAnswer, Piece

_DONE = b"data: [DONE]\n\n"


async def completions(call: RouteCall) -> Response:
    """`/v1/completions`."""
    usage = call.body.get("stream_options")
    writer = CompletionsWriter(
        created=int(call.context.runtime.clock.now().timestamp()),
        usage=isinstance(usage, dict) and bool(usage.get("include_usage")),
    )
    return await converse(
        call, ConvertedRequest(body=chat_body(call.body), writer=writer, openai=True)
    )


def chat_body(body: dict[str, Any]) -> dict[str, Any]:
    """The chat that a completion is made from. Raises `HttpProblem` for what a chat cannot do."""
    fields = Fields(body)
    chat: dict[str, Any] = {
        "model": fields.text("model"),
        "messages": [{"role": "user", "content": _prompt(fields.take("prompt"))}],
        "max_completion_tokens": fields.whole("max_tokens", least=0),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "stop": fields.texts("stop") or None,
        "seed": fields.whole("seed"),
        "presence_penalty": fields.number("presence_penalty"),
        "frequency_penalty": fields.number("frequency_penalty"),
        "logit_bias": fields.mapping("logit_bias"),
        "user": fields.text("user"),
    }
    fields.refuse("suffix", "a chat cannot fill in the middle", unless=("",))
    fields.refuse("echo", "a chat does not repeat its prompt", unless=(False,))
    fields.refuse("logprobs", "they are not passed on", unless=(0,))
    fields.refuse("best_of", "there is one answer", unless=(1,))
    fields.refuse("n", "there is one answer", unless=(1,))
    fields.ignore("stream_options")
    stream = fields.flag("stream")
    fields.close()
    return streamed(chat, stream)


def _prompt(prompt: object) -> str:
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str):
        refuse("prompt", "it must be one string: several prompts, or tokens, are not a chat")
    return prompt


class CompletionsWriter:
    """Writes an answer as a text completion."""

    media_type = "text/event-stream; charset=utf-8"

    def __init__(self, *, created: int, usage: bool) -> None:
        self._id = f"cmpl-{secrets.token_hex(12)}"
        self._created = created
        self._usage = usage

    def begin(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.begin`."""
        del answer
        return b""

    def piece(self, piece: Piece, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.piece`."""
        if piece.kind not in ("text", "refusal"):
            return b""
        return _data({**self._head(answer), "choices": [_choice(piece.text, None)]})

    async def end(self, answer: ChatAnswer) -> bytes:
        """See `ReplyWriter.end`."""
        written = _data({**self._head(answer), "choices": [_choice("", _finish(answer))]})
        if self._usage:
            written += _data({**self._head(answer), "choices": [], "usage": _counts(answer)})
        return written + _DONE

    def broken(self, problem: HttpProblem) -> bytes:
        """See `ReplyWriter.broken`."""
        return _data(openai_error(problem))

    async def whole(self, answer: ChatAnswer) -> dict[str, Any]:
        """See `ReplyWriter.whole`."""
        choice = _choice(answer.text or answer.refusal, _finish(answer))
        return {**self._head(answer), "choices": [choice], "usage": _counts(answer)}

    def _head(self, answer: ChatAnswer) -> dict[str, Any]:
        head = {"id": self._id, "object": "text_completion", "created": self._created}
        return {**head, "model": answer.model}


def _finish(answer: ChatAnswer) -> str:
    return answer.finish if answer.finish in ("length", "content_filter") else "stop"


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": finish}


def _counts(answer: ChatAnswer) -> dict[str, int]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
    }


def _data(value: dict[str, Any]) -> bytes:
    return b"data: " + encoded(value) + b"\n\n"


ROUTES = (
    RouteSpec(
        method="POST",
        path="/v1/completions",
        handler=completions,
        tag="openai",
        about="OpenAI's Completions, with memory",
        needs=frozenset({Scope.READ, Scope.WRITE}),
        takes="CompletionsRequest",
        answer="CompletionsAnswer",
        also={"text/event-stream": "Event"},
        headers=("X-Omoide-Session", "X-Omoide-Memory"),
        fails=(502, 504),
    ),
)
