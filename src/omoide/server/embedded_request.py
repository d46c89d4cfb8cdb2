"""Reads a request of Chat Completions for the embedded model. A field of the wrong type is refused
by its name; one that the model has no use for is left out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from omoide.ports import Message, Request
from omoide.server.embedded_tools import OfferedTools, call_text
from omoide.server.problems import HttpProblem
from omoide.server.shapes.builders import MAX_INTEGER
from omoide.wire.fields import Fields, refuse

_UNSUPPORTED = ("functions", "logprobs", "audio")
_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
}


@dataclass(frozen=True, kw_only=True)
class EmbeddedChat:
    """What a client asks of the embedded model, and how it wants the answer."""

    request: Request
    tools: OfferedTools | None
    stream: bool
    usage: bool
    """Whether a stream ends with what it cost."""

    @classmethod
    def read(cls, body: bytes, *, max_tokens: int, penalty: float) -> EmbeddedChat:
        """Read a body; the limit and the frequency penalty are for one that names none. Raises
        `HttpProblem` or `Unconvertible`, naming the field, for what the model cannot do."""
        fields = Fields(json.loads(body))
        tools = OfferedTools.read(fields)
        request = _request(fields, max_tokens=max_tokens, penalty=penalty)
        return cls(
            request=request if tools is None else _with_tools(request, tools),
            tools=tools,
            stream=bool(fields.flag("stream")),
            usage=bool(fields.nested("stream_options").flag("include_usage")),
        )


def _request(fields: Fields, *, max_tokens: int, penalty: float) -> Request:
    for name in _UNSUPPORTED:
        if fields.take(name):
            raise HttpProblem(
                400, "unsupported", f"the embedded model does not support {name}", param=name
            )
    if fields.whole("n") not in (None, 1):
        raise HttpProblem(400, "unsupported", "the embedded model supports only n = 1", param="n")
    limits = [fields.whole(name, least=0) for name in ("max_completion_tokens", "max_tokens")]
    chosen = fields.number("frequency_penalty", least=0)
    messages = tuple(m for row in fields.items("messages") if (m := _message(row)).content)
    if not messages:
        raise HttpProblem(400, "bad-request", "no message contains text", param="messages")
    return Request(
        messages=messages,
        max_tokens=min(limits[0] or limits[1] or max_tokens, MAX_INTEGER),
        temperature=fields.number("temperature", least=0) or 0.0,
        seed=fields.whole("seed"),
        stop=tuple(fields.texts("stop")),
        frequency_penalty=penalty if chosen is None else chosen,
        schema=_schema(fields.nested("response_format")),
    )


def _message(fields: Fields) -> Message:
    role = _ROLES[fields.one_of("role", *_ROLES) or "user"]
    texts = (*_texts(fields), call_text(fields))
    return Message(role=role, content="\n".join(filter(str.strip, texts)))


def _texts(fields: Fields) -> list[str]:
    """The text of a message, or those of its parts that are text."""
    content, where = fields.take("content"), fields.path("content")
    if content is None or isinstance(content, str):
        return [content or ""]
    if not isinstance(content, list):
        refuse(where, "it must be a string or an array of parts")
    parts = (Fields(part, where=f"{where}[{i}]") for i, part in enumerate(content))
    return [part.text("text") or "" for part in parts]


def _schema(wanted: Fields) -> dict[str, Any] | None:
    kind = wanted.one_of("type", "text", "json_object", "json_schema")
    schema = wanted.nested("json_schema").mapping("schema")
    return {"type": "object"} if kind == "json_object" else schema


def _with_tools(request: Request, tools: OfferedTools) -> Request:
    if request.schema is not None:
        raise HttpProblem(
            400,
            "unsupported",
            "the embedded model supports tools or a response_format, not both at once",
            param="response_format",
        )
    about = tools.system_message([message.content for message in request.messages])
    return replace(request, messages=(about, *request.messages), schema=tools.schema)
