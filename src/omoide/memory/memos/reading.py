"""Reading a model's memos and choices, whatever they are wrapped in.

A model that is held to a schema gives clean JSON; others give fences, prose, single quotes,
trailing commas, or break off. What is whole is read; what is not raises `BadReply`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.domain.memo import Span
from omoide.errors import BadReply

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIED = 200
"""Brackets at which no JSON begins, after which no more are looked at: a model that lost its way
writes thousands."""
NOTO = "NOTO"
"""The paper's word for "none of these"."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One memo as a model wrote it."""

    topic: str
    summary: str
    span: Span


def read_entries(text: str) -> tuple[Entry, ...]:
    """The whole memos in an answer, in its order. Raises `BadReply` if there is none."""
    for found in (_from_json(text), _from_pairs(text)):
        if entries := tuple(entry for fields in found if (entry := _entry(fields))):
            return entries
    raise BadReply(f"memos with topic, start, end and summary were wanted; came {text[:80]!r}")


def read_choice(text: str, *, count: int) -> tuple[int, ...]:
    """The numbers of the memos chosen out of 1 to `count`, in order; none for NOTO. Raises
    `BadReply` if the answer names neither."""
    answer = _FENCE.sub("", text).strip()
    numbers = [int(number) for number in _NUMBER.findall(answer)]
    chosen = tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))
    if chosen:
        return chosen
    if 0 in numbers or NOTO in answer.upper():
        return ()
    raise BadReply(f"numbers from 0 to {count} were wanted; came {text[:80]!r}")


_OPENING = re.compile(r"[\[{]")
_FENCE = re.compile(r"^\s*```\w*|```\s*$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\d.])\d{1,4}(?![\d.]*\d)")
_PAIR = re.compile(
    r"""["'“”]?\b(?P<key>topic|start|end|summary)\b["'“”]?\s*[:：=]\s*
    (?: "(?P<double>(?:[^"\\]|\\.)*)"
      | [“](?P<curly>[^”]*)[”]
      | '(?P<single>.*?)'(?=\s*(?:[,}\]\n]|$))
      | ["']?(?:line\s*)?(?P<number>-?\d{1,6})["']? )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def _from_json(text: str) -> Iterator[dict[str, Any]]:
    """The objects in every piece of the text that is JSON."""
    decoder = json.JSONDecoder()
    reached = failures = 0
    while (found := _OPENING.search(text, reached)) and failures < TRIED:
        try:
            value, reached = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            reached = found.end()
            failures += 1
        else:
            yield from _objects(value)


def _objects(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The innermost objects that look like memos."""
    if depth > 4:
        return
    if isinstance(value, dict):
        if any(isinstance(key, str) and key.lower() == "summary" for key in value):
            yield {str(key).lower(): inner for key, inner in value.items()}
        else:
            for inner in value.values():
                yield from _objects(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, depth + 1)


def _from_pairs(text: str) -> Iterator[dict[str, Any]]:
    """Keys and values wherever they stand; a key that comes again begins the next memo."""
    fields: dict[str, Any] = {}
    reached = 0
    for found in _PAIR.finditer(text):
        key = found["key"].lower()
        if key in fields or "}" in text[reached : found.start()]:
            yield fields
            fields = {}
        fields[key] = next(
            value
            for value in found.group("double", "curly", "single", "number")
            if value is not None
        )
        reached = found.end()
    yield fields


def _entry(fields: dict[str, Any]) -> Entry | None:
    """A memo of the fields, if all are there."""
    topic, summary = (_line(fields.get(key)) for key in ("topic", "summary"))
    first = _number(fields.get("start"))
    last = _number(fields.get("end"))
    if not topic or not summary or first is None:
        return None
    return Entry(
        topic=topic,
        summary=summary,
        span=Span(first=first, last=first if last is None else last),
    )


def _line(value: object) -> str:
    if not isinstance(value, str):
        return ""
    plain = value.replace("\\n", " ").replace('\\"', '"').replace("\\'", "'")
    return " ".join("".join(c if c.isprintable() else " " for c in plain).split())


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return max(-1, min(value, 10**6))
    if isinstance(value, float):
        return _number(int(value)) if abs(value) < 10**6 else None
    found = re.search(r"-?\d{1,6}", value) if isinstance(value, str) else None
    return int(found.group()) if found else None
