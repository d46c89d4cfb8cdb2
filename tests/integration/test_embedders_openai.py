"""Embedders behind an endpoint: batches, odd answers, retries."""

from __future__ import annotations

import json
from typing import Any

import httpx
import numpy as np
import pytest

from omoide.adapters.embedders.openai import OpenAIEmbedder
from omoide.adapters.models.endpoint import Retries
from omoide.errors import BadReply, ContextTooLong, ModelRefused, ModelUnavailable
from tests.contract.test_embedder import embedding_endpoint


def at(handler: Any, **more: Any) -> OpenAIEmbedder:  # noqa: ANN401 - passed through
    """An embedder behind `handler`; waiting takes no time."""

    async def sleep(_: float) -> None:
        return

    transport = httpx.MockTransport(handler)
    return OpenAIEmbedder("http://desk/v1", "m", transport=transport, sleep=sleep, **more)


def giving(*vectors: object) -> OpenAIEmbedder:
    """An embedder whose endpoint always gives these vectors."""
    data = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return at(lambda _: httpx.Response(200, json={"data": data}), dimensions=2)


async def test_texts_go_in_batches() -> None:
    """Seven texts at three a request are three requests, and come back in order."""
    sizes = []

    def handler(request: httpx.Request) -> httpx.Response:
        sizes.append(len(json.loads(request.content)["input"]))
        return embedding_endpoint(request)

    texts = [f"text {n}" for n in range(7)]
    vectors = await at(handler, batch=3).embed(texts)
    alone = await at(embedding_endpoint).embed(texts[6:])
    assert sizes == [3, 3, 1]
    np.testing.assert_array_equal(vectors[6:], alone)


async def test_what_is_searched_for_may_have_a_model_of_its_own() -> None:
    """DPR's encoder of questions; without one, the same model encodes both."""
    asked = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["model"])
        return embedding_endpoint(request)

    for embedder in (at(handler, queries="q"), at(handler)):
        await embedder.embed(["An utterance."])
        await embedder.embed_queries(["A question?"])
    assert asked == ["m", "q", "m", "m"]


async def test_dimensions_are_learnt_from_the_first_answer() -> None:
    """Before that the space is not known, and asking for it says so."""
    embedder = at(embedding_endpoint)
    with pytest.raises(ModelUnavailable, match="dimensions"):
        _ = embedder.space
    assert (await embedder.discover()).dimensions == 32
    assert embedder.space.name == "m"
    await embedder.close()


@pytest.mark.parametrize(
    ("embedder", "words"),
    [
        (giving([1.0, 2.0, 3.0]), "expected 2 dimensions"),
        (giving([0.0, 0.0]), "zero or non-finite vector"),
        (giving(["x", "y"]), "did not answer with 1"),
        (giving(), "did not answer with 1"),
        (giving([[1.0], [2.0]]), "expected 2 dimensions"),
        (at(lambda _: httpx.Response(200, text="<html>")), "did not answer with 1"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_refused(
    embedder: OpenAIEmbedder, words: str
) -> None:
    """Wrong length, no direction, no numbers, none at all, a web page: never a zero vector."""
    with pytest.raises(BadReply, match=words):
        await embedder.embed(["a"])


async def test_failures_are_those_of_the_chat_adapter() -> None:
    """Retries, refusals and overlong texts are told in the same way."""
    answers = [httpx.Response(503), httpx.Response(429)]
    embedder = at(lambda r: answers.pop() if answers else embedding_endpoint(r))
    assert (await embedder.embed(["a"])).shape == (1, 32)
    down = at(lambda _: httpx.Response(503, text="busy"), retries=Retries(limit=1))
    with pytest.raises(ModelUnavailable, match=r"503: busy \(tried 2 times\)"):
        await down.embed(["a"])
    with pytest.raises(ModelRefused, match="API key"):
        await at(lambda _: httpx.Response(401)).embed(["a"])
    page = {"error": {"message": "maximum context length is 8192 tokens"}}
    with pytest.raises(ContextTooLong):
        await at(lambda _: httpx.Response(400, json=page)).embed(["a"])
