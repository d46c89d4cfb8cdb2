"""What every embedder keeps to. Add a maker to `MAKERS` to hold yours to it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest

from omoide.adapters.embedders.onnx import GTE_SMALL, MINILM, OnnxEmbedder
from omoide.adapters.embedders.openai import OpenAIEmbedder
from omoide.adapters.embedders.use_multilingual import UseMultilingual
from omoide.adapters.models.download import Cache
from omoide.testing import HashEmbedder
from tests.contract.test_chat_model import CACHE

if TYPE_CHECKING:
    from omoide.adapters.embedders.onnx import OnnxModel
    from omoide.ports import Embedder

SENTENCES = ["My cat is called Miso.", "我喜欢爬山。", "週末は料理をします。", "Where do I live?"]


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


MAKERS = [
    pytest.param(HashEmbedder, id="hash"),
    pytest.param(UseMultilingual, id="use-multilingual"),
    pytest.param(remote, id="openai"),
    pytest.param(lambda: onnx(MINILM), id="minilm", marks=pytest.mark.model),
    pytest.param(lambda: onnx(GTE_SMALL), id="gte-small", marks=pytest.mark.model),
]

pytestmark = pytest.mark.parametrize("make", MAKERS)
Make = Any


async def test_a_vector_a_text(make: Make) -> None:
    """Rows are as many as texts, of the space's dimensions, float32, and of length 1."""
    embedder = make()
    vectors = await embedder.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), embedder.space.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    await embedder.close()


async def test_a_text_has_one_vector(make: Make) -> None:
    """A text's vector is the same alone, among others, and in another place."""
    embedder = make()
    together = await embedder.embed(SENTENCES)
    for text, row in zip(SENTENCES, together, strict=True):
        np.testing.assert_allclose((await embedder.embed([text]))[0], row, atol=1e-4)
    backwards = await embedder.embed(SENTENCES[::-1])
    np.testing.assert_allclose(backwards[::-1], together, atol=1e-4)
    await embedder.close()


async def test_different_texts_lie_apart(make: Make) -> None:
    """No two of the sentences have the same vector."""
    embedder = make()
    vectors = await embedder.embed(SENTENCES)
    assert np.all((vectors @ vectors.T)[~np.eye(len(SENTENCES), dtype=bool)] < 0.999)
    await embedder.close()


async def test_no_texts_no_vectors(make: Make) -> None:
    """An empty batch gives an empty array of the right width."""
    embedder = make()
    assert (await embedder.embed([])).shape == (0, embedder.space.dimensions)
    await embedder.close()


@pytest.mark.parametrize("text", ["", " ", "\n", "🙂", "word " * 1_500, "长" * 1_500])
async def test_odd_texts_have_vectors(make: Make, text: str) -> None:
    """Nothing, an emoji, and pages of words or of Chinese are all embedded."""
    embedder = make()
    vectors = await embedder.embed([text, "And something ordinary."])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    await embedder.close()


async def test_many_may_embed_at_once(make: Make) -> None:
    """Calls at the same time do not get into each other's rows."""
    embedder = make()
    alone = [await embedder.embed([text]) for text in SENTENCES]
    at_once = await asyncio.gather(*(embedder.embed([text]) for text in SENTENCES))
    np.testing.assert_allclose(np.concatenate(at_once), np.concatenate(alone), atol=1e-4)
    await embedder.close()


async def test_closing_twice_does_nothing(make: Make) -> None:
    """A second close is silent, also before the first use."""
    embedder = make()
    await embedder.close()
    await embedder.close()
