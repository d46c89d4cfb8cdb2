"""Parses a model's memos and choices leniently.

A model constrained by a schema gives clean JSON; others add code fences, prose, single quotes or
trailing commas, or stop early. Complete memos are read; if there is none, `BadReply` is raised.
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
"""Maximum number of brackets tried in vain as the start of JSON: a looping model writes
thousands."""
NOTO = "NOTO"
"""The paper's word for "none of these"."""


@dataclass(frozen=True, kw_only=True)
class MemoEntry:
    """One memo as a model wrote it."""

    topic: str
    summary: str
    span: Span


def read_entries(text: str) -> tuple[MemoEntry, ...]:
    """The complete memos in an answer, in order. Raises `BadReply` if there is none."""
    for candidates in (_from_json(text), _from_pairs(text)):
        if entries := tuple(entry for fields in candidates if (entry := _entry(fields))):
            return entries
    raise BadReply(f"wanted memos with topic, start, end and summary, got {text[:80]!r}")


def read_choice(text: str, *, count: int) -> tuple[int, ...]:
    """The numbers of the chosen memos from 1 to `count`, in order; empty for NOTO. Raises
    `BadReply` if the answer has neither."""
    answer = _FENCE.sub("", text).strip()
    numbers = [int(number) for number in _NUMBER.findall(answer)]
    chosen = tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))
    if chosen:
        return chosen
    if 0 in numbers or NOTO in answer.upper():
        return ()
    raise BadReply(f"wanted numbers from 0 to {count}, got {text[:80]!r}")


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
    """The objects in all JSON fragments of the text."""
    decoder = json.JSONDecoder()
    position = failures = 0
    while (match := _OPENING.search(text, position)) and failures < TRIED:
        try:
            value, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
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
    """Keys and values anywhere in the text; a repeated key begins the next memo."""
    fields: dict[str, Any] = {}
    position = 0
    for match in _PAIR.finditer(text):
        key = match["key"].lower()
        if key in fields or "}" in text[position : match.start()]:
            yield fields
            fields = {}
        fields[key] = next(
            value
            for value in match.group("double", "curly", "single", "number")
            if value is not None
        )
        position = match.end()
    yield fields


def _entry(fields: dict[str, Any]) -> MemoEntry | None:
    """A memo from the fields; None if one is missing."""
    topic, summary = (_line(fields.get(key)) for key in ("topic", "summary"))
    first = _number(fields.get("start"))
    last = _number(fields.get("end"))
    if not topic or not summary or first is None:
        return None
    return MemoEntry(
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
    match = re.search(r"-?\d{1,6}", value) if isinstance(value, str) else None
    return int(match.group()) if match else None
