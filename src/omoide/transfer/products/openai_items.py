"""OpenAI: the items of a conversation, as its Conversations and Responses list them.

    {"object": "list", "data": [{"type": "message", "id": "msg_…", "role": "user",
      "content": [{"type": "input_text", "text": "Hello"}]}, …], "has_more": false}

or `{"object": "conversation", "id": "conv_…", "created_at": 1767603600, "items": […]}`, which puts
the two answers of the API together, or the items alone. Items have no times of their own, so they
must be listed in ascending order, which is not the API's default. Calls of tools, reasoning and
files are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.transfer.foreign_conversations import parse_time
from omoide.transfer.foreign_memories import rows

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.transfer.foreign_memories import MemoriesBuilder

NAME = "openai"
_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_TEXTS = ("input_text", "output_text", "text")


def matches(value: object) -> bool:
    """Whether a value is an item, or a list of items."""
    if not isinstance(value, dict):
        return False
    name = "items" if value.get("object") == "conversation" else "data"
    first = next(iter(rows(value, name)), (0, None))[1]
    return _is_item(first) or _is_item(value)


def _is_item(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    parts = value.get("content")
    texts = isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") in _TEXTS[:2] for part in parts
    )
    return texts or (value["type"] != "message" and str(value.get("id", ""))[:3] in _PREFIXES)


_PREFIXES = ("fc_", "rs_", "ws_", "fs_", "ci_", "mcp")
"""Of the ids of function calls, reasoning, searches, code and remote tools."""


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read an item, or a list of items."""
    if _is_item(value):
        _item(value, conversation="items", time=None, where=where, builder=builder)
        return
    whole = value.get("object") == "conversation"
    key = value.get("id") if whole else value.get("first_id")
    time = parse_time(value.get("created_at"))
    for number, item in rows(value, "items" if whole else "data"):
        _item(
            item,
            conversation=str(key or "items"),
            time=time,
            where=f"{where}, item {number}",
            builder=builder,
        )
    if value.get("has_more") is True:
        builder.leave_out("the list says that it has more items: export the rest too", where=where)


def _item(
    item: object,
    *,
    conversation: str,
    time: datetime | None,
    where: str,
    builder: MemoriesBuilder,
) -> None:
    fields = item if isinstance(item, dict) else {}
    speaker = _SPEAKERS.get(str(fields.get("role"))) if fields.get("type") == "message" else None
    parts = fields.get("content")
    listed = parts if isinstance(parts, list) else []
    texts = [p["text"] for p in listed if isinstance(p, dict) and p.get("type") in _TEXTS
             and isinstance(p.get("text"), str)]  # fmt: skip
    if speaker is None or not "".join(texts).strip():
        what = str(fields.get("type") or "a value")[:40].replace("_", " ")
        builder.keep(item, what=f"an item ({what})", where=where)
        return
    builder.message(
        conversation=conversation,
        where=where,
        id_=fields.get("id"),
        speaker=speaker,
        text="\n".join(texts),
        time=time,
    )
    others = [p for p in listed if not (isinstance(p, dict) and p.get("type") in _TEXTS)]
    if others:
        parts = {"message": fields.get("id"), "content": others}
        builder.keep(parts, what="parts of a message", where=where)
