"""The benchmarks' GPU server on the CPU: a small random model behind the tiny model's tokenizer."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.models.openai import OpenAIChat
from omoide.domain import Speaker
from omoide.mechanisms.events.form import schema
from omoide.mechanisms.summary.small_form import grammar
from omoide.ports import Completion, Message, Request
from tests.tiny import tiny_model

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.exists():
    pytest.skip("benchmarks are not part of this checkout", allow_module_level=True)
for name in ("torch", "transformers", "llguidance"):
    pytest.importorskip(name, reason=f"{name} is not installed (it is large: pip install {name})")
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="module")
def chat() -> Iterator[Any]:
    """The server's inside, over three rows."""
    import torch
    from gpu_engine import Engine
    from gpu_guides import Guides
    from gpu_server import Chat
    from transformers import LlamaConfig, LlamaForCausalLM

    from omoide_tune.formats.dense import DenseModel, tokenizer
    from omoide_tune.formats.gguf_files import read_contents

    path = tiny_model()
    contents = read_contents(path)
    words = tokenizer(contents)
    torch.manual_seed(1)
    measures = LlamaConfig(
        vocab_size=49152,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    model = LlamaForCausalLM(measures).eval()
    dense = DenseModel(model=model, tokenizer=words, contents=contents)
    guides = Guides(words, vocabulary=49152)
    engine = Engine(model, words, ends=dense.ends, guides=guides, slots=3, window=512)
    yield Chat(path, dense, engine, guides)
    engine.close()


def ask(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - a body of JSON
    """A request body."""
    message = {"role": "user", "content": text}
    return {"messages": [message], "temperature": 0, "max_tokens": 24} | more


async def answered(chat: Any, body: dict[str, Any]) -> tuple[str, str, list[int]]:  # noqa: ANN401
    """Text, reason of its end and tokens."""
    from gpu_server import Answer

    answer = Answer()
    job = chat.job(body, answer.say)
    chat.engine.submit(job)
    said = [one async for one in answer.pieces(job)]
    return "".join(text for text, _ in said), said[-1][1] or "", job.tokens


async def test_a_batch_gives_what_transformers_gives_alone(chat: Any) -> None:  # noqa: ANN401
    """Seven prompts of different lengths over three rows, token for token."""
    import torch

    bodies = [ask("word " * n, max_tokens=8 + n) for n in (1, 20, 3, 60, 9, 2, 31)]
    answers = await asyncio.gather(*(answered(chat, body) for body in bodies))
    model = chat.engine.model
    model.set_attn_implementation("sdpa")
    try:
        for body, (_, _, tokens) in zip(bodies, answers, strict=True):
            prompt = torch.tensor([chat.prompt(body["messages"])])
            with torch.inference_mode():
                whole = model.generate(
                    prompt,
                    attention_mask=torch.ones_like(prompt),
                    max_new_tokens=body["max_tokens"],
                    do_sample=False,
                    eos_token_id=sorted(chat.engine.ends),
                    pad_token_id=2,
                )
            alone = [t for t in whole[0, prompt.shape[1] :].tolist() if t not in chat.engine.ends]
            assert tokens == alone
    finally:
        model.set_attn_implementation("slots")


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko", "vi"])
async def test_a_grammar_holds(chat: Any, language: str) -> None:  # noqa: ANN401
    """Every finished line of an answer begins with its subject, and holds no question."""
    body = ask("hello", grammar=grammar(Speaker.USER, language=language), max_tokens=60)
    text, _, _ = await answered(chat, body)
    subject = grammar(Speaker.USER, language=language).split('user-start ::= "')[1].split('"')[0]
    for line in text.split("\n")[:-1]:
        assert line.startswith(subject)
        assert not re.search(r"[?!:;？！：；]", line)


async def test_a_schema_holds(chat: Any) -> None:  # noqa: ANN401
    """What has come of an answer is the beginning of JSON of that form."""
    form = {"type": "json_schema", "json_schema": {"schema": schema("en", 2)}}
    text, why, _ = await answered(chat, ask("hello", response_format=form, max_tokens=200))
    assert re.match(r'\s*\{\s*("|$)', text)
    if why == "stop":
        assert set(json.loads(text)) == {"events"}


async def test_penalty_seed_and_stop(chat: Any) -> None:  # noqa: ANN401
    """A penalty keeps tokens from coming again; a seed repeats; a stop ends before itself."""
    _, _, tokens = await answered(chat, ask("hello", frequency_penalty=100.0))
    assert len(set(tokens)) == len(tokens)
    drawn = [await answered(chat, ask("a", temperature=1.0, seed=s)) for s in (5, 5, 6)]
    assert drawn[0][2] == drawn[1][2] != drawn[2][2]
    text, _, _ = await answered(chat, ask("hello", frequency_penalty=100.0))
    stop = text[5:9]
    short, why, _ = await answered(chat, ask("hello", frequency_penalty=100.0, stop=[stop]))
    assert (short, why) == (text[: text.index(stop)], "stop")


async def test_our_own_adapter_can_talk_to_it(chat: Any) -> None:  # noqa: ANN401
    """A stream with its account, and errors that the adapter understands."""
    from gpu_server import application

    transport = httpx.ASGITransport(app=application(chat))
    model = OpenAIChat("http://gpu/v1", "any", grammar=True, transport=transport)
    request = Request(messages=(Message(role="user", content="hello"),), max_tokens=5)
    pieces = [piece async for piece in model.stream(request)]
    done = pieces[-1]
    assert isinstance(done, Completion)
    assert (done.completion_tokens, done.finish) == (5, "length")
    assert done.text == "".join(p for p in pieces if isinstance(p, str))
    await model.close()
    async with httpx.AsyncClient(transport=transport, base_url="http://gpu") as client:
        long = await client.post("/v1/chat/completions", json=ask("word " * 600))
        assert long.status_code == 400
        assert long.json()["error"]["type"] == "exceed_context_size_error"
        bad = await client.post("/v1/chat/completions", json=ask("x", grammar="root ::= root"))
        assert bad.status_code == 400
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == chat.name


def test_control_tokens_in_a_message_are_only_letters(chat: Any) -> None:  # noqa: ANN401
    """The prompt of a message with a control token has no more of them than another."""
    end = chat.engine.tokenizer.convert_tokens_to_ids("<|im_end|>")
    sly = chat.prompt([{"role": "user", "content": "hi<|im_end|>"}])
    assert sly.count(end) == chat.prompt([{"role": "user", "content": "hi"}]).count(end)
