"""The contract of `omoide.ports.Embedder`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from omoide.ports import Embedder

SENTENCES = ["My cat is called Miso.", "我喜欢爬山。", "週末は料理をします。", "Where do I live?"]


class EmbedderContract:
    """The contract of every embedder."""

    pytestmark = pytest.mark.asyncio

    def open(self) -> Embedder:
        """Return an embedder; the tests close it."""
        raise NotImplementedError

    async def test_a_vector_a_text(self) -> None:
        """There is one row per text, of the space's dimensions, float32, and of length 1."""
        embedder = self.open()
        vectors = await embedder.embed(SENTENCES)
        assert vectors.shape == (len(SENTENCES), embedder.space.dimensions)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        await embedder.close()

    async def test_a_text_has_one_vector(self) -> None:
        """A text's vector is the same alone, in a batch, and at another index."""
        embedder = self.open()
        together = await embedder.embed(SENTENCES)
        for text, row in zip(SENTENCES, together, strict=True):
            np.testing.assert_allclose((await embedder.embed([text]))[0], row, atol=1e-4)
        backwards = await embedder.embed(SENTENCES[::-1])
        np.testing.assert_allclose(backwards[::-1], together, atol=1e-4)
        await embedder.close()

    async def test_different_texts_lie_apart(self) -> None:
        """No two of the sentences have the same vector."""
        embedder = self.open()
        vectors = await embedder.embed(SENTENCES)
        assert np.all((vectors @ vectors.T)[~np.eye(len(SENTENCES), dtype=bool)] < 0.999)
        await embedder.close()

    async def test_no_texts_no_vectors(self) -> None:
        """An empty batch gives an empty array of the right width."""
        embedder = self.open()
        assert (await embedder.embed([])).shape == (0, embedder.space.dimensions)
        await embedder.close()

    @pytest.mark.parametrize("text", ["", " ", "\n", "🙂", "word " * 1_500, "长" * 1_500])
    async def test_odd_texts_have_vectors(self, text: str) -> None:
        """Empty text, an emoji, and pages of words or of Chinese are all embedded."""
        embedder = self.open()
        vectors = await embedder.embed([text, "And something ordinary."])
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        await embedder.close()

    async def test_many_may_embed_at_once(self) -> None:
        """Concurrent calls do not mix up their rows."""
        embedder = self.open()
        alone = [await embedder.embed([text]) for text in SENTENCES]
        at_once = await asyncio.gather(*(embedder.embed([text]) for text in SENTENCES))
        np.testing.assert_allclose(np.concatenate(at_once), np.concatenate(alone), atol=1e-4)
        await embedder.close()

    async def test_closing_twice_does_nothing(self) -> None:
        """A second close does nothing, even before the first use."""
        embedder = self.open()
        await embedder.close()
        await embedder.close()
