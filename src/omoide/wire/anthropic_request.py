"""Converts a chat into a request of Anthropic's Messages protocol."""

from __future__ import annotations

from typing import Any

from omoide.wire.chat_request import (
    ChatMessageFields,
    arguments_of,
    data_url,
    refuse_what_only_openai_has,
)
from omoide.wire.fields import Fields, refuse, wrong_type

MAX_TOKENS = 4096
"""Of an answer, where the client sets no limit: Anthropic's protocol asks for one."""
_EFFORT = {"none": None, "minimal": "low"}
_FILES = ("application/pdf",)


def messages_body(chat: dict[str, Any]) -> dict[str, Any]:
    """The Messages request for a chat. Raises `Unconvertible`, naming the field, for what Anthropic
    has no counterpart to."""
    fields = Fields(chat)
    system, messages = _conversation(fields.items("messages"))
    limit, older = fields.whole("max_completion_tokens"), fields.whole("max_tokens")
    choice, tools = _tools(fields)
    user = fields.text("user")
    body = {
        "model": fields.needed("model"),
        "max_tokens": limit or older or MAX_TOKENS,
        "system": "\n\n".join(system) or None,
        "messages": messages,
        "temperature": _temperature(fields),
        "top_p": fields.number("top_p"),
        "top_k": fields.whole("top_k"),
        "stop_sequences": fields.texts("stop") or None,
        "tools": tools,
        "tool_choice": choice,
        "output_config": _output(fields),
        "metadata": {"user_id": user} if user else None,
        "stream": fields.flag("stream") or None,
    }
    for name in ("frequency_penalty", "presence_penalty"):
        fields.refuse(name, "Anthropic has no penalties", unless=(0,))
    for name in ("seed", "min_p", "typical_p", "repeat_penalty"):
        fields.refuse(name, "Anthropic has no such option")
    refuse_what_only_openai_has(fields)
    fields.close()
    return {name: value for name, value in body.items() if value is not None}


def _conversation(rows: list[Fields]) -> tuple[list[str], list[dict[str, Any]]]:
    """The system prompts, and the messages. The results of tools and what the user says after them
    are one message there."""
    system: list[str] = []
    messages: list[dict[str, Any]] = []
    for row in rows:
        message = ChatMessageFields.of(row)
        if message.role in ("system", "developer"):
            system.append(message.plain_text())
            continue
        role, blocks = "user", []
        if message.role == "tool":
            result = {"type": "tool_result", "tool_use_id": message.call_id}
            blocks = [{**result, "content": [_block(part) for part in message.parts]}]
        elif message.role == "assistant":
            role, blocks = "assistant", _answered(message)
        else:
            blocks = [_block(part) for part in message.parts]
        if not blocks:
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    return system, messages


def _answered(message: ChatMessageFields) -> list[dict[str, Any]]:
    text = message.plain_text()
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
    for call in message.calls:
        arguments = arguments_of(call)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def _block(part: Fields) -> dict[str, Any]:
    """One part of a message's content."""
    kind = part.needed("type")
    if kind == "text":
        block: dict[str, Any] = {"type": "text", "text": part.needed("text")}
    elif kind == "image_url":
        image = part.nested("image_url")
        url = image.needed("url")
        image.ignore("detail")
        image.close()
        block = {"type": "image", "source": _source(url)}
    elif kind == "file":
        file = part.nested("file")
        source = _source(file.needed("file_data"))
        if source.get("media_type") not in _FILES:
            refuse(file.path("file_data"), "Anthropic takes files of PDF only")
        block = {"type": "document", "source": source, "title": file.text("filename")}
        block = {name: value for name, value in block.items() if value is not None}
        file.close()
    else:
        refuse(part.path("type"), f"Anthropic has no counterpart to {kind[:40]!r}")
    part.ignore("cache_control")
    part.close()
    return block


def _source(url: str) -> dict[str, Any]:
    if (data := data_url(url)) is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": data[0], "data": data[1]}


def _temperature(fields: Fields) -> float | None:
    value = fields.number("temperature")
    if value is not None and not 0 <= value <= 1:
        refuse("temperature", "Anthropic's goes from 0 to 1")
    return value


def _tools(fields: Fields) -> tuple[dict[str, Any] | None, list[dict[str, Any]] | None]:
    """The choice of a tool, and the tools."""
    tools = [_tool(tool) for tool in fields.items("tools")]
    wanted, parallel = fields.take("tool_choice"), fields.flag("parallel_tool_calls")
    choice: dict[str, Any] | None = None
    if isinstance(wanted, dict):
        named = Fields(wanted, where="tool_choice")
        named.one_of("type", "function")
        choice = {"type": "tool", "name": named.nested("function").needed("name")}
        named.close()
    elif wanted is not None:
        kinds = {"auto": "auto", "none": "none", "required": "any"}
        if not isinstance(wanted, str) or wanted not in kinds:
            refuse("tool_choice", "it must be auto, none, required or a function")
        choice = {"type": kinds[wanted]}
    if not tools:
        return None, None
    if parallel is False:
        choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
        if choice["type"] == "none":
            choice = {"type": "none"}
    return choice, tools


def _tool(tool: Fields) -> dict[str, Any]:
    tool.one_of("type", "function")
    function = tool.nested("function")
    made = {
        "name": function.needed("name"),
        "description": function.text("description"),
        "input_schema": function.mapping("parameters") or {"type": "object"},
        "strict": function.flag("strict") or None,
    }
    function.close()
    tool.close()
    return {name: value for name, value in made.items() if value is not None}


def _output(fields: Fields) -> dict[str, Any] | None:
    """How hard the model is to think, and the schema of its answer."""
    effort = fields.text("reasoning_effort")
    wanted = fields.nested("response_format")
    kind = wanted.one_of("type", "text", "json_schema", "json_object")
    output: dict[str, Any] = {}
    if effort is not None and (level := _EFFORT.get(effort, effort)):
        output["effort"] = level
    if kind == "json_object":
        refuse("response_format", "Anthropic has no JSON without a schema; give a json_schema")
    if kind == "json_schema":
        schema = wanted.nested("json_schema")
        shape = schema.mapping("schema")
        if shape is None:
            wrong_type(schema.path("schema"), "an object", None)
        output["format"] = {"type": "json_schema", "schema": shape}
        schema.ignore("name", "strict", "description")
        schema.close()
    wanted.close()
    return output or None
