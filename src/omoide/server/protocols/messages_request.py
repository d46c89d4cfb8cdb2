"""Converts a request of Anthropic's Messages protocol into a chat."""

from __future__ import annotations

import json
from typing import Any

from omoide.engine.memory_folder import COMMANDS
from omoide.engine.messages import text_of
from omoide.language import detect_language
from omoide.prompts import render
from omoide.server.problems import HttpProblem
from omoide.server.protocols.writing import streamed
from omoide.wire.fields import Fields, refuse

NO_EFFECT = (
    "cache_control",
    "context_management",
    "diagnostics",
    "inference_geo",
    "service_tier",
    "speed",
    "thinking",
    "user_profile_id",
    "workspace_id",
)
"""Fields that are accepted and change nothing: an upstream of Chat Completions caches, schedules
and thinks as it is configured."""
MEMORY_TOOL = "memory_20250818"
"""The type of Anthropic's memory tool."""
THOUGHTS = ("thinking", "redacted_thinking")
"""Blocks of earlier answers that Chat Completions has no place for. Leaving them out is allowed by
both protocols."""
_EFFORT = ("low", "medium", "high", "xhigh", "max")


def chat_body(body: dict[str, Any]) -> dict[str, Any]:
    """The chat that a Messages request asks for. Raises `HttpProblem` for what has no counterpart
    there, naming the field."""
    fields = Fields(body)
    messages = _system(fields.take("system"))
    for message in fields.items("messages"):
        messages += _messages(message)
    said = [text_of(message) for message in messages if message["role"] == "user"]
    language = detect_language(said[-1] if said else "")
    choice = fields.nested("tool_choice")
    format_, effort = _output(fields.nested("output_config"))
    chat = {
        "model": fields.text("model"),
        "messages": messages,
        "max_completion_tokens": fields.whole("max_tokens", least=0),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "top_k": fields.whole("top_k"),
        "stop": fields.texts("stop_sequences") or None,
        "tools": [_tool(tool, language) for tool in fields.items("tools")] or None,
        "parallel_tool_calls": False if choice.flag("disable_parallel_tool_use") else None,
        "tool_choice": _choice(choice),
        "response_format": format_,
        "reasoning_effort": effort,
        "user": fields.nested("metadata").text("user_id"),
    }
    fields.ignore(*NO_EFFECT)
    fields.refuse("container", "a container is Anthropic's own")
    fields.refuse("mcp_servers", "Chat Completions has no servers of tools", unless=([],))
    stream = fields.flag("stream")
    fields.close()
    return streamed(chat, stream)


def _system(system: object) -> list[dict[str, Any]]:
    if system is None:
        return []
    return [{"role": "system", "content": _texts(system, "system")}]


def _messages(fields: Fields) -> list[dict[str, Any]]:
    """A message as chat messages: the results of tools are messages of their own."""
    role = fields.one_of("role", "user", "assistant", "system") or "user"
    content = fields.take("content")
    where = fields.path("content")
    fields.ignore("cache_control")
    fields.close()
    if role == "system":
        return [{"role": "system", "content": _texts(content, where)}]
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    if not isinstance(content, list):
        refuse(where, "it must be a string or an array of blocks")
    blocks = [Fields(block, where=f"{where}[{i}]") for i, block in enumerate(content)]
    return _said(blocks) if role == "user" else [_answered(blocks)]


def _said(blocks: list[Fields]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for block in blocks:
        kind = block.needed("type")
        block.ignore("cache_control", "citations", "toolset_name")
        if kind == "tool_result":
            results.append(_result(block))
        elif kind == "text":
            parts.append({"type": "text", "text": block.needed("text")})
        elif kind == "image":
            parts.append({"type": "image_url", "image_url": {"url": _url(block.nested("source"))}})
        elif kind == "document":
            parts.append(_document(block))
        else:
            refuse(block.path("type"), f"Chat Completions has no counterpart to {kind[:40]!r}")
        block.close()
    return [*results, {"role": "user", "content": _plain(parts)}] if parts else results


def _answered(blocks: list[Fields]) -> dict[str, Any]:
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in blocks:
        kind = block.needed("type")
        block.ignore("cache_control", "citations", "caller")
        if kind == "text":
            texts.append(block.needed("text"))
        elif kind == "tool_use":
            arguments = json.dumps(block.mapping("input") or {}, ensure_ascii=False)
            function = {"name": block.needed("name"), "arguments": arguments}
            calls.append({"id": block.needed("id"), "type": "function", "function": function})
        elif kind in THOUGHTS:
            block.ignore("thinking", "signature", "data")
        else:
            refuse(block.path("type"), f"Chat Completions has no counterpart to {kind[:40]!r}")
        block.close()
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    return {**message, "tool_calls": calls} if calls else {**message, "content": "".join(texts)}


def _result(block: Fields) -> dict[str, Any]:
    content = block.take("content")
    text = _texts(content, block.path("content")) if content is not None else ""
    if block.flag("is_error"):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": block.needed("tool_use_id"), "content": text}


def _document(block: Fields) -> dict[str, Any]:
    name = block.text("title")
    block.ignore("context")
    source = block.nested("source")
    kind = source.one_of("type", "base64", "text")
    part: dict[str, Any]
    if kind == "text":
        source.ignore("media_type")
        part = {"type": "text", "text": source.needed("data")}
    else:
        data = f"data:{source.needed('media_type')};base64,{source.needed('data')}"
        part = {"type": "file", "file": {"filename": name or "document", "file_data": data}}
    source.close()
    return part


def _url(source: Fields) -> str:
    kind = source.one_of("type", "base64", "url")
    if kind == "url":
        url = source.needed("url")
    else:
        url = f"data:{source.needed('media_type')};base64,{source.needed('data')}"
    source.close()
    return url


def _texts(content: object, where: str) -> str:
    """Text, or blocks that are all text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        refuse(where, "it must be a string or an array of text blocks")
    texts = []
    for i, value in enumerate(content):
        block = Fields(value, where=f"{where}[{i}]")
        if (kind := block.needed("type")) != "text":
            refuse(block.path("type"), f"only text can stand here, not {kind[:40]!r}")
        texts.append(block.needed("text"))
        block.ignore("cache_control", "citations")
        block.close()
    return "\n\n".join(texts)


def _plain(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A single text as a string, which every upstream understands."""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _tool(tool: Fields, language: str) -> dict[str, Any]:
    kind = tool.text("type") or "custom"
    if kind == MEMORY_TOOL:
        tool.ignore("name", "cache_control", "defer_loading", "allowed_callers", "input_examples")
        tool.close()
        return memory_function(language)
    if kind != "custom":
        refuse(tool.path("type"), f"{kind[:40]!r} runs at Anthropic; give a custom tool instead")
    function = {
        "name": tool.needed("name"),
        "description": tool.text("description"),
        "parameters": tool.mapping("input_schema") or {"type": "object"},
        "strict": tool.flag("strict"),
    }
    tool.ignore("cache_control", "eager_input_streaming", "input_examples", "defer_loading")
    tool.refuse("allowed_callers", "only the model can call tools here", unless=(["direct"], []))
    tool.close()
    return {"type": "function", "function": {k: v for k, v in function.items() if v is not None}}


def memory_function(language: str) -> dict[str, Any]:
    """Anthropic's memory tool as a function that any model can call: the client does what it asks
    for, so it has the same name and arguments."""
    about = render("memory_tool", language).messages[0].content
    texts = "path file_text old_str new_str insert_text old_path new_path".split()
    lines = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    properties = {
        "command": {"type": "string", "enum": list(COMMANDS)},
        **{name: {"type": "string"} for name in texts},
        "insert_line": {"type": "integer"},
        "view_range": lines,
    }
    parameters = {"type": "object", "properties": properties, "required": ["command"]}
    function = {"name": "memory", "description": about, "parameters": parameters}
    return {"type": "function", "function": function}


def _choice(choice: Fields) -> object:
    kind = choice.one_of("type", "auto", "any", "tool", "none")
    name = choice.text("name")
    choice.close()
    if kind == "tool":
        if not name:
            raise HttpProblem(
                400, "missing", "tool_choice.name must be given", param="tool_choice.name"
            )
        return {"type": "function", "function": {"name": name}}
    return "required" if kind == "any" else kind


def _output(output: Fields) -> tuple[dict[str, Any] | None, str | None]:
    """The response format and the reasoning effort."""
    effort = output.one_of("effort", *_EFFORT)
    wanted = output.nested("format")
    kind, schema = wanted.one_of("type", "json_schema"), wanted.mapping("schema")
    wanted.close()
    output.close()
    if kind is None:
        return None, effort
    named = {"name": "answer", "schema": schema or {"type": "object"}, "strict": True}
    return {"type": "json_schema", "json_schema": named}, effort
