"""Converts a chat into a request of OpenAI's Responses protocol."""

from __future__ import annotations

from typing import Any

from omoide.wire.chat_request import ChatMessageFields, refuse_what_only_openai_has
from omoide.wire.fields import Fields, refuse

PASSED = ("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier")
"""Fields that both protocols have, besides those that are checked."""
_NOT_THERE = (
    *("stop", "seed", "frequency_penalty", "presence_penalty"),
    *("top_k", "min_p", "typical_p", "repeat_penalty"),
)


def responses_body(chat: dict[str, Any]) -> dict[str, Any]:
    """The request for a response to a chat. Raises `Unconvertible`, naming the field, for what
    Responses have no counterpart to. Nothing is stored there unless the chat asks for it."""
    fields = Fields(chat)
    limit, older = fields.whole("max_completion_tokens"), fields.whole("max_tokens")
    effort = fields.text("reasoning_effort")
    tools = [_tool(tool) for tool in fields.items("tools")]
    choice = _choice(fields.take("tool_choice"))
    parallel = fields.flag("parallel_tool_calls")
    body = {
        "model": fields.needed("model"),
        "input": [item for row in fields.items("messages") for item in _items(row)],
        "max_output_tokens": limit or older,
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "reasoning": None if effort is None else {"effort": effort},
        "text": _text_options(fields),
        "tools": tools or None,
        "tool_choice": choice if tools else None,
        "parallel_tool_calls": parallel if tools else None,
        "user": fields.text("user"),
        "service_tier": fields.text("service_tier"),
        **{name: fields.take(name) for name in PASSED},
        "store": bool(fields.flag("store")),
        "stream": fields.flag("stream") or None,
    }
    for name in _NOT_THERE:
        fields.refuse(name, "OpenAI's Responses have no such option", unless=(0, []))
    refuse_what_only_openai_has(fields)
    fields.close()
    return {name: value for name, value in body.items() if value is not None}


def _items(row: Fields) -> list[dict[str, Any]]:
    """The items of one message: its calls of tools are items of their own."""
    message = ChatMessageFields.of(row)
    if message.role == "tool":
        output = [_part(part) for part in message.parts]
        if all(part["type"] == "input_text" for part in output):
            output = "\n\n".join(part["text"] for part in output)  # type: ignore[assignment]
        return [{"type": "function_call_output", "call_id": message.call_id, "output": output}]
    if message.role == "user":
        return [{"role": "user", "content": [_part(part) for part in message.parts]}]
    text = message.plain_text()
    said = [{"role": message.role, "content": text}] if text else []
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.calls
    ]
    return [*said, *calls]


def _part(part: Fields) -> dict[str, Any]:
    """One part of a message's content."""
    kind = part.needed("type")
    made: dict[str, Any]
    if kind == "text":
        made = {"type": "input_text", "text": part.needed("text")}
    elif kind == "image_url":
        image = part.nested("image_url")
        detail = image.text("detail") or "auto"
        made = {"type": "input_image", "image_url": image.needed("url"), "detail": detail}
        image.close()
    elif kind == "file":
        file = part.nested("file")
        named = {name: file.text(name) for name in ("filename", "file_data", "file_id")}
        made = {"type": "input_file", **{k: v for k, v in named.items() if v is not None}}
        file.close()
    else:
        refuse(part.path("type"), f"OpenAI's Responses have no counterpart to {kind[:40]!r}")
    part.ignore("cache_control")
    part.close()
    return made


def _tool(tool: Fields) -> dict[str, Any]:
    """A function. Unlike in a chat, one is strict there unless it says otherwise."""
    tool.one_of("type", "function")
    function = tool.nested("function")
    made = {
        "type": "function",
        "name": function.needed("name"),
        "description": function.text("description"),
        "parameters": function.mapping("parameters") or {"type": "object", "properties": {}},
        "strict": bool(function.flag("strict")),
    }
    function.close()
    tool.close()
    return {name: value for name, value in made.items() if value is not None}


def _choice(wanted: object) -> object:
    if wanted is None or wanted in ("auto", "none", "required"):
        return wanted
    if not isinstance(wanted, dict):
        refuse("tool_choice", "it must be auto, none, required or a function")
    named = Fields(wanted, where="tool_choice")
    named.one_of("type", "function")
    choice = {"type": "function", "name": named.nested("function").needed("name")}
    named.close()
    return choice


def _text_options(fields: Fields) -> dict[str, Any] | None:
    """How the text is to be: its format, and how long-winded."""
    wanted = fields.nested("response_format")
    options: dict[str, Any] = {"verbosity": fields.text("verbosity")}
    kind = wanted.one_of("type", "text", "json_object", "json_schema")
    if kind == "json_schema":
        named = wanted.nested("json_schema")
        shape = {
            "type": kind,
            "name": named.text("name") or "answer",
            "schema": named.mapping("schema") or {"type": "object"},
            "strict": named.flag("strict"),
            "description": named.text("description"),
        }
        named.close()
        options["format"] = {name: value for name, value in shape.items() if value is not None}
    elif kind == "json_object":
        options["format"] = {"type": kind}
    wanted.close()
    return {name: value for name, value in options.items() if value is not None} or None
