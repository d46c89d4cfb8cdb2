"""Zep and Graphiti: edges, nodes and episodes of a graph.

    {"edges": [{"uuid": "…", "name": "LIVES_IN", "fact": "Ana lives in Oslo", "group_id": "ana",
                "created_at": "…", "valid_at": "…", "invalid_at": null, "expired_at": null,
                "source_node_uuid": "…", "target_node_uuid": "…", "episodes": ["…"]}],
     "episodes": [{"uuid": "…", "content": "I moved to Oslo", "role_type": "user",
                   "source": "message", "thread_id": "…", "created_at": "…"}],
     "nodes": [{"uuid": "…", "name": "Ana", "summary": "…"}]}

or any of these items alone, as a list or line by line, or a page of Zep 4, `{"items": […]}`, whose
items have `user_uuid`, `graph_uuid` and `thread_uuid` instead. An edge is a fact with the time in
which it held; an episode of a message whose role is known, or a message of a thread, is a message.
Nodes and other episodes are kept.
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
_OWNERS = ("group_id", "user_uuid", "user_id", "graph_uuid")
"""Fields that say whose an item is, the clearest first."""
_SPEAKERS = {"user": Speaker.USER, "human": Speaker.USER, "assistant": Speaker.ASSISTANT,
             "ai": Speaker.ASSISTANT}  # fmt: skip


def matches(value: object) -> bool:
    """Whether a value is an edge or an episode, or a graph or a page that has some."""
    if not isinstance(value, dict):
        return False
    lists = ("edges", "episodes", "items")
    firsts = [next(iter(rows(value, name)), (0, None))[1] for name in lists]
    return any(_is_edge(item) or _is_episode(item) for item in (value, *firsts))


def _is_edge(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fact"), str) and "uuid" in value


def _is_episode(value: object) -> bool:
    """Whether it is an episode, or a message of a thread, which has the same fields."""
    if not isinstance(value, dict) or not {"uuid", "content"} <= value.keys():
        return False
    return "source" in value or "thread_uuid" in value


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read a graph, or one item of it."""
    if _is_edge(value) or _is_episode(value):
        _item(value, where=where, builder=builder)
    elif any(isinstance(value.get(name), list) for name in ("edges", "episodes", "nodes")):
        for number, edge in rows(value, "edges"):
            _edge(edge, where=f"{where}, edge {number}", builder=builder)
        for number, episode in rows(value, "episodes"):
            _episode(episode, where=f"{where}, episode {number}", builder=builder)
        for number, node in rows(value, "nodes"):
            _node(node, where=f"{where}, node {number}", builder=builder)
    elif isinstance(value.get("items"), list):
        for number, item in rows(value, "items"):
            _item(item, where=f"{where}, item {number}", builder=builder)
        if value.get("next_cursor"):
            builder.leave_out("the page says that there are more: export them too", where=where)
    else:
        _node(value, where=where, builder=builder)


def _item(item: object, *, where: str, builder: MemoriesBuilder) -> None:
    """One item of a page."""
    known = _edge if _is_edge(item) else _episode if _is_episode(item) else _node
    known(item, where=where, builder=builder)


def _node(node: object, *, where: str, builder: MemoriesBuilder) -> None:
    _keep(node, what="a node", where=where, builder=builder)


def _keep(item: object, *, what: str, where: str, builder: MemoriesBuilder) -> None:
    """Keep an item, unless it is somebody else's."""
    owners = _owners(item)
    if not any(owners) or builder.belongs(*owners, where=where):
        builder.keep(item, what=what, where=where)


def _owners(item: object) -> list[object]:
    return [item.get(name) for name in _OWNERS] if isinstance(item, dict) else []


def _edge(edge: object, *, where: str, builder: MemoriesBuilder) -> None:
    if not isinstance(edge, dict) or not _is_edge(edge):
        _keep(edge, what="an edge without a fact", where=where, builder=builder)
        return
    if not builder.belongs(*_owners(edge), where=where):
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
        _keep(episode, what="an episode that is no message", where=where, builder=builder)
        return
    if not builder.belongs(*_owners(fields), where=where):
        return
    named = ("thread_uuid", "thread_id", "session_id", "group_id")
    thread = next((fields[name] for name in named if fields.get(name)), None)
    builder.message(
        conversation=str(thread or "episodes"),
        where=where,
        id_=fields.get("uuid"),
        speaker=speaker,
        text=text,
        time=parse_time(fields.get("valid_at"))
        or parse_time(fields.get("reference_time"))
        or parse_time(fields.get("created_at")),
    )
