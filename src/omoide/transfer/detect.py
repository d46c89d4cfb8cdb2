"""Detects which program a file comes from, by its contents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Protocol

from omoide.errors import BadImport
from omoide.transfer import chatgpt, claude, messages
from omoide.transfer.files import JsonElement, elements
from omoide.transfer.foreign_conversations import ForeignConversation, SkippedItem
from omoide.transfer.foreign_memories import ForeignMemories, MemoriesBuilder
from omoide.transfer.products import langgraph, letta, mem0, openai_items, zep
from omoide.transfer.restore import ExportContents, read_contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

WANTED = (
    "an export of omoide (JSON lines with a header), ChatGPT's or Claude's conversations.json, "
    "a memory of mem0, Letta, Zep, Graphiti or LangGraph, OpenAI's conversation items, "
    'or messages like {"role": "user", "content": "…"}'
)

MOST_UNKNOWN = 100_000
"""Most items of a file that are nothing known: a small zip can hold millions of them."""


class Product(Protocol):
    """A file that reads the exports of a memory product."""

    NAME: str

    def matches(self, value: object) -> bool:
        """Whether a value looks like one of its items, or like a list of them."""

    def read(self, value: dict[str, Any], *, where: str, builder: MemoriesBuilder) -> None:
        """Read it into the builder."""


@dataclass(frozen=True, kw_only=True)
class ForeignExport:
    """An export of another program. Its conversations are read lazily, and only once."""

    source: str
    conversations: Iterator[ForeignConversation]


PRODUCTS: tuple[Product, ...] = (letta, langgraph, mem0, zep, openai_items)
"""Memory products whose exports are read; the first that matches counts."""


def read(
    path: Path, *, max_chars: int, from_user: str | None = None
) -> ExportContents | ForeignExport | ForeignMemories:
    """Read a file. `from_user` is whose items to take of a memory product's export, by the name
    they have there. Raises `BadImport` if its format is unknown."""
    return _read(elements(path), path.name, max_chars=max_chars, from_user=from_user)


def read_values(values: Iterable[object], *, max_chars: int) -> ForeignExport:
    """Read conversations of another program that were parsed already, such as a part of its file.
    Raises `BadImport` if their format is unknown."""
    stream = (
        JsonElement(where=f"item {i}", document=0, value=value) for i, value in enumerate(values, 1)
    )
    found = _read(stream, "this", max_chars=max_chars, from_user=None)
    if isinstance(found, ExportContents):
        raise BadImport("this is an export of omoide: restore it with `omoide import FILE`")
    if isinstance(found, ForeignMemories):
        raise BadImport(f"this is a memory of {found.source}: take it with `omoide import FILE`")
    return found


def _read(
    stream: Iterator[JsonElement], name: str, *, max_chars: int, from_user: str | None
) -> ExportContents | ForeignExport | ForeignMemories:
    passed: list[JsonElement] = []
    for element in stream:
        value, rest = element.value, chain(passed, [element], stream)
        if isinstance(value, dict) and value.get("kind") == "header":
            if passed:
                raise BadImport(f"{element.where}: the header must come first")
            _check_unchosen(from_user, "omoide")
            return read_contents(rest)
        for product in PRODUCTS:
            if product.matches(value):
                builder = MemoriesBuilder(
                    source=product.NAME, max_chars=max_chars, wanted=from_user
                )
                return _memories(rest, product, builder)
        for known in (chatgpt, claude):
            if known.matches(value):
                _check_unchosen(from_user, known.NAME)
                conversations = _objects(_limited(rest, known.matches), known.NAME, max_chars)
                return ForeignExport(source=known.NAME, conversations=conversations)
        if messages.matches(value):
            _check_unchosen(from_user, messages.NAME)
            talks = _messages(_limited(rest, messages.matches), max_chars)
            return ForeignExport(source=messages.NAME, conversations=talks)
        passed.append(element)
        if len(passed) == MOST_UNKNOWN:
            break
    raise BadImport(f"{name} is not a known export: wanted {WANTED}; it has {_describe(passed)}")


def _check_unchosen(from_user: str | None, source: str) -> None:
    if from_user is not None:
        raise BadImport(f"an export of {source} does not name its users: leave --from out")


def _limited(
    stream: Iterator[JsonElement], known: Callable[[object], bool]
) -> Iterator[JsonElement]:
    """The elements; raises `BadImport` once too many are something else."""
    unknown = 0
    for element in stream:
        unknown += not known(element.value)
        if unknown > MOST_UNKNOWN:
            raise BadImport(
                f"{element.where}: more than {MOST_UNKNOWN:,} items are nothing that is known: "
                "is this the right file?"
            )
        yield element


def _memories(
    stream: Iterator[JsonElement], product: Product, builder: MemoriesBuilder
) -> ForeignMemories:
    for element in stream:
        if element.problem:
            builder.leave_out(element.problem, where=element.where)
        elif isinstance(element.value, dict) and product.matches(element.value):
            product.read(element.value, where=element.where, builder=builder)
        else:
            builder.keep(element.value, what="something unknown", where=element.where)
    return builder.built()


def _objects(
    stream: Iterator[JsonElement], source: str, max_chars: int
) -> Iterator[ForeignConversation]:
    known = chatgpt if source == chatgpt.NAME else claude
    for element in stream:
        if isinstance(element.value, dict) and known.matches(element.value):
            yield known.read(element.value, where=element.where, max_chars=max_chars)
        else:
            yield _bad(element, f"it is not a conversation of {source}")


def _messages(stream: Iterator[JsonElement], max_chars: int) -> Iterator[ForeignConversation]:
    """Each object with a list of messages is a conversation. Single messages form one conversation
    together, unless each line is a list."""
    for _, group in groupby(stream, key=lambda element: element.document):
        bare: list[JsonElement] = []
        for element in group:
            value = element.value
            if isinstance(value, dict) and isinstance(value.get("messages"), list):
                yield messages.read(value, where=element.where, max_chars=max_chars)
            else:
                bare.append(element)
        if bare:
            yield messages.single_conversation(bare, max_chars=max_chars)


def _bad(element: JsonElement, why: str) -> ForeignConversation:
    reason = element.problem or f"{why} but {_kind(element.value)}"
    return ForeignConversation(
        key="", messages=(), left_out=(SkippedItem(where=element.where, reason=reason),)
    )


def _describe(passed: list[JsonElement]) -> str:
    if not passed:
        return "nothing"
    if problem := passed[0].problem:
        return f"at {passed[0].where} {problem}"
    return f"{len(passed):,} item(s), the first of them {_kind(passed[0].value)}"


def _kind(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(repr(str(name)[:30]) for name in list(value)[:6])
        return f"an object with {names}" if names else "an empty object"
    kinds = {str: "a text", list: "a list", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
