"""mem0: what `memory.get_all()` returns, of the library or the platform.

    {"results": [{"id": "…", "memory": "Loves sushi", "hash": "…", "user_id": "ana",
                  "metadata": {…}, "categories": ["food"], "created_at": "2026-01-05T09:00:00Z",
                  "updated_at": null}],
     "relations": [{"source": "ana", "relationship": "loves", "destination": "sushi"}]}

or the results alone, as a list or line by line. Relations restate memories as a graph, which omoide
does not have: they are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.transfer.foreign_conversations import parse_time
from omoide.transfer.foreign_memories import rows

if TYPE_CHECKING:
    from omoide.transfer.foreign_memories import MemoriesBuilder

NAME = "mem0"
_MAPPED = ("id", "memory", "created_at", "categories", "user_id", "hash")


def matches(value: object) -> bool:
    """Whether a value is a memory of mem0, or its list of results."""
    if not isinstance(value, dict):
        return False
    first = next(iter(rows(value, "results")), (0, None))[1]
    return _is_memory(first) or _is_memory(value)


def _is_memory(value: object) -> bool:
    known = ("user_id", "agent_id", "run_id", "hash", "metadata", "created_at")
    return (
        isinstance(value, dict)
        and isinstance(value.get("memory"), str)
        and any(name in value for name in known)
    )


def read(value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
    """Read a memory, or a list of results."""
    if isinstance(value.get("results"), list):
        for number, item in rows(value, "results"):
            _memory(item, where=f"{where}, result {number}", builder=builder)
        for number, item in rows(value, "relations"):
            builder.keep(item, what="a relation", where=f"{where}, relation {number}")
        rest = {k: v for k, v in value.items() if k not in ("results", "relations", "count")}
        if rest := {k: v for k, v in rest.items() if v is not None}:
            builder.keep(rest, what="fields of the list", where=where)
    else:
        _memory(value, where=where, builder=builder)


def _memory(item: object, *, where: str, builder: MemoriesBuilder) -> None:
    if not isinstance(item, dict):
        builder.keep(item, what="a value that is no memory", where=where)
        return
    if not builder.belongs(item.get("user_id"), where=where):
        return
    categories = item.get("categories")
    names = categories if isinstance(categories, list) else []
    builder.fact(
        item,
        _MAPPED,
        where=where,
        id_=item.get("id"),
        text=item.get("memory"),
        said=parse_time(item.get("created_at")),
        tags=tuple(name for name in names if isinstance(name, str)),
    )
