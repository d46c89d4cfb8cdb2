"""Converts a request of OpenAI's Responses protocol into a chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omoide.server.protocols.writing import streamed
from omoide.wire.fields import Fields, refuse

NO_EFFECT = (
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "stream_options",
)
"""Fields that are accepted and change nothing: the upstream caches and schedules as it is
configured."""
_CONTENT = ("message.output_text.logprobs",)


@dataclass(frozen=True, kw_only=True)
class ResponsesRequest:
    """A request for a response, apart from what it continues."""

    chat: dict[str, Any]
    """The chat without its messages."""
    instructions: str | None
    input: list[dict[str, Any]]
    """The new items."""
    previous: str | None
    conversation: str | None
    store: bool
    stream: bool
    echo: dict[str, Any]
    """The fields that the answer repeats."""

    def body(self, history: list[dict[str, Any]], items: list[dict[str, Any]]) -> dict[str, Any]:
        """The chat of these new items after those of the history."""
        messages = [{"role": "system", "content": self.instructions}] if self.instructions else []
        given = messages_of(items, where="input", after=messages_of(history, where="history"))
        if messages and given and given[0]["role"] == "system":  # many templates allow only one
            first = given.pop(0)
            messages[0]["content"] = f"{messages[0]['content']}\n\n{_text(first['content'])}"
        return streamed({**self.chat, "messages": messages + given}, self.stream)


def read_request(body: dict[str, Any]) -> ResponsesRequest:
    """The request, checked. Raises `HttpProblem` for what a chat cannot do, naming the field."""
    fields = Fields(body)
    echo = {name: body.get(name) for name in _ECHOED}
    conversation = fields.take("conversation")
    if isinstance(conversation, dict):
        conversation = Fields(conversation, where="conversation").needed("id")
    elif conversation is not None and not isinstance(conversation, str):
        refuse("conversation", "it must be an id or an object with one")
    previous = fields.text("previous_response_id")
    if previous and conversation:
        refuse("previous_response_id", "it cannot be given together with conversation")
    text, reasoning = fields.nested("text"), fields.nested("reasoning")
    chat: dict[str, Any] = {
        "model": fields.text("model"),
        "max_completion_tokens": fields.whole("max_output_tokens", least=0),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "tools": [_tool(tool) for tool in fields.items("tools")] or None,
        "tool_choice": _choice(fields.take("tool_choice")),
        "parallel_tool_calls": fields.flag("parallel_tool_calls"),
        "response_format": _format(text.nested("format")),
        "verbosity": text.text("verbosity"),
        "reasoning_effort": reasoning.text("effort"),
        "user": fields.text("user"),
    }
    text.close()
    reasoning.ignore("summary", "generate_summary")  # no reasoning is passed on
    reasoning.close()
    if not chat["tools"]:
        chat["tool_choice"] = chat["parallel_tool_calls"] = None
    fields.mapping("metadata")
    _refuse_others(fields)
    request = ResponsesRequest(
        chat=chat,
        instructions=fields.text("instructions"),
        input=_items(fields.take("input")),
        previous=previous,
        conversation=conversation,
        store=fields.flag("store") is not False,
        stream=bool(fields.flag("stream")),
        echo=echo,
    )
    fields.close()
    return request


_ECHOED = (
    "instructions",
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "reasoning",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
    "user",
)


def _refuse_others(fields: Fields) -> None:
    fields.ignore(*NO_EFFECT)
    fields.refuse("background", "responses are made while the client waits", unless=(False,))
    fields.refuse("prompt", "prompt templates are OpenAI's own")
    fields.refuse("max_tool_calls", "there are no built-in tools")
    fields.refuse("top_logprobs", "they are not passed on", unless=(0,))
    fields.refuse("truncation", "nothing is dropped from a conversation", unless=("disabled",))
    fields.refuse("context_management", "nothing is dropped from a conversation", unless=([],))
    fields.refuse("moderation", "moderation is OpenAI's own")
    for i, name in enumerate(fields.rows("include") or ()):
        if name in _CONTENT:
            refuse(f"include[{i}]", "log probabilities are not passed on")


def _items(given: object) -> list[dict[str, Any]]:
    """The input as items."""
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if not isinstance(given, list):
        refuse("input", "it must be a string or an array of items")
    for i, item in enumerate(given):
        Fields(item, where=f"input[{i}]")
    return given


def messages_of(
    items: list[dict[str, Any]], *, where: str, after: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Items as chat messages, after those before them. Calls of functions belong to the assistant
    message that they follow."""
    messages = after or []
    for i, item in enumerate(items):
        fields = Fields(item, where=f"{where}[{i}]")
        kind = fields.text("type") or "message"
        fields.ignore("id", "status", "phase")
        if kind == "message":
            messages.append(_message(fields))
        elif kind == "function_call":
            function = {"name": fields.needed("name"), "arguments": fields.needed("arguments")}
            call = {"id": fields.needed("call_id"), "type": "function", "function": function}
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        elif kind == "function_call_output":
            content = _parts(fields.take("output"), fields.path("output"), only_text=True)
            id_ = fields.needed("call_id")
            messages.append({"role": "tool", "tool_call_id": id_, "content": content})
        elif kind == "reasoning":  # both protocols allow leaving it out
            fields.ignore("summary", "content", "encrypted_content")
        else:
            refuse(fields.path("type"), f"Chat Completions has no counterpart to {kind[:40]!r}")
        fields.close()
    return messages


def _message(fields: Fields) -> dict[str, Any]:
    role = fields.one_of("role", "user", "assistant", "system", "developer") or "user"
    role = "system" if role == "developer" else role
    content = fields.take("content")
    refusals = []
    if isinstance(content, list) and role == "assistant":
        refusals = [p["refusal"] for p in content if isinstance(p, dict) and "refusal" in p]
        content = [p for p in content if not (isinstance(p, dict) and "refusal" in p)]
    parts = _parts(content, fields.path("content"), only_text=role != "user")
    if refusals and not parts:
        return {"role": role, "content": None, "refusal": "".join(map(str, refusals))}
    return {"role": role, "content": parts}


def _parts(content: object, where: str, *, only_text: bool) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        refuse(where, "it must be a string or an array of parts")
    parts = [_part(Fields(part, where=f"{where}[{i}]")) for i, part in enumerate(content)]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if only_text and len(texts) < len(parts):
        refuse(where, "only text can stand here")
    return "\n".join(texts) if only_text or len(parts) == len(texts) == 1 else parts


def _part(fields: Fields) -> dict[str, Any]:
    kind = fields.needed("type")
    part: dict[str, Any]
    if kind in ("input_text", "output_text", "text"):
        part = {"type": "text", "text": fields.needed("text")}
        fields.ignore("annotations", "logprobs")
    elif kind == "input_image":
        fields.refuse("file_id", "files are not stored here: give image_url")
        image = {"url": fields.needed("image_url"), "detail": fields.text("detail")}
        part = {"type": "image_url", "image_url": {k: v for k, v in image.items() if v is not None}}
    elif kind == "input_file":
        for name in ("file_id", "file_url"):
            fields.refuse(name, "files are not stored here: give file_data")
        file = {"filename": fields.text("filename"), "file_data": fields.needed("file_data")}
        part = {"type": "file", "file": {k: v for k, v in file.items() if v is not None}}
    else:
        refuse(fields.path("type"), f"Chat Completions has no counterpart to {kind[:40]!r}")
    fields.close()
    return part


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n".join(p["text"] for p in content)


def _tool(tool: Fields) -> dict[str, Any]:
    kind = tool.needed("type")
    if kind != "function":
        refuse(tool.path("type"), f"{kind[:40]!r} is a tool of OpenAI's own; give a function")
    function = {
        "name": tool.needed("name"),
        "description": tool.text("description"),
        "parameters": tool.mapping("parameters"),
        "strict": tool.flag("strict"),
    }
    tool.refuse("allowed_callers", "only the model can call tools here", unless=(["direct"], []))
    tool.ignore("defer_loading", "output_schema", "async")
    tool.close()
    return {"type": "function", "function": {k: v for k, v in function.items() if v is not None}}


def _choice(choice: object) -> object:
    if choice is None or choice in ("none", "auto", "required"):
        return choice
    fields = Fields(choice, where="tool_choice")
    if (kind := fields.needed("type")) != "function":
        refuse("tool_choice.type", f"{kind[:40]!r} is not a function")
    name = fields.needed("name")
    fields.close()
    return {"type": "function", "function": {"name": name}}


def _format(wanted: Fields) -> dict[str, Any] | None:
    kind = wanted.one_of("type", "text", "json_object", "json_schema")
    if kind != "json_schema":
        wanted.close()
        return {"type": kind} if kind == "json_object" else None
    named = {
        "name": wanted.needed("name"),
        "schema": wanted.mapping("schema"),
        "strict": wanted.flag("strict"),
        "description": wanted.text("description"),
    }
    wanted.close()
    return {"type": kind, "json_schema": {k: v for k, v in named.items() if v is not None}}
