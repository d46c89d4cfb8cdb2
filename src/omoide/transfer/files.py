"""Reads a file as a stream of JSON values: JSON, JSON lines, or either of them in a zip.

A long array is read element by element, so that a file of gigabytes needs only as much memory as
its largest conversation.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from omoide.errors import BadImport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHUNK = 1 << 20
FIRST_LINE = 1 << 24
"""How much of the first line is read to tell JSON lines from one long array."""
LARGEST = 1 << 28
"""Most characters of one line, one element of an array, or a file that is neither: a small zip can
expand to more than fits into memory."""
_MEMBER = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, kw_only=True)
class JsonElement:
    """One JSON value and where it was found; or, if it could not be read, why."""

    where: str
    document: int
    """The line, if the value is in an array on its own line; 0 for values that are not in an array,
    or in the single array of the file."""
    value: object = None
    problem: str = ""


def elements(path: Path) -> Iterator[JsonElement]:
    """Every element of the file. Raises `BadImport` if it cannot be read as JSON at all."""
    try:
        with _opened(path) as streams:
            for name, stream in streams:
                yield from _elements(stream, name)
    except OSError as error:
        raise BadImport(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadImport(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x}): "
            "wanted a .json, .jsonl or .zip file"
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadImport(f"{path} is a damaged or unsupported zip file: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, IO[str]]]]:
    if path.is_dir():
        raise BadImport(f"{path} is a folder: give the .json, .jsonl or .zip file")
    if not path.exists():
        raise BadImport(f"there is no file {path}")
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            yield iter([("", io.TextIOWrapper(file, encoding="utf-8-sig"))])
            return
        with zipfile.ZipFile(file) as archive:
            yield _members(archive, path)


def _members(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, IO[str]]]:
    names = archive.namelist()
    members = sorted(name for name in names if _MEMBER.search(name))
    members = members or [name for name in names if name.endswith(".jsonl")]
    if not members:
        shown = ", ".join(names[:5]) or "nothing"
        raise BadImport(f"{path} contains no conversations.json; it contains {shown}")
    for name in members:
        with archive.open(name) as member:
            yield name, io.TextIOWrapper(member, encoding="utf-8-sig")


def _elements(stream: IO[str], name: str) -> Iterator[JsonElement]:
    inside = f"{name}, " if name else ""
    first = stream.readline(FIRST_LINE)
    while first and not first.strip():
        first = stream.readline(FIRST_LINE)
    complete, value = _parsed(first)
    following = _line(stream, inside) if complete else ""
    while following and not following.strip():
        following = _line(stream, inside)
    if complete and following:
        yield from _lines(value, following, stream, inside)
    elif complete:
        yield from _document(value, inside)
    elif first.lstrip().startswith("["):
        yield from _array(first, stream, inside)
    else:
        text = first + stream.read(LARGEST)
        if len(text) > LARGEST:
            raise _too_large(inside)
        try:
            yield from _document(json.loads(text), inside)
        except (ValueError, RecursionError) as error:
            seen = f"it begins with {text[:60]!r}" if text.strip() else "it is empty"
            raise BadImport(
                f"{inside}this is neither JSON nor JSON lines ({_why(error)}), {seen}: "
                "`omoide import --help` names what can be imported"
            ) from error


def _parsed(line: str) -> tuple[bool, object]:
    try:
        return True, json.loads(line)
    except (ValueError, RecursionError):
        return False, None


def _document(value: object, inside: str, document: int = 0) -> Iterator[JsonElement]:
    if isinstance(value, list):
        for i, item in enumerate(value, 1):
            yield JsonElement(where=f"{inside}item {i}", document=document, value=item)
    else:
        yield JsonElement(where=f"{inside}item 1", document=document, value=value)


def _lines(first: object, second: str, stream: IO[str], inside: str) -> Iterator[JsonElement]:
    """JSON lines. A line that is not JSON is one bad element; the others are still read."""
    if isinstance(first, list):
        yield from _document(first, f"{inside}line 1, ", 1)
    else:
        yield JsonElement(where=f"{inside}line 1", document=0, value=first)
    number, line = 2, second
    while line:
        if line.strip():
            where = f"{inside}line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield JsonElement(where=where, document=0, problem=f"not JSON: {_why(error)}")
            else:
                if isinstance(value, list):
                    yield from _document(value, f"{where}, ", number)
                else:
                    yield JsonElement(where=where, document=0, value=value)
        line = _line(stream, inside)
        number += 1


def _array(start: str, stream: IO[str], inside: str) -> Iterator[JsonElement]:
    """The elements of one long array, read piece by piece."""
    decoder = json.JSONDecoder()
    text, at, number, step = start, start.index("[") + 1, 0, CHUNK
    ended = False
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            if (text[at + 1 :] + stream.read(CHUNK)).strip():
                raise BadImport(
                    f"{inside}something follows the array after item {number}: give one array, "
                    "or write each on one line"
                )
            return
        try:
            value, after = _following(decoder, text, at)
        except (ValueError, RecursionError) as error:
            if ended:
                raise BadImport(
                    f"{inside}item {number + 1} cannot be read: {_why(error)}; "
                    "the file may be cut short"
                ) from error
            if len(text) - at > LARGEST:
                raise _too_large(f"{inside}item {number + 1}, ") from error
            more = stream.read(step)
            ended = not more
            text, at, step = text[at:] + more, 0, step * 2
            continue
        number += 1
        yield JsonElement(where=f"{inside}item {number}", document=0, value=value)
        at = after + (text[after] == ",")
        if at > CHUNK:
            text, at, step = text[at:], 0, CHUNK


def _line(stream: IO[str], inside: str) -> str:
    line = stream.readline(LARGEST)
    if len(line) == LARGEST:
        raise _too_large(inside)
    return line


def _too_large(inside: str) -> BadImport:
    return BadImport(f"{inside}one value has more than {LARGEST:,} characters: split the export")


def _following(decoder: json.JSONDecoder, text: str, at: int) -> tuple[object, int]:
    """The value at `at`, and the index of the comma or bracket after it. `ValueError` if the value
    may be incomplete: without what follows, 12 may be the beginning of 123."""
    value, after = decoder.raw_decode(text, at)
    after = _skip(text, after)
    if text[after : after + 1] not in (",", "]"):
        raise ValueError("expected , or ] after it")
    return value, after


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _why(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
