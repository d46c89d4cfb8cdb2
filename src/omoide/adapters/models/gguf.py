"""Reads the metadata in the header of a GGUF file, and checks that the file is complete."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING, _ARRAY = 8, 9
_CONTROL, _UNKNOWN, _USER_DEFINED = 3, 2, 4
_MARKER = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")
_BARRED = re.compile(r"<[|｜].+[|｜]>")


@dataclass(frozen=True, kw_only=True)
class GgufHead:
    """The metadata of a GGUF file that chat needs."""

    architecture: str
    context_length: int
    """Context length in tokens that the model was trained with; 0 if the file does not say."""
    has_template: bool
    specials: tuple[str, ...]
    """Texts of control tokens. A user's message must never be tokenized into one."""


class _Broken(Exception):
    """The file is not a complete GGUF file."""


def read_head(path: Path) -> GgufHead:
    """Read the metadata. Raises `ModelUnavailable` if the file is not a complete GGUF."""
    values = read_metadata(path)
    tokens, types = (values.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type"))
    try:
        specials = _specials(tokens, types)
    except ValueError as error:
        raise _refused(path, "its numbers of tokens and token types differ") from error
    architecture = str(values.get("general.architecture", ""))
    length = values.get(f"{architecture}.context_length")
    return GgufHead(
        architecture=architecture,
        context_length=length if isinstance(length, int) else 0,
        has_template=bool(values.get("tokenizer.chat_template")),
        specials=specials,
    )


def read_metadata(path: Path) -> Mapping[str, object]:
    """Read all metadata by key. Raises `ModelUnavailable` as `read_head` does."""
    try:
        with path.open("rb") as file:
            return _read(file, size=path.stat().st_size)
    except FileNotFoundError as error:
        raise ModelUnavailable(f"there is no model file at {path}; check the path") from error
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error}") from error
    except (_Broken, struct.error, ValueError, OverflowError, MemoryError, RecursionError) as error:
        raise _refused(path, str(error)) from error


def _refused(path: Path, why: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{path} is not a complete GGUF model ({why}); delete it and download it again"
    )


def _read(file: BinaryIO, *, size: int) -> dict[str, object]:
    if file.read(4) != b"GGUF":
        raise _Broken("it does not begin with GGUF")
    version, tensors, pairs = struct.unpack("<IQQ", _take(file, 20))
    if version not in (2, 3):
        raise _Broken(f"its version is {version}, expected 2 or 3")
    if max(tensors, pairs) > size:
        raise _Broken("its header counts exceed the file size")
    values: dict[str, object] = {}
    for _ in range(pairs):
        key = _text(file, size)
        (kind,) = struct.unpack("<I", _take(file, 4))
        values[key] = _value(file, kind, size)
    last = 0
    for _ in range(tensors):
        _text(file, size)
        (dimensions,) = struct.unpack("<I", _take(file, 4))
        *_, offset = struct.unpack(f"<{dimensions}QIQ", _take(file, 8 * dimensions + 12))
        last = max(last, offset)
    if file.tell() + last >= size:
        raise _Broken(f"it ends at {size} bytes, before its last tensor begins")
    return values


def _specials(tokens: object, types: object) -> tuple[str, ...]:
    """Control tokens, and tokens that look like one.

    llama.cpp also treats `<|…|>` tokens as control tokens if a file does not mark them.
    """
    if not isinstance(tokens, list) or not isinstance(types, list | tuple):
        return ()
    return tuple(
        token
        for token, kind in zip(tokens, types, strict=True)
        if len(token) > 1
        and (
            kind in (_CONTROL, _UNKNOWN)
            or (kind == _USER_DEFINED and _MARKER.fullmatch(token))
            or (token[0] == "<" and _BARRED.fullmatch(token))
        )
    )


def _value(file: BinaryIO, kind: int, size: int) -> object:
    if kind == _STRING:
        return _text(file, size)
    if kind == _ARRAY:
        inner, length = struct.unpack("<IQ", _take(file, 12))
        if length > size:
            raise _Broken("an array is longer than the file")
        if inner == _STRING:
            return [_text(file, size) for _ in range(length)]
        if inner in _SCALARS:
            form = f"<{length}{_SCALARS[inner]}"
            return struct.unpack(form, _take(file, struct.calcsize(form)))
        return [_value(file, inner, size) for _ in range(length)]
    if kind not in _SCALARS:
        raise _Broken(f"a value of unknown type {kind}")
    form = "<" + _SCALARS[kind]
    return struct.unpack(form, _take(file, struct.calcsize(form)))[0]


def _text(file: BinaryIO, size: int) -> str:
    (length,) = struct.unpack("<Q", _take(file, 8))
    if length > size:
        raise _Broken("a string is longer than the file")
    return _take(file, length).decode("utf-8", "replace")


def _take(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise _Broken("it ends inside its header")
    return data
