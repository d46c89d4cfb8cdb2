"""LangGraph: a memory node for a graph of messages, and a `BaseStore`.

graph.add_node("talk", memory_node(memory, model))
graph.invoke({"messages": [...]}, {"configurable": {"user_id": "ana", "thread_id": "1"}})
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from omoide.engine import Answer
from omoide.errors import BadInput
from omoide.language import content_terms
from omoide_frameworks.bridge import arun, begin, blocking_memory, call, run
from omoide_frameworks.extras import extra

with extra("langgraph"):
    from langchain_core.messages import convert_to_openai_messages
    from langchain_core.runnables import RunnableConfig, RunnableLambda
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
    )

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable
    from langgraph.store.base import Op, Result

    from omoide_frameworks.bridge import AnyMemory, Flow

    Namespace = tuple[str, ...]

KIND = "app.langgraph"


def memory_node(memory: AnyMemory, model: BaseChatModel) -> Runnable[Any, Any]:
    """A node that answers the last message of `messages` with what memory knows, and records both.

    The user is `user_id` of the configuration, the conversation `thread_id`. What memory adds is
    sent to the model and not written into the state.
    """

    async def talk(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, Any]:
        user, session, sent = _asked(state, config)
        begun = await begin(memory, user, sent, session=session)
        reply = await model.ainvoke(begun.messages, config)
        if text := str(reply.text).strip():
            await begun.finish(text)
        return {"messages": [reply]}

    def blocking(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, Any]:
        user, session, sent = _asked(state, config)
        with blocking_memory(memory).exchange(user, sent, session=session) as turn:
            reply = model.invoke(turn.messages, config)
            if text := str(reply.text).strip():
                turn.finish(Answer(text=text, once=True))
        return {"messages": [reply]}

    return RunnableLambda(blocking, afunc=talk, name="omoide")


def _asked(
    state: Mapping[str, Any], config: RunnableConfig
) -> tuple[str, str | None, list[dict[str, Any]]]:
    """The user, the conversation, and the messages so far."""
    configured = config.get("configurable", {})
    if "user_id" not in configured:
        raise BadInput('name the user in the configuration: {"configurable": {"user_id": …}}')
    sent: Any = convert_to_openai_messages(state["messages"])
    return configured["user_id"], configured.get("thread_id"), list(sent)


class OmoideStore(BaseStore):
    """A key-value store whose items belong to users of a memory: exported and erased with them.

    The first word of a namespace is the user, as in LangGraph's own examples (`("ana",
    "memories")`). Items are searched by words, not by vectors, and read one user at a time: it is
    meant for thousands of items for each user, not for millions. What people said belongs into the
    memory itself (`memory_node`), which recalls it by meaning.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: AnyMemory) -> None:
        self._memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations."""
        return run(self._memory, _batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations."""
        return await arun(self._memory, _batch(list(ops)))


def _batch(ops: Sequence[Op]) -> Flow[list[Result]]:
    """All results in order. Reads see the state before the writes of the same batch, and of
    several writes of one item the last counts, as in LangGraph's own stores."""
    results: list[Result] = []
    for op in ops:
        if isinstance(op, GetOp):
            items = yield from _items(op.namespace[0])
            results.append(items.get((tuple(op.namespace), op.key)))
        elif isinstance(op, SearchOp):
            results.append((yield from _search(op)))
        elif isinstance(op, ListNamespacesOp):
            results.append((yield from _namespaces(op)))
        else:
            results.append(None)
    last = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
    for op in last.values():
        yield from _put(op)
    return results


def _put(op: PutOp) -> Flow[None]:
    user, key = op.namespace[0], _note_key(op.namespace, op.key)
    if op.value is None:
        yield call("remove_notes", user, kind=KIND, keys=[key])
        return
    known = (yield from _items(user)).get((tuple(op.namespace), op.key))
    content = {
        "namespace": list(op.namespace),
        "key": op.key,
        "value": op.value,
        "created": (known.created_at if known else datetime.now(UTC)).isoformat(),
    }
    text = json.dumps(content, ensure_ascii=False)
    yield call("put_note", user, kind=KIND, key=key, text=text)


def _items(user: str) -> Flow[dict[tuple[Namespace, str], Item]]:
    """All items of a user, in the order of their creation."""
    notes = yield call("notes", user, kind=KIND)
    items = {}
    for note in notes:
        content = json.loads(note.text)
        namespace = tuple(content["namespace"])
        items[namespace, content["key"]] = Item(
            value=content["value"],
            key=content["key"],
            namespace=namespace,
            created_at=datetime.fromisoformat(content["created"]),
            updated_at=note.time,
        )
    return dict(sorted(items.items(), key=lambda pair: pair[1].created_at))


def _search(op: SearchOp) -> Flow[list[SearchItem]]:
    prefix = tuple(op.namespace_prefix)
    users = prefix[:1] or (yield call("users"))
    found: list[tuple[float | None, Item]] = []
    terms = set(content_terms(op.query)) if op.query else set()
    for user in users:
        items = (yield from _items(user)).values()
        found += [
            (_score(item, terms) if op.query else None, item)
            for item in items
            if item.namespace[: len(prefix)] == prefix and _matches(item.value, op.filter or {})
        ]
    found.sort(key=lambda pair: (-(pair[0] or 0.0), pair[1].created_at))
    return [
        SearchItem(
            namespace=item.namespace,
            key=item.key,
            value=item.value,
            created_at=item.created_at,
            updated_at=item.updated_at,
            score=score,
        )
        for score, item in found[op.offset : op.offset + op.limit]
    ]


def _namespaces(op: ListNamespacesOp) -> Flow[list[Namespace]]:
    found: set[Namespace] = set()
    for user in (yield call("users")):
        found |= {namespace for namespace, _ in (yield from _items(user))}
    chosen = {
        namespace[: op.max_depth]
        for namespace in found
        if all(_fits(namespace, condition) for condition in op.match_conditions or ())
    }
    return sorted(chosen)[op.offset : op.offset + op.limit]


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends like a path, in which `*` stands for any word."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", word) for wanted, word in zip(path, part, strict=True))


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$gt": lambda value, other: float(value) > float(other),
    "$gte": lambda value, other: float(value) >= float(other),
    "$lt": lambda value, other: float(value) < float(other),
    "$lte": lambda value, other: float(value) <= float(other),
}


def _matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the fields of a value are as a filter wants them."""
    return all(_holds(value.get(name), condition) for name, condition in wanted.items())


def _holds(value: Any, condition: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(condition, dict) or not any(name.startswith("$") for name in condition):
        return bool(value == condition)
    return all(_COMPARISONS[name](value, other) for name, other in condition.items())


def _score(item: Item, terms: set[str]) -> float:
    """The share of the query's terms that the item has."""
    text = json.dumps(item.value, ensure_ascii=False)
    return len(terms & set(content_terms(text))) / len(terms) if terms else 0.0


def _note_key(namespace: Sequence[str], key: str) -> str:
    content = json.dumps([*namespace, key], ensure_ascii=False)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
