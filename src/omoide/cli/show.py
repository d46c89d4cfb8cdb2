"""Terminal output: safe text, human-readable times, tables, and JSON."""

from __future__ import annotations

import json
import sys
import unicodedata
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING

import click

from omoide.cli.zone import local
from omoide.domain import Receipt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STEPS = (
    (60, "second", 1),
    (3600, "minute", 60),
    (86_400, "hour", 3600),
    (7 * 86_400, "day", 86_400),
    (30 * 86_400, "week", 7 * 86_400),
    (365 * 86_400, "month", 30 * 86_400),
)


def clean(text: str) -> str:
    """Text without terminal control: control characters are made visible."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(c if c in "\n\t" else _visible(c) for c in text)


def one_line(text: str, *, max_chars: int | None = None) -> str:
    """Clean text on one line, cut to `max_chars` characters if given."""
    line = " ".join(clean(text).split())
    return line if max_chars is None or len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def ago(time: datetime, now: datetime) -> str:
    """How long ago, in words: "3 weeks ago", "in 2 hours", "just now"."""
    seconds = (now - time).total_seconds()
    past, seconds = seconds >= 0, abs(seconds)
    if seconds < 10:
        return "just now"
    for limit, unit, size in _STEPS:
        if seconds < limit:
            return _counted(int(seconds // size), unit, past=past)
    return _counted(int(seconds // (365 * 86_400)), "year", past=past)


def stamp(time: datetime) -> str:
    """The local time."""
    return f"{local(time):%Y-%m-%d %H:%M}"


def format_time(time: datetime, now: datetime) -> str:
    """Local time and how long ago: "2026-01-05 09:00, 3 weeks ago"."""
    return f"{stamp(time)}, {ago(time, now)}"


def plural(count: int, thing: str, things: str = "") -> str:
    """A count with its noun: "1 session", "3 sessions"."""
    return f"{count:,} {thing if count == 1 else things or f'{thing}s'}"


def dim(text: str) -> str:
    """Style for less important text."""
    return click.style(text, dim=True)


def bold(text: str) -> str:
    """Style for a heading."""
    return click.style(text, bold=True)


def warning(text: str) -> str:
    """Style for something that needs attention."""
    return click.style(text, fg="yellow")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """A table; the columns in `right` are right-aligned."""
    cells = [list(head), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    to_right = set(right)
    lines = [
        "  ".join(
            " " * (w - width(cell)) + cell if i in to_right else cell + " " * (w - width(cell))
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([dim(lines[0]), *lines[1:]])


def width(text: str) -> int:
    """How many terminal columns a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def last_columns(text: str, columns: int) -> str:
    """The end of a line that fits into so many columns, after a dot if something is left out."""
    if width(text) <= columns:
        return text
    end = len(text)
    while end and width(text[end - 1 :]) < columns:
        end -= 1
    return f"…{text[end:]}"


def as_json(value: object) -> object:
    """Any of our values as plain JSON: times in ISO 8601 and UTC, enums by value."""
    if isinstance(value, Receipt):  # as it is saved and checked
        return json.loads(value.to_json())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, dict):
        return {str(as_json(key)): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def emit(value: object, *, indent: int | None = 2) -> None:
    """Print JSON on stdout, in ASCII if the terminal does not take UTF-8."""
    click.echo(json.dumps(as_json(value), ensure_ascii=not unicode(), indent=indent))


def unicode() -> bool:
    """Whether stdout takes UTF-8."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _visible(c: str) -> str:
    code = ord(c)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0 or c in _DIRECTIONS or 0xD800 <= code < 0xE000:
        return f"<U+{code:04X}>"
    return c


def _counted(count: int, unit: str, *, past: bool) -> str:
    words = plural(max(count, 1), unit)
    return f"{words} ago" if past else f"in {words}"
