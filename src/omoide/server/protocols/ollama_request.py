"""Converts requests of Ollama's protocol into chats."""

from __future__ import annotations

import json
import secrets
from typing import Any

from omoide.server.protocols.writing import streamed
from omoide.wire.fields import Fields, refuse

SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "repeat_penalty": "repeat_penalty",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
"""Options that choose tokens, with their names in a chat. Those that OpenAI does not have are
passed on under Ollama's names, which llama.cpp, vLLM and Ollama understand."""
ENGINE = tuple(
    "num_ctx num_batch num_gpu main_gpu num_thread num_keep use_mmap use_mlock numa low_vram "
    "f16_kv vocab_only logits_all embedding_only penalize_newline repeat_last_n tfs_z "
    "draft_num_predict mirostat mirostat_tau mirostat_eta".split()
)
"""Options of the engine that runs a model: accepted, and without effect on an upstream."""
_IMAGES = {"/9j/": "jpeg", "iVBOR": "png", "R0lGOD": "gif", "UklGR": "webp"}


def chat_of_chat(body: dict[str, Any]) -> dict[str, Any]:
    """The chat that `/api/chat` asks for."""
    fields = Fields(body)
    chat = _common(fields)
    chat["messages"] = _messages(fields.items("messages"))
    chat["tools"] = [_tool(tool) for tool in fields.items("tools")] or None
    stream = fields.flag("stream")
    fields.close()
    return streamed(chat, stream is not False)


def chat_of_generate(body: dict[str, Any]) -> dict[str, Any]:
    """The chat that `/api/generate` asks for."""
    fields = Fields(body)
    chat = _common(fields)
    system, prompt = fields.text("system"), fields.text("prompt") or ""
    images = fields.rows("images") or []
    fields.refuse("suffix", "a chat cannot fill in the middle", unless=("",))
    fields.refuse("template", "the upstream has its own", unless=("",))
    fields.refuse("raw", "a chat has no raw prompt", unless=(False,))
    fields.refuse("context", "send the earlier messages to /api/chat instead", unless=([],))
    stream = fields.flag("stream")
    fields.close()
    asked = {"role": "user", "content": _content(prompt, images, where="images")}
    chat["messages"] = [{"role": "system", "content": system}, asked] if system else [asked]
    return streamed(chat, stream is not False)


def _common(fields: Fields) -> dict[str, Any]:
    """The fields that both kinds of request have."""
    think = fields.take("think")
    chat: dict[str, Any] = {
        "model": model_name(fields.text("model")),
        "reasoning_effort": think if isinstance(think, str) else None,
        "response_format": _format(fields.take("format")),
        "user": fields.text("user"),
        **_sampling(fields.nested("options")),
    }
    fields.ignore("keep_alive")
    fields.refuse("logprobs", "it is not passed on", unless=(False,))
    fields.refuse("top_logprobs", "it is not passed on", unless=(0,))
    for name in ("width", "height", "steps"):
        fields.refuse(name, "a chat makes no images", unless=(0,))
    return chat


def model_name(name: str | None) -> str | None:
    """The upstream's name of a model: Ollama's clients add `:latest`."""
    return name.removesuffix(":latest") if name else name


def _sampling(options: Fields) -> dict[str, Any]:
    chat: dict[str, Any] = {new: options.number(old) for old, new in SAMPLING.items()}
    limit = options.whole("num_predict")
    chat |= {
        "max_completion_tokens": limit if limit is not None and limit > 0 else None,
        "seed": options.whole("seed"),
        "stop": options.texts("stop") or None,
    }
    options.ignore(*ENGINE)
    options.close()
    return chat


def _format(wanted: object) -> dict[str, Any] | None:
    if wanted is None or wanted == "":
        return None
    if wanted == "json":
        return {"type": "json_object"}
    if not isinstance(wanted, dict):
        refuse("format", 'it must be "json" or a JSON schema')
    named = {"name": "answer", "schema": wanted, "strict": True}
    return {"type": "json_schema", "json_schema": named}


def _messages(items: list[Fields]) -> list[dict[str, Any]]:
    """Chat messages. Ollama's tool calls may have no ids, so they get some: their results follow in
    the same order, or name the tool."""
    messages: list[dict[str, Any]] = []
    waiting: list[tuple[str, str]] = []
    for item in items:
        role = item.needed("role")
        text, images = item.text("content") or "", item.rows("images") or []
        item.ignore("thinking")
        calls = [_call(call) for call in item.items("tool_calls")]
        name, id_ = item.text("tool_name") or item.text("name"), item.text("tool_call_id")
        if role == "tool":
            messages.append(
                {"role": "tool", "tool_call_id": id_ or _id(waiting, name), "content": text}
            )
        elif role in ("user", "assistant", "system"):
            content = _content(text, images, where=item.path("images"))
            message: dict[str, Any] = {"role": role, "content": content}
            if calls:
                message |= {"content": text or None, "tool_calls": calls}
                waiting = [(call["id"], call["function"]["name"]) for call in calls]
            messages.append(message)
        else:
            refuse(item.path("role"), f"{role[:40]!r} is not a role")
        item.close()
    return messages


def _call(call: Fields) -> dict[str, Any]:
    function = call.nested("function")
    arguments = function.take("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    made = {"name": function.needed("name"), "arguments": text}
    function.ignore("index", "description")
    function.close()
    id_ = call.text("id") or f"call_{secrets.token_hex(12)}"
    call.ignore("type")
    call.close()
    return {"id": id_, "type": "function", "function": made}


def _id(waiting: list[tuple[str, str]], name: str | None) -> str:
    """The id of the call that a result belongs to: the first of that name, else the first."""
    place = next((i for i, (_, known) in enumerate(waiting) if known == name), 0)
    return waiting.pop(place)[0] if waiting else f"call_{secrets.token_hex(12)}"


def _content(text: str, images: list[Any], *, where: str) -> str | list[dict[str, Any]]:
    if not images:
        return text
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for i, image in enumerate(images):
        if not isinstance(image, str):
            refuse(f"{where}[{i}]", "it must be an image in base64")
        kind = next((k for start, k in _IMAGES.items() if image.startswith(start)), "png")
        url = f"data:image/{kind};base64,{image}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _tool(tool: Fields) -> dict[str, Any]:
    tool.one_of("type", "function")
    function = tool.mapping("function")
    tool.ignore("items")
    tool.close()
    return {"type": "function", "function": function or {}}
