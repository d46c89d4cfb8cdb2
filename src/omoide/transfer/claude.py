"""Claude's `conversations.json`: a list of conversations with their messages in order.

    {"uuid": "…", "name": "…", "created_at": "2026-01-05T09:00:00Z", "chat_messages": [
        {"uuid": "…", "sender": "human", "text": "Hello", "created_at": "2026-01-05T09:00:00Z",
         "content": [{"type": "text", "text": "Hello"}]}, …]}

The blocks of `content` are what was said; `text`, which older exports have alone, mixes in
remarks of the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.transfer.foreign import Gathering, moment

if TYPE_CHECKING:
    from omoide.transfer.foreign import Conversation

NAME = "claude"
_SPEAKERS = {"human": Speaker.USER, "assistant": Speaker.ASSISTANT}


def matches(value: object) -> bool:
    """Whether a value looks like one of these conversations."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: dict[str, object], *, where: str, longest: int) -> Conversation:
    """The conversation, message by message."""
    found = Gathering(source=NAME, where=where, longest=longest, unique=True)
    messages = value.get("chat_messages")
    for i, message in enumerate(messages if isinstance(messages, list) else [], 1):
        _message(message, where=f"message {i}", found=found)
    return found.conversation(
        id_=value.get("uuid"),
        started=moment(value.get("created_at")),
        title=value.get("name"),
    )


def _message(message: object, *, where: str, found: Gathering) -> None:
    if not isinstance(message, dict):
        found.leave_out(f"a message must be an object, not {type(message).__name__}", where=where)
        return
    if (speaker := found.speaker(message, "sender", _SPEAKERS, where=where)) is None:
        return
    text = _text(message)
    for kind in ("attachments", "files"):
        attached = message.get(kind)
        if isinstance(attached, list) and attached:
            found.leave_out(f"{len(attached)} attachment(s) or unreadable part(s)", where=where)
    if text.strip():
        found.add(
            where=where,
            id_=message.get("uuid"),
            speaker=speaker,
            text=text,
            time=moment(message.get("created_at")),
        )
    else:
        found.leave_out("it is empty", where=where)


def _text(message: dict[str, object]) -> str:
    content, plain = message.get("content"), message.get("text")
    blocks = content if isinstance(content, list) else []
    said = [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
        and block["text"].strip()
    ]
    if said:
        return "\n".join(said)
    return plain if isinstance(plain, str) else ""
