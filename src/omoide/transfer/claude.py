"""Claude's `conversations.json`: a list of conversations with their messages in order.

    {"uuid": "…", "name": "…", "created_at": "2026-01-05T09:00:00Z", "chat_messages": [
        {"uuid": "…", "sender": "human", "text": "Hello", "created_at": "2026-01-05T09:00:00Z",
         "content": [{"type": "text", "text": "Hello"}]}, …]}

The blocks of `content` are the message; `text` mixes in remarks of the program, and is used only
for older exports, which have no `content`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.transfer.foreign_conversations import ConversationBuilder, parse_time

if TYPE_CHECKING:
    from omoide.transfer.foreign_conversations import ForeignConversation

NAME = "claude"
_SPEAKERS = {"human": Speaker.USER, "assistant": Speaker.ASSISTANT}


def matches(value: object) -> bool:
    """Whether a value looks like one of these conversations."""
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: dict[str, object], *, where: str, max_chars: int) -> ForeignConversation:
    """Read a conversation, message by message."""
    builder = ConversationBuilder(source=NAME, where=where, max_chars=max_chars, unique=True)
    messages = value.get("chat_messages")
    for i, message in enumerate(messages if isinstance(messages, list) else [], 1):
        _message(message, where=f"message {i}", builder=builder)
    return builder.conversation(
        id_=value.get("uuid"),
        started=parse_time(value.get("created_at")),
        title=value.get("name"),
    )


def _message(message: object, *, where: str, builder: ConversationBuilder) -> None:
    if not isinstance(message, dict):
        builder.leave_out(f"a message must be an object, not {type(message).__name__}", where=where)
        return
    if (speaker := builder.speaker(message, "sender", _SPEAKERS, where=where)) is None:
        return
    text = _text(message)
    for kind in ("attachments", "files"):
        attached = message.get(kind)
        if isinstance(attached, list) and attached:
            builder.leave_out(f"{len(attached)} attachment(s) or unreadable part(s)", where=where)
    if text.strip():
        builder.add(
            where=where,
            id_=message.get("uuid"),
            speaker=speaker,
            text=text,
            time=parse_time(message.get("created_at")),
        )
    else:
        builder.leave_out("it is empty", where=where)


def _text(message: dict[str, object]) -> str:
    content, plain = message.get("content"), message.get("text")
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
        and block["text"].strip()
    ]
    if texts:
        return "\n".join(texts)
    return plain if isinstance(plain, str) else ""
