"""ChatGPT's `conversations.json`: a list of conversations, each a tree of messages.

    {"conversation_id": "…", "title": "…", "create_time": 1700000000.1, "current_node": "n2",
     "mapping": {"n2": {"id": "n2", "parent": "n1", "children": [], "message": {
         "id": "…", "author": {"role": "user"}, "create_time": 1700000000.1,
         "content": {"content_type": "text", "parts": ["Hello"]}}}, …}}

An edited message or a second answer is a branch. The path to `current_node` is what was last on the
screen, and that path is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.transfer.foreign_conversations import ConversationBuilder, parse_time

if TYPE_CHECKING:
    from omoide.transfer.foreign_conversations import ForeignConversation

NAME = "chatgpt"
_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_SPOKEN = ("text", "multimodal_text")


def matches(value: object) -> bool:
    """Whether a value looks like one of these conversations."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: dict[str, object], *, where: str, max_chars: int) -> ForeignConversation:
    """Read the current path of a conversation."""
    builder = ConversationBuilder(source=NAME, where=where, max_chars=max_chars, unique=True)
    mapping = value.get("mapping")
    nodes = mapping if isinstance(mapping, dict) else {}
    for key in _path(nodes, value.get("current_node"), builder):
        node = nodes[key]
        if not isinstance(node, dict):
            builder.leave_out(f"a node must be an object, not {type(node).__name__}", where=key)
        elif node.get("message") is not None:  # the root of each tree has none
            _message(node["message"], key=key, builder=builder)
    return builder.conversation(
        id_=value.get("conversation_id") or value.get("id"),
        started=parse_time(value.get("create_time")),
        title=value.get("title"),
    )


def _path(nodes: dict[str, object], current: object, builder: ConversationBuilder) -> list[str]:
    """The path from the root to the current node, or to the last leaf if none is named."""
    key = current
    if not isinstance(key, str) or key not in nodes:
        leaves = [k for k, n in nodes.items() if isinstance(n, dict) and not n.get("children")]
        key = leaves[-1] if leaves else None
        if nodes:
            builder.leave_out("current_node names no message: the last branch was imported")
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in nodes:
        if key in seen:
            builder.leave_out("its messages form a cycle: cut there", where=key)
            break
        seen.add(key)
        path.append(key)
        node = nodes[key]
        key = node.get("parent") if isinstance(node, dict) else None
    return path[::-1]


def _message(message: object, *, key: str, builder: ConversationBuilder) -> None:
    if not isinstance(message, dict):
        builder.leave_out(f"a message must be an object, not {type(message).__name__}", where=key)
        return
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type", "text") if isinstance(content, dict) else None
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    speaker = _SPEAKERS.get(role) if isinstance(role, str) else None
    if speaker is None:
        builder.leave_out(
            f"it is from neither user nor assistant (role {str(role)[:20]!r})", where=key
        )
    elif hidden or message.get("recipient", "all") != "all":
        builder.leave_out("it was not shown to the user", where=key)
    elif not isinstance(content, dict) or kind not in _SPOKEN:
        builder.leave_out(f"it is not text ({str(kind)[:30]!r})", where=key)
    else:
        text, without_text = _text(content.get("parts"))
        if without_text:
            builder.leave_out(f"{without_text} attachment(s) or unreadable part(s)", where=key)
        if text.strip():
            builder.add(
                where=key,
                id_=message.get("id") or key,
                speaker=speaker,
                text=text,
                time=parse_time(message.get("create_time")),
            )
        elif not without_text:
            builder.leave_out("it is empty", where=key)


def _text(parts: object) -> tuple[str, int]:
    """The text of the parts, and how many had none."""
    if not isinstance(parts, list):
        return "", 1
    texts: list[str] = []
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text)
    return "\n".join(t for t in texts if t.strip()), len(parts) - len(texts)
