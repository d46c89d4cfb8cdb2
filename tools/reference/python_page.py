"""docs/reference/python.md: the public API, from its signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from markdown_text import MADE, field_docs, table

import omoide
from omoide.engine import SyncExchange, SyncReply
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTRO = """\
The names of `omoide`, and nothing else, are the public API. `omoide.open()` gives a `SyncMemory`,
whose methods are those of `Memory` without `await`; `omoide.open_async()` gives a `Memory`.

## Opening
"""


def python_page() -> Iterator[str]:
    """What `omoide` exports."""
    yield from ("# Python", "", MADE, "", INTRO, "")
    yield from (
        *function_part("omoide.open", omoide.open),
        *function_part("omoide.open_async", omoide.open_async),
        "## Memory",
        "",
        inspect.getdoc(omoide.Memory) or "",
        "",
    )
    for name, verb in vars(omoide.SyncMemory).items():
        if callable(verb) and not name.startswith("_"):
            yield from function_part(f"memory.{name}", inspect.unwrap(verb))
    for title, cls in (("SyncReply", SyncReply), ("SyncExchange", SyncExchange)):
        yield from class_part(title, cls)
    for name in omoide.__all__:
        cls = getattr(omoide, name)
        if dataclasses.is_dataclass(cls) and cls is not Settings:
            yield from class_part(name, cls)
        elif isinstance(cls, type) and issubclass(cls, StrEnum):
            values = ", ".join(f"`{member.value}`" for member in cls)
            yield from (f"## {name}", "", inspect.getdoc(cls) or "", "", f"Values: {values}.", "")


def function_part(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """A function's signature and docstring."""
    yield from (f"### {name}", "", "```text", *signature_lines(name, function), "```", "")
    yield from (inspect.getdoc(function) or "", "")


def signature_lines(name: str, function: Callable[..., Any]) -> list[str]:
    """The signature without `self`, over several lines if it is long."""
    signature = inspect.signature(function)
    given = [p for p in signature.parameters.values() if p.name != "self"]
    whole = signature.replace(parameters=given)
    text = plain(f"{name}{whole}")
    if len(text) <= 100:
        return [text]
    arrow = text.rpartition(" -> ")[2]
    parts, star = [], False
    for p in given:
        if p.kind is p.KEYWORD_ONLY and not star:
            parts, star = [*parts, "*"], True
        parts.append(plain(str(p)))
    return [f"{name}(", *(f"    {part}," for part in parts), f") -> {arrow}"]


def plain(signature: str) -> str:
    """A signature as it is written in the code: annotations unquoted, members by their value."""
    quoted = re.sub(r"= '([^']*)'", r'= "\1"', signature)
    return re.sub(r"<\w+\.\w+: (\w+)>", r'"\1"', quoted.replace("'", ""))


def class_part(name: str, cls: type) -> Iterator[str]:
    """A class: its fields, properties and methods."""
    yield from (f"## {name}", "", inspect.getdoc(cls) or "", "")
    docs, rows = field_docs(cls), []
    if dataclasses.is_dataclass(cls):
        fields = [f for f in dataclasses.fields(cls) if not f.name.startswith("_")]
        rows += [[f"`{f.name}`", f"`{f.type}`", docs.get(f.name, "")] for f in fields]
    for attribute, value in vars(cls).items():
        if attribute.startswith("_"):
            continue
        if isinstance(value, property):
            rows.append([f"`{attribute}`", "property", inspect.getdoc(value) or ""])
        elif inspect.isfunction(value):
            rows.append([f"`{attribute}()`", "method", inspect.getdoc(value) or ""])
    yield from table(["name", "type", "meaning"], rows)
