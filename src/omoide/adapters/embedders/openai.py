"""Embeddings from any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp's server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import numpy as np

from omoide.adapters.embedders.rows import normalised
from omoide.adapters.models.endpoint import HttpEndpoint, Retries, Timeouts
from omoide.errors import BadReply, ModelUnavailable
from omoide.ports import Space

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import httpx

    from omoide.ports import Vectors

_PATH = "/embeddings"


class OpenAIEmbedder:
    """An embedder behind HTTP.

    Such endpoints do not report their dimensions: give `dimensions`, or await `discover` before
    reading `space`. Change `version` whenever the model behind the name `model` changes. `queries`
    is the model that encodes what is searched for, if it is another one.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        queries: str = "",
        api_key: str | None = None,
        dimensions: int | None = None,
        version: str = "1",
        batch: int = 64,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._endpoint = HttpEndpoint(
            base_url,
            api_key=api_key,
            timeouts=timeouts,
            retries=retries,
            transport=transport,
            sleep=sleep,
        )
        self._model, self._version, self._batch = model, version, batch
        self._queries = queries or model
        self._dimensions = dimensions

    @property
    def space(self) -> Space:
        """The space of its vectors. Raises `ModelUnavailable` while the dimensions are unknown."""
        if self._dimensions is None:
            raise ModelUnavailable(
                f"the dimensions of {self._model} are not known yet; "
                "give `dimensions`, or embed something first"
            )
        return Space(name=self._model, version=self._version, dimensions=self._dimensions)

    async def discover(self) -> Space:
        """Get the dimensions from the endpoint, unless they are known."""
        if self._dimensions is None:
            await self.embed(["dimensions"])
        return self.space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text, in order, with `batch` texts per request."""
        return await self._by(self._model, texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The same by the model for what is searched for."""
        return await self._by(self._queries, texts)

    async def _by(self, model: str, texts: Sequence[str]) -> Vectors:
        parts = [
            await self._embed(model, list(texts[start : start + self._batch]))
            for start in range(0, len(texts), self._batch)
        ]
        empty = np.empty((0, self._dimensions or 0), np.float32)
        return np.concatenate(parts) if parts else empty

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _embed(self, model: str, texts: list[str]) -> Vectors:
        body = {"model": model, "input": texts, "encoding_format": "float"}
        page = await self._endpoint.post(_PATH, body, texts=texts)
        url = self._endpoint.url(_PATH)
        try:
            data = json.loads(page)["data"]
            by_index = {int(item["index"]): item["embedding"] for item in data}
            rows = np.array([by_index[i] for i in range(len(texts))], dtype=np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise BadReply(
                f"{url} did not answer with {len(texts)} embeddings; is the base URL right, "
                "and is this an embedding model?"
            ) from error
        dimensions = self._dimensions or rows.shape[-1]
        if rows.ndim != 2 or rows.shape[1] != dimensions:
            raise BadReply(
                f"{url} returned vectors of shape {rows.shape}, expected {dimensions} dimensions"
            )
        vectors = normalised(rows, who=url)
        self._dimensions = dimensions
        return vectors
