"""The tokenizer of a GGUF file, without loading the model: byte-pair encoding of its own merges.

llama.cpp tells the tokens of a text only once a gigabyte of weights is in memory. The vocabulary
and the merges stand in the head of the same file, and `tokenizers` (extra `onnx`) can run them.
"""

from __future__ import annotations

import asyncio
import struct
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from omoide.errors import MissingExtra, ModelUnavailable

if TYPE_CHECKING:
    from pathlib import Path

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9
_WANTED = ("tokenizer.ggml.model", "tokenizer.ggml.tokens", "tokenizer.ggml.merges")
_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Where Qwen cuts before it encodes; GPT-2 and its heirs differ in how they take digits."""


class GgufTokens:
    """Cuts text as the model in a GGUF file does, if that model has a byte-level BPE."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def pieces(self, text: str) -> tuple[str, ...]:
        """See `Tokenizer.pieces`."""
        return await asyncio.to_thread(self._pieces, text)

    def count(self, text: str) -> int:
        """How many tokens `text` has, parts of a character counted one by one. Blocks."""
        return len(self._encoder.encode(text).ids)

    def _pieces(self, text: str) -> tuple[str, ...]:
        ends = sorted({end for _, end in self._encoder.encode(text).offsets} | {len(text)})
        starts = [0, *ends[:-1]]
        return tuple(text[a:b] for a, b in zip(starts, ends, strict=True) if a < b)

    @cached_property
    def _encoder(self) -> Any:  # noqa: ANN401 - the vendor's types are not installed everywhere
        try:
            vendor = import_module("tokenizers")
        except ImportError as error:
            raise MissingExtra(
                f"the tokens of {self._path.name} need tokenizers, which is not installed: "
                'pip install "omoide[onnx]"'
            ) from error
        try:
            with self._path.open("rb") as file:
                head = _head(file)
        except (OSError, struct.error, UnicodeDecodeError) as error:
            raise ModelUnavailable(f"{self._path} is not a GGUF model ({error})") from error
        kind, tokens, merges = (head.get(key) for key in _WANTED)
        if kind != "gpt2" or not isinstance(tokens, list) or not isinstance(merges, list):
            raise ModelUnavailable(
                f"{self._path.name} has a tokenizer of kind {kind!r}, wanted a byte-level BPE"
            )
        vocabulary = {token: i for i, token in enumerate(tokens)}
        pairs = [tuple(merge.split(" ", 1)) for merge in merges]
        encoder = vendor.Tokenizer(vendor.models.BPE(vocabulary, pairs))
        cut = vendor.pre_tokenizers
        encoder.pre_tokenizer = cut.Sequence(
            [
                cut.Split(vendor.Regex(_QWEN), "isolated"),
                cut.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        return encoder


def _head(file: BinaryIO) -> dict[str, object]:
    """What of the file's head is wanted."""
    if file.read(4) != b"GGUF":
        raise ModelUnavailable("the file does not begin with GGUF")
    _, _, pairs = struct.unpack("<IQQ", file.read(20))
    found: dict[str, object] = {}
    for _ in range(pairs):
        key = _text(file)
        value = _value(file, *struct.unpack("<I", file.read(4)))
        if key in _WANTED:
            found[key] = value
            if len(found) == len(_WANTED):
                break
    return found


def _value(file: BinaryIO, kind: int) -> object:
    """A text or a list of texts; of anything else only the place after it matters."""
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        inner, length = struct.unpack("<IQ", file.read(12))
        if inner == _STRING:
            return [_text(file) for _ in range(length)]
        file.seek(_SIZES[inner] * length, 1)
        return None
    file.seek(_SIZES[kind], 1)
    return None


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8", "replace")
