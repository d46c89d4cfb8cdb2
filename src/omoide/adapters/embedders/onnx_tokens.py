"""The token vectors of the ONNX embedders, for measures that compare token by token."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from omoide.adapters.embedders.onnx import OnnxEmbedder
from omoide.ports import TokenVectors

if TYPE_CHECKING:
    from collections.abc import Sequence


class OnnxTokens(OnnxEmbedder):
    """An ONNX embedder that returns token vectors instead of their mean. A text longer than the
    network's maximum is truncated."""

    @property
    def name(self) -> str:
        """Model, version and layer."""
        return f"{self.space.name}@{self.space.version}, last layer"

    async def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The token vectors of each text, in order."""
        await self._ready()
        loop = asyncio.get_running_loop()
        vectors: list[TokenVectors] = []
        for start in range(0, len(texts), self._about.batch):
            batch = list(texts[start : start + self._about.batch])
            vectors += await loop.run_in_executor(self._pool, self._encoded, batch)
        return vectors

    def _encoded(self, texts: list[str]) -> list[TokenVectors]:
        pieces = self._tokenizer.encode_batch(texts)
        states, _ = self._states([piece.ids for piece in pieces])
        return [
            TokenVectors(
                vectors=states[row, : len(piece.ids)],
                counts=1 - np.array(piece.special_tokens_mask, np.float32),
            )
            for row, piece in enumerate(pieces)
        ]
