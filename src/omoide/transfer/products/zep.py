"""Zep and Graphiti: edges, nodes and episodes of a graph.

    {"edges": [{"uuid": "…", "name": "LIVES_IN", "fact": "Ana lives in Oslo", "group_id": "ana",
                "created_at": "…", "valid_at": "…", "invalid_at": null, "expired_at": null,
                "source_node_uuid": "…", "target_node_uuid": "…", "episodes": ["…"]}],
     "episodes": [{"uuid": "…", "content": "I moved to Oslo", "role_type": "user",
                   "source": "message", "thread_id": "…", "created_at": "…"}],
     "nodes": [{"uuid": "…", "name": "Ana", "summary": "…"}]}

or any of these items alone, as a list or line by line. An edge is a fact with the time in which it
held; an episode of a message whose role is known is a message. Nodes and other episodes are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.transfer.foreign_conversations import parse_time
from omoide.transfer.foreign_memories import rows

if TYPE_CHECKING:
    from omoide.transfer.foreign_memories import MemoriesBuilder

NAME = "zep"
_MAPPED = (
    "uuid", "fact", "created_at", "reference_time", "valid_at", "invalid_at", "expired_at", "name",
    "group_id",
)  # fmt: skip
_SPEAKERS = {"user": Speaker.USER, "human": Speaker.USER, "assistant": Speaker.ASSISTANT,
             "ai": Speaker.ASSISTANT}  # fmt: skip


def matches(value: object) -> bool:
    """Whether a value is an edge, or a graph that has some."""
    if not isinstance(value, dict):
        return False
    parts = [next(iter(rows(value, name)), (0, None))[1] for name in ("edges", "episodes")]
    return any(map(_is_edge, (value, parts[0]))) or any(map(_is_episode, (value, parts[1])))


def _is_edge(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fact"), str) and "uuid" in value


def _is_episode(value: object) -> bool:
    return isinstance(value, dict) and "uuid" in value and "content" in value and "source" in value


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read a graph, or one item of it."""
    if _is_edge(value):
        _edge(value, where=where, builder=builder)
    elif _is_episode(value):
        _episode(value, where=where, builder=builder)
    elif any(isinstance(value.get(name), list) for name in ("edges", "episodes", "nodes")):
        for number, edge in rows(value, "edges"):
            _edge(edge, where=f"{where}, edge {number}", builder=builder)
        for number, episode in rows(value, "episodes"):
            _episode(episode, where=f"{where}, episode {number}", builder=builder)
        for number, node in rows(value, "nodes"):
            builder.keep(node, what="a node", where=f"{where}, node {number}")
    else:
        builder.keep(value, what="a node", where=where)


def _edge(edge: object, *, where: str, builder: MemoriesBuilder) -> None:
    if not isinstance(edge, dict) or not _is_edge(edge):
        builder.keep(edge, what="an edge without a fact", where=where)
        return
    if not builder.belongs(edge.get("group_id")):
        return
    name = edge.get("name")
    until = parse_time(edge.get("invalid_at"))
    builder.fact(
        edge,
        _MAPPED,
        where=where,
        id_=edge.get("uuid"),
        text=edge["fact"],
        said=parse_time(edge.get("reference_time")) or parse_time(edge.get("created_at")),
        since=parse_time(edge.get("valid_at")),
        ended=parse_time(edge.get("expired_at")) or until,
        until=until,
        tags=(name,) if isinstance(name, str) and name else (),
    )


def _episode(episode: object, *, where: str, builder: MemoriesBuilder) -> None:
    fields = episode if isinstance(episode, dict) else {}
    role = fields.get("role_type") or fields.get("role")
    speaker, text = _SPEAKERS.get(str(role).lower()), fields.get("content")
    if speaker is None or not isinstance(text, str) or not text.strip():
        builder.keep(episode, what="an episode that is no message", where=where)
        return
    if not builder.belongs(fields.get("group_id") or fields.get("user_id")):
        return
    thread = fields.get("thread_id") or fields.get("session_id") or fields.get("group_id")
    builder.message(
        conversation=str(thread or "episodes"),
        where=where,
        id_=fields.get("uuid"),
        speaker=speaker,
        text=text,
        time=parse_time(fields.get("valid_at")) or parse_time(fields.get("created_at")),
    )
