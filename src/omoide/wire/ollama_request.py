"""Converts a chat into a request of Ollama's protocol."""

from __future__ import annotations

from typing import Any

from omoide.wire.chat_request import (
    ChatMessageFields,
    arguments_of,
    data_url,
    refuse_what_only_openai_has,
)
from omoide.wire.fields import Fields, refuse

SAMPLING = tuple(
    "temperature top_p top_k min_p typical_p repeat_penalty presence_penalty frequency_penalty "
    "seed".split()
)
"""Options that have the same name in both protocols."""
_THINK: dict[str, bool | str] = {"none": False, "minimal": "low", "xhigh": "high", "max": "high"}


def chat_request(chat: dict[str, Any]) -> dict[str, Any]:
    """The request of `/api/chat` for a chat. Raises `Unconvertible`, naming the field, for what
    Ollama has no counterpart to."""
    fields = Fields(chat)
    limit, older = fields.whole("max_completion_tokens"), fields.whole("max_tokens")
    options = {
        **{name: fields.number(name) for name in SAMPLING},
        "num_predict": limit or older,
        "stop": fields.texts("stop") or None,
    }
    effort = fields.text("reasoning_effort")
    body = {
        "model": fields.needed("model"),
        "messages": _messages(fields.items("messages")),
        "tools": _tools(fields),
        "format": _format(fields.nested("response_format")),
        "think": None if effort is None else _THINK.get(effort, effort),
        "options": {k: v for k, v in options.items() if v is not None} or None,
    }
    stream = bool(fields.flag("stream"))
    fields.ignore("user")
    refuse_what_only_openai_has(fields)
    fields.close()
    return {**{k: v for k, v in body.items() if v is not None}, "stream": stream}


def _messages(rows: list[Fields]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for row in rows:
        message = ChatMessageFields.of(row)
        role = "system" if message.role == "developer" else message.role
        texts, images = _content(message.parts)
        made: dict[str, Any] = {"role": role, "content": "\n\n".join(texts)}
        if images:
            made["images"] = images
        if message.reasoning and role == "assistant":
            made["thinking"] = message.reasoning
        if message.calls:
            names |= {call.id: call.name for call in message.calls}
            made["tool_calls"] = [
                {"id": c.id, "function": {"name": c.name, "arguments": arguments_of(c)}}
                for c in message.calls
            ]
        if role == "tool":
            made |= {"tool_call_id": message.call_id}
            if message.call_id in names:
                made["tool_name"] = names[message.call_id]
        messages.append(made)
    return messages


def _content(parts: list[Fields]) -> tuple[list[str], list[str]]:
    """Texts, and images in base64."""
    texts: list[str] = []
    images: list[str] = []
    for part in parts:
        kind = part.needed("type")
        if kind == "text":
            texts.append(part.needed("text"))
        elif kind == "image_url":
            image = part.nested("image_url")
            where = image.path("url")
            data = data_url(image.needed("url"))
            if data is None:
                refuse(where, "Ollama fetches no images; give it as a data: URL in base64")
            images.append(data[1])
            image.ignore("detail")
            image.close()
        else:
            refuse(part.path("type"), f"Ollama has no counterpart to {kind[:40]!r}")
        part.ignore("cache_control")
        part.close()
    return texts, images


def _tools(fields: Fields) -> list[dict[str, Any]] | None:
    tools = []
    for tool in fields.items("tools"):
        tool.one_of("type", "function")
        function = tool.mapping("function") or {}
        tool.close()
        made = {name: value for name, value in function.items() if name != "strict"}
        tools.append({"type": "function", "function": made})
    choice = fields.take("tool_choice")
    if choice not in (None, "auto", "none"):
        refuse("tool_choice", "Ollama's models choose themselves: auto or none")
    fields.refuse("parallel_tool_calls", "Ollama's models decide that", unless=(True,))
    return tools if tools and choice != "none" else None


def _format(wanted: Fields) -> str | dict[str, Any] | None:
    kind = wanted.one_of("type", "text", "json_schema", "json_object")
    named = wanted.nested("json_schema")
    shape = named.mapping("schema")
    named.ignore("name", "strict", "description")
    named.close()
    wanted.close()
    if kind == "json_schema":
        return shape or "json"
    return "json" if kind == "json_object" else None
