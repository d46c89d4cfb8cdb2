"""Reads JSON and CSV files; errors name the file and line."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

from omoide.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ENOUGH = 1_000_000
csv.field_size_limit(_ENOUGH)


@dataclass(frozen=True)
class JsonRecord:
    """A JSON value and its place in a file; accessors raise `BadData` that names the place."""

    value: object
    place: str

    def bad(self, wanted: str) -> BadData:
        """The error that says what was wanted here and what was found."""
        got = repr(self.value)
        return BadData(
            f"{self.place}: wanted {wanted}, got {got[:60]}{'…' if len(got) > 60 else ''}"
        )

    def of(self, key: str) -> JsonRecord:
        """A required field."""
        if not isinstance(self.value, dict):
            raise self.bad(f"an object with {key!r}")
        if key not in self.value:
            fields = ", ".join(sorted(map(str, self.value)))[:120]
            raise BadData(f"{self.place}: wanted the field {key!r}, found {fields or 'none'}")
        return JsonRecord(self.value[key], f"{self.place}, {key}")

    def has(self, key: str) -> bool:
        """Whether a field exists and is not null."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    @property
    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.bad("text")
        return self.value

    @property
    def plain(self) -> str:
        """A string, or a number written as one."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float):
            raise self.bad("text or a number")
        return str(self.value)

    @property
    def number(self) -> int:
        """An integer."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.bad("a whole number")
        return self.value

    def each(self) -> list[JsonRecord]:
        """The members of a list."""
        if not isinstance(self.value, list):
            raise self.bad("a list")
        return [JsonRecord(value, f"{self.place}[{i}]") for i, value in enumerate(self.value)]

    def items(self) -> list[tuple[str, JsonRecord]]:
        """The fields of an object."""
        if not isinstance(self.value, dict):
            raise self.bad("an object")
        return [(str(k), JsonRecord(v, f"{self.place}, {k}")) for k, v in self.value.items()]

    def texts(self) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(member.text for member in self.each())


def opened(path: Path) -> IO[str]:
    """An open text file, gzip-compressed or not."""
    if path.suffix == ".gz":
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8", newline=""))
    return path.open(encoding="utf-8", newline="")


def json_lines(path: Path) -> Iterator[JsonRecord]:
    """The records of a JSON Lines file; empty lines are skipped."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield JsonRecord(_parsed(line, f"{path}, line {number}"), f"{path}, line {number}")


def json_file(path: Path) -> JsonRecord:
    """The content of a JSON file."""
    with opened(path) as file:
        text = file.read()
    try:
        return JsonRecord(json.loads(text), str(path))
    except json.JSONDecodeError as error:
        raise BadData(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error


def csv_rows(path: Path, *columns: str) -> Iterator[JsonRecord]:
    """The rows of a table with at least these columns."""
    with opened(path) as file:
        reader = csv.DictReader(file)
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            columns_found = ", ".join(reader.fieldnames or ()) or "none"
            raise BadData(f"{path}, line 1: wanted the columns {missing}, found {columns_found}")
        for row in reader:
            place = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                count = len(reader.fieldnames or ())
                raise BadData(f"{place}: the row must have {count} fields, one per column")
            yield JsonRecord(row, place)


def _parsed(line: str, place: str) -> object:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadData(f"{place}: not JSON: {error.msg} at character {error.pos}") from error
