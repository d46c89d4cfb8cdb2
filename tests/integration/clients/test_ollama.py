"""What only Ollama's protocol has: options, formats, models, embeddings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omoide.testing.endpoint import Scripted
from omoide.version import __version__
from tests.server.serving import serving

from .drivers import OllamaDriver, OllamaGenerateDriver
from .lines import shows

if TYPE_CHECKING:
    from pathlib import Path

    from .lines import Line

ONLY = [OllamaDriver]
BOTH = [OllamaDriver, OllamaGenerateDriver]


@shows("sampling options", only=BOTH)
async def test_options_are_converted(line: Line) -> None:
    """Those that choose tokens go along; those of Ollama's engine do nothing."""
    options = {"temperature": 0.5, "num_predict": 7, "stop": ["\n"], "seed": 3, "num_ctx": 4096}
    await line.driver.say("Hi", options=options, keep_alive="5m")
    body = line.sent
    assert (body["temperature"], body["max_completion_tokens"]) == (0.5, 7)
    assert (body["stop"], body["seed"]) == (["\n"], 3)
    assert "num_ctx" not in body
    assert "keep_alive" not in body


@shows("structured output", only=BOTH)
async def test_structured_output_is_asked_for(line: Line) -> None:
    """As a JSON schema, or as any JSON."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    await line.driver.say("A number.", format=schema)
    assert line.sent["response_format"]["json_schema"]["schema"] == schema
    await line.driver.say("Anything.", format="json")
    assert line.sent["response_format"] == {"type": "json_object"}


@shows("images", only=ONLY)
async def test_an_image_goes_along(line: Line) -> None:
    """Its text is recorded, the image is passed on with its type."""
    message = {"role": "user", "content": "What is it?", "images": [b"\x89PNG\r\n\x1a\n"]}
    await line.driver.api.chat("m", [message])
    text, image = line.sent["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is it?"}
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert await line.settled("What is it?", "I see.")


@shows("list of models", only=ONLY)
async def test_models_are_listed(line: Line) -> None:
    """The upstream's, under their own names."""
    listed = await line.driver.api.list()
    assert [model.model for model in listed.models] == ["fake-1"]


@shows("embeddings", only=ONLY)
async def test_texts_are_embedded(line: Line, tmp_path: Path) -> None:
    """By the upstream, or by the server's own embedder."""
    rows = [{"embedding": [0.5, 1]}, {"embedding": [0, 1]}]
    body = {"data": rows, "model": "e", "usage": {"prompt_tokens": 4}}
    line.endpoint.answers.append(Scripted(blocks=(json.dumps(body).encode(),)))
    found = await line.driver.api.embed("e:latest", ["one", "two"])
    assert found.embeddings == [[0.5, 1], [0, 1]]
    assert found.prompt_eval_count == 4
    assert line.sent == {"model": "e", "input": ["one", "two"], "encoding_format": "float"}
    async with serving(tmp_path / "own", embedded=True) as own:
        answer = await own.client.post("/api/embed", json={"model": "omoide", "input": "one"})
        assert len(answer.json()["embeddings"]) == 1


@shows("own model by name", only=BOTH)
async def test_the_servers_model_has_a_name(line: Line) -> None:
    """`omoide` means the model that the server was started with, with Ollama's tag or without."""
    for name in ("omoide", "omoide:latest", "other:latest"):
        await line.driver.api.chat(name, [{"role": "user", "content": f"Hi, {name}"}])
    models = [received.body["model"] for received in line.endpoint.requests]
    assert models == ["fake-1", "fake-1", "other"]


async def test_the_version_and_a_loaded_model_are_told_before_any_talk(tmp_path: Path) -> None:
    """Clients ask for both first; neither asks the upstream, and nothing is recorded."""
    async with serving(tmp_path) as bench:
        assert (await bench.client.get("/api/version")).json() == {"version": __version__}
        headers = {"X-Omoide-User": "ana"}
        for path in ("/api/chat", "/api/generate"):
            body = {"model": "m", "messages": []} if path == "/api/chat" else {"model": "m"}
            loaded = await bench.client.post(path, json=body, headers=headers)
            assert loaded.json()["done_reason"] == "load"
        assert bench.upstairs.requests == []
        assert await bench.said() == []
