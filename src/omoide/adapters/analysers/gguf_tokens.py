"""The tokenizer of a GGUF file, without loading the model: byte-pair encoding with its merges.

llama.cpp can tokenize only once a gigabyte of weights is in memory. The vocabulary and the merges
are in the header of the same file, and `tokenizers` (extra `onnx`) can run them.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.adapters.models.gguf import read_metadata
from omoide.errors import MissingExtra, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Qwen's pre-tokenizer pattern. GPT-2 and its successors treat digits differently."""


class GgufTokens:
    """Tokenizes text as the model in a GGUF file does. The model must use byte-level BPE."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def pieces(self, text: str) -> tuple[str, ...]:
        """See `Tokenizer.pieces`."""
        return await asyncio.to_thread(self._pieces, text)

    def count(self, text: str) -> int:
        """Number of tokens in `text`; each part of a character counts. Blocks."""
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
                f"the tokenizer of {self._path.name} needs tokenizers, which is not installed: "
                'pip install "omoide[onnx]"'
            ) from error
        values = read_metadata(self._path)
        kind, tokens, merges = (
            values.get(f"tokenizer.ggml.{name}") for name in ("model", "tokens", "merges")
        )
        if kind != "gpt2" or not isinstance(tokens, list) or not isinstance(merges, list):
            raise ModelUnavailable(
                f"{self._path.name} has a tokenizer of kind {kind!r}, expected a byte-level BPE"
            )
        vocabulary = {token: i for i, token in enumerate(tokens)}
        pairs = [tuple(merge.split(" ", 1)) for merge in merges]
        encoder = vendor.Tokenizer(vendor.models.BPE(vocabulary, pairs))
        pre = vendor.pre_tokenizers
        encoder.pre_tokenizer = pre.Sequence(
            [
                pre.Split(vendor.Regex(_QWEN), "isolated"),
                pre.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        return encoder


class LazyTokens:
    """The tokens of a model whose file is found, or fetched, when they are first needed."""

    def __init__(self, find: Callable[[], Awaitable[Path]]) -> None:
        self._find = find
        self._tokens: GgufTokens | None = None

    async def pieces(self, text: str) -> tuple[str, ...]:
        """See `Tokenizer.pieces`."""
        if self._tokens is None:
            self._tokens = GgufTokens(await self._find())
        return await self._tokens.pieces(text)
