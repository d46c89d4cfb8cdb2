"""Letta: an agent file (`.af`), as `letta` and its API export it.

    {"agents": [{"id": "agent-0", "name": "…", "system": "…", "block_ids": ["block-0"],
                 "messages": [{"id": "message-0", "role": "user", "created_at": "…",
                               "content": [{"type": "text", "text": "Hello"}]}, …]}],
     "blocks": [{"id": "block-0", "label": "human", "value": "Her name is Ana.\\n…"}],
     "tools": […], "files": […], "sources": […], "groups": […], "mcp_servers": […]}

The lines of the block `human` become facts about the user, those of `persona` facts about the
assistant. Agents of the MemGPT kind wrap what the user says in JSON, and reply by calling the tool
`send_message`: both are unwrapped. Everything else is kept.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.domain.fact import ASSISTANT, USER
from omoide.transfer.foreign_conversations import parse_time
from omoide.transfer.foreign_memories import rows

if TYPE_CHECKING:
    from omoide.transfer.foreign_memories import MemoriesBuilder

NAME = "letta"
_ABOUT = {"human": USER, "persona": ASSISTANT}
_OTHERS = {
    "tools": "a tool",
    "files": "a file",
    "sources": "a source",
    "groups": "a group",
    "mcp_servers": "a server of tools",
}


def matches(value: object) -> bool:
    """Whether a value is an agent file."""
    lists = isinstance(value, dict) and all(
        isinstance(value.get(name), list) for name in ("agents", "blocks")
    )
    return bool(lists)


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read an agent file."""
    for number, block in rows(value, "blocks"):
        _block(block, where=f"{where}, block {number}", builder=builder)
    for number, agent in rows(value, "agents"):
        _agent(agent, where=f"{where}, agent {number}", builder=builder)
    for name, what in _OTHERS.items():
        for number, item in rows(value, name):
            builder.keep(item, what=what, where=f"{where}, {name} {number}")


def _block(block: object, *, where: str, builder: MemoriesBuilder) -> None:
    fields = block if isinstance(block, dict) else {}
    about, text = _ABOUT.get(str(fields.get("label"))), fields.get("value")
    if about is None or not isinstance(text, str):
        builder.keep(block, what="a block", where=where)
        return
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        line = line.strip().lstrip("-*• ")
        id_ = f"{fields.get('id')}/{line}"
        builder.fact({}, (), where=f"{where}, line {number}", id_=id_, text=line, about=about)


def _agent(agent: object, *, where: str, builder: MemoriesBuilder) -> None:
    if not isinstance(agent, dict):
        builder.keep(agent, what="a value that is no agent", where=where)
        return
    first = next((m for _, m in rows(agent, "messages") if isinstance(m, dict)), {})
    # Ids in such a file count from 0 in each file, so they tell nothing by themselves.
    key = f"{agent.get('name')}/{agent.get('id')}/{first.get('created_at')}"
    for number, message in rows(agent, "messages"):
        _message(message, key, where=f"{where}, message {number}", builder=builder)
    rest = {name: value for name, value in agent.items() if name != "messages"}
    builder.keep(rest, what="an agent's settings", where=where)


def _message(message: object, key: str, *, where: str, builder: MemoriesBuilder) -> None:
    fields = message if isinstance(message, dict) else {}
    role, text = fields.get("role"), _text(fields.get("content"))
    speaker = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}.get(str(role))
    said = None
    if speaker is Speaker.USER:
        said = _unwrapped(text)
    elif speaker is Speaker.ASSISTANT:
        said = _sent(fields) or (None if fields.get("tool_calls") else text)
    if speaker is None or not said or not said.strip():
        builder.keep(message, what="a message that nobody said", where=where)
        return
    builder.message(
        conversation=key,
        where=where,
        id_=fields.get("id"),
        speaker=speaker,
        text=said,
        time=parse_time(fields.get("created_at")),
        unique=False,
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _unwrapped(text: str) -> str | None:
    """What the user said: the text, or the message in its wrapping; None for an event."""
    try:
        wrapped = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(wrapped, dict) or "type" not in wrapped:
        return text
    said = wrapped.get("message")
    return said if wrapped["type"] == "user_message" and isinstance(said, str) else None


def _sent(message: dict[str, Any]) -> str | None:
    """What the assistant said by calling `send_message`."""
    for _, call in rows(message, "tool_calls"):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("name") == "send_message":
            try:
                arguments = json.loads(str(function.get("arguments")))
            except (ValueError, RecursionError):
                continue
            if isinstance(arguments, dict) and isinstance(arguments.get("message"), str):
                return str(arguments["message"])
    return None
