"""Plain messages in OpenAI's format: single ones, a list, or `{"messages": […]}`.

    {"role": "user", "content": "Hello", "id": "…", "created_at": "2026-01-05T09:00:00Z"}

`id` and the time are optional, and so are `id` and `title` beside `messages`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.transfer.foreign_conversations import ConversationBuilder, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.transfer.files import JsonElement
    from omoide.transfer.foreign_conversations import ForeignConversation

NAME = "messages"
_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_TIMES = ("time", "timestamp", "created_at", "create_time", "created")


def matches(value: object) -> bool:
    """Whether a value is a message, or an object with a list of messages."""
    if not isinstance(value, dict):
        return False
    has_messages = isinstance(value.get("messages"), list)
    return has_messages or (isinstance(value.get("role"), str) and "content" in value)


def read(value: dict[str, object], *, where: str, max_chars: int) -> ForeignConversation:
    """Read a conversation from an object with a list of messages."""
    builder = ConversationBuilder(source=NAME, where=where, max_chars=max_chars, unique=False)
    messages = value.get("messages")
    for i, message in enumerate(messages if isinstance(messages, list) else [], 1):
        _message(message, where=f"message {i}", builder=builder)
    id_ = value.get("conversation_id") or value.get("id")
    return builder.conversation(id_=id_, started=_time(value), title=value.get("title"))


def single_conversation(elements: Sequence[JsonElement], *, max_chars: int) -> ForeignConversation:
    """Read a list of messages as one conversation."""
    builder = ConversationBuilder(source=NAME, where="", max_chars=max_chars, unique=False)
    for element in elements:
        if element.problem:
            builder.leave_out(element.problem, where=element.where)
        else:
            _message(element.value, where=element.where, builder=builder)
    return builder.conversation(id_=None, started=None, title="")


def _message(message: object, *, where: str, builder: ConversationBuilder) -> None:
    if not isinstance(message, dict):
        builder.leave_out(f"a message must be an object, not {type(message).__name__}", where=where)
        return
    # Zep's older messages have the speaker's name in `role`.
    key = "role_type" if isinstance(message.get("role_type"), str) else "role"
    if (speaker := builder.speaker(message, key, _SPEAKERS, where=where)) is None:
        return
    text = _text(message.get("content"))
    if text is None:
        kind = type(message.get("content")).__name__
        builder.leave_out(f"its content must be text or parts with text, not {kind}", where=where)
        return
    if not text.strip():
        builder.leave_out("it is empty", where=where)
        return
    id_ = message.get("id") or message.get("uuid")
    builder.add(where=where, id_=id_, speaker=speaker, text=text, time=_time(message))


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(text for text in texts if isinstance(text, str))


def _time(value: dict[str, object]) -> datetime | None:
    return next((t for name in _TIMES if (t := parse_time(value.get(name))) is not None), None)
