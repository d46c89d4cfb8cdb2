"""LangGraph: items of a store (`Item.dict()`), as a list or line by line.

    {"namespace": ["memories", "ana"], "key": "…", "created_at": "…", "updated_at": "…",
     "value": {"text": "Loves sushi"}}

A value's text is looked for under the names that LangMem and the tutorials use; a value without one
is kept as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.transfer.foreign_conversations import parse_time

if TYPE_CHECKING:
    from omoide.transfer.foreign_memories import MemoriesBuilder

NAME = "langgraph"
_TEXTS = ("text", "memory", "content", "fact", "data")
_MAPPED = ("namespace", "key", "created_at", "updated_at")


def matches(value: object) -> bool:
    """Whether a value is an item of a store."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("namespace"), list)
        and isinstance(value.get("key"), str)
        and isinstance(value.get("value"), dict)
    )


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read an item. Its namespace tells whose it is: the whole path, or any part of it."""
    path = [str(label) for label in value["namespace"]]
    whole = "/".join(path)
    if not builder.belongs(whole, *path, where=where):
        return
    content: dict[str, Any] = value["value"]
    if isinstance(inner := content.get("content"), dict):  # LangMem: kind and content
        content = inner
    name = next((n for n in _TEXTS if isinstance(content.get(n), str) and content[n].strip()), None)
    if name is None:
        builder.keep(value, what="an item without a text", where=where)
        return
    rest = {k: v for k, v in value["value"].items() if k not in (name, "content", "kind")}
    rest |= {k: v for k, v in content.items() if k != name}
    builder.fact(
        {"namespace": path, **rest},
        _MAPPED,
        where=where,
        id_=f"{whole}/{value['key']}",
        text=content[name],
        said=parse_time(value.get("updated_at")) or parse_time(value.get("created_at")),
    )
