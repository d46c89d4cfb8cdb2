"""Which program a file comes from, seen from what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

from omoide.errors import BadImport
from omoide.transfer import chatgpt, claude, messages
from omoide.transfer.files import elements
from omoide.transfer.foreign import Conversation, LeftOut
from omoide.transfer.restore import Contents, contents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide.transfer.files import Element

WANTED = (
    "an export of omoide (JSON lines with a header), ChatGPT's or Claude's conversations.json, "
    'or messages like {"role": "user", "content": "…"}'
)


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """Another program's export; its conversations are read as they are asked for, once."""

    source: str
    conversations: Iterator[Conversation]


def read(path: Path, *, longest: int) -> Contents | Foreign:
    """What the file holds. Raises `BadImport` if it is none of what we know."""
    found = elements(path)
    passed: list[Element] = []
    for element in found:
        value, rest = element.value, chain(passed, [element], found)
        if isinstance(value, dict) and value.get("kind") == "header":
            if passed:
                raise BadImport(f"{element.where}: the header must come first")
            return contents(rest)
        for known in (chatgpt, claude):
            if known.matches(value):
                read_one = _objects(rest, known.NAME, longest)
                return Foreign(source=known.NAME, conversations=read_one)
        if messages.matches(value):
            return Foreign(source=messages.NAME, conversations=_messages(rest, longest))
        passed.append(element)
    raise BadImport(
        f"{path.name} is not an export we know: wanted {WANTED}; it has {_seen(passed)}"
    )


def _objects(found: Iterator[Element], source: str, longest: int) -> Iterator[Conversation]:
    known = chatgpt if source == chatgpt.NAME else claude
    for element in found:
        if isinstance(element.value, dict) and known.matches(element.value):
            yield known.read(element.value, where=element.where, longest=longest)
        else:
            yield _bad(element, f"it is no conversation of {source}")


def _messages(found: Iterator[Element], longest: int) -> Iterator[Conversation]:
    """Objects with messages are conversations each; bare messages make up one together, unless
    each line is a list of its own."""
    for _, group in groupby(found, key=lambda element: element.document):
        bare: list[Element] = []
        for element in group:
            value = element.value
            if isinstance(value, dict) and isinstance(value.get("messages"), list):
                yield messages.read(value, where=element.where, longest=longest)
            else:
                bare.append(element)
        if bare:
            yield messages.together(bare, longest=longest)


def _bad(element: Element, why: str) -> Conversation:
    reason = element.problem or f"{why} but {_kind(element.value)}"
    return Conversation(
        key="", messages=(), left_out=(LeftOut(where=element.where, reason=reason),)
    )


def _seen(passed: list[Element]) -> str:
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
