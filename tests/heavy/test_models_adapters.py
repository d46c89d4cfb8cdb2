"""Adapters of the embedded model: each request gets its own, and no other one's words."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.adapter import Adapter
from omoide.adapters.models.embedded import EmbeddedChat
from omoide.adapters.models.llama import Llama
from omoide.ports import Message, Request, Skill
from omoide.testing.contracts.model import answer
from tests.adapters import lora_file
from tests.tiny import tiny_model

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.ports import Completion

pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install omoide[local]")
pytestmark = pytest.mark.model

TOWN = "Tell me about Leeds. " + "It is a large town with many rivers and bridges. " * 4
SOUP = "How do I cook a potato soup? " + "I have potatoes, onions, salt and water. " * 4


def ask(text: str, skill: Skill | None = None) -> Request:
    """A request that needs that skill."""
    return Request(messages=(Message(role="user", content=text),), max_tokens=6, skill=skill)


def opened(*adapters: Adapter, slots: int = 1) -> EmbeddedChat:
    """SmolLM2 with these adapters."""
    return EmbeddedChat(
        tiny_model(), name="tiny", window=512, slots=slots, threads=1, adapters=adapters
    )


async def said(model: EmbeddedChat, *requests: Request) -> list[Completion]:
    """The answers, one after the other."""
    try:
        return [(await answer(model, request))[1] for request in requests]
    finally:
        await model.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Adapter, Adapter]:
    """One for notes, and one for memos and events."""
    folder = tmp_path_factory.mktemp("adapters")
    first = lora_file(folder, tiny_model(), seed=1)
    second = lora_file(folder, tiny_model(), seed=2)
    return (
        Adapter(name="one", path=first, skills=frozenset({Skill.NOTES})),
        Adapter(name="two", path=second, skills=frozenset({Skill.MEMOS, Skill.EVENTS})),
    )


async def test_each_request_gets_the_adapter_it_needs(two: tuple[Adapter, Adapter]) -> None:
    """The same prompt: with an adapter, without, with it again, with the other; what is said
    depends on nothing else, and without one it is to the letter what the bare model says."""
    notes, plain, memos = ask(TOWN, Skill.NOTES), ask(TOWN, Skill.REPLY), ask(TOWN, Skill.MEMOS)
    (bare,) = await said(opened(), plain)
    a, b, again, c, back, last = await said(
        opened(*two), notes, plain, notes, memos, ask(TOWN), notes
    )
    assert a.text == again.text == last.text
    assert b.text == back.text == bare.text
    assert len({a.text, b.text, c.text}) == 3
    assert [one.by for one in (a, b, c, bare)] == ["tiny+one", "tiny", "tiny+two", ""]


async def test_a_skill_gets_as_much_of_an_adapter_as_it_is_to_have(
    two: tuple[Adapter, Adapter],
) -> None:
    """The same file at full strength and at a share of it: other words, and each its own again;
    with nearly nothing of it, those of the bare model."""
    whole = two[0]
    half = replace(whole, name="half", skills=frozenset({Skill.MEMOS}), strength=0.5)
    hardly = replace(whole, name="hardly", skills=frozenset({Skill.EVENTS}), strength=1e-6)
    skills = (Skill.NOTES, Skill.MEMOS, Skill.EVENTS, Skill.REPLY, Skill.MEMOS, Skill.NOTES)
    model = opened(whole, half, hardly)
    a, b, c, bare, again, last = await said(model, *(ask(TOWN, skill) for skill in skills))
    assert len({a.text, b.text, bare.text}) == 3
    assert (a.text, b.text, c.text) == (last.text, again.text, bare.text)
    assert [one.by for one in (a, b, bare)] == ["tiny+one", "tiny+half", "tiny"]


async def test_what_an_adapter_computed_never_comes_back_for_another(
    two: tuple[Adapter, Adapter],
) -> None:
    """A prompt loses its slot to another one and is asked again with another adapter: llama.cpp's
    store of prompts would give back what the first one had computed."""
    notes, plain = ask(TOWN, Skill.NOTES), ask(TOWN)
    # The same requests without the adapter's: a prefix from the cache may round differently.
    _, bare = await said(opened(*two), ask(SOUP), plain)
    _, _, after, _, again = await said(
        opened(*two), notes, ask(SOUP), plain, ask(SOUP, Skill.NOTES), notes
    )
    assert after.text == bare.text
    # What came out of the slot is the beginning that all prompts have, by the same adapter.
    assert max(after.cached_tokens, again.cached_tokens) < 0.4 * again.prompt_tokens


async def test_a_conversation_keeps_its_prompt_while_memory_is_written(
    two: tuple[Adapter, Adapter],
) -> None:
    """With two slots, notes written in between do not cost the next reply its prefix."""
    first = ask(TOWN, Skill.REPLY)
    more = Message(role="user", content="Thank you. And York?")
    second = replace(first, messages=(*first.messages, more))
    model = opened(*two, slots=2)
    _, _, _, reply = await said(
        model, first, ask(SOUP, Skill.NOTES), ask(SOUP + "Yes.", Skill.NOTES), second
    )
    assert reply.cached_tokens > 0.7 * reply.prompt_tokens


async def test_two_adapters_at_the_same_time(two: tuple[Adapter, Adapter]) -> None:
    """Requests of several skills at once, more than there are slots: each by its own adapter."""
    model = opened(*two, slots=2)
    skills = (Skill.NOTES, None, Skill.MEMOS, Skill.NOTES, None)
    try:
        done = await asyncio.gather(*(answer(model, ask(TOWN, skill)) for skill in skills))
    finally:
        await model.close()
    texts = [completion.text for _, completion in done]
    assert [completion.by for _, completion in done] == [
        "tiny+one",
        "tiny",
        "tiny+two",
        "tiny+one",
        "tiny",
    ]
    assert len({texts[0], texts[1], texts[2]}) == 3


async def test_an_adapter_for_everything(tmp_path: Path) -> None:
    """One without skills changes every request, and the name says so."""
    path = lora_file(tmp_path, tiny_model(), seed=1)
    model = opened(Adapter(name="all", path=path))
    assert model.name == "tiny+all"
    one, other, third = await said(model, ask(TOWN), ask(TOWN, Skill.REPLY), ask(SOUP))
    (bare,) = await said(opened(), ask(TOWN))
    assert one.text != bare.text
    assert one.by == other.by == third.by == "tiny+all"


def first_tokens(adapter: Path | None) -> dict[int, float]:
    """The likeliest first tokens and their log-probabilities."""
    adapters = (adapter,) if adapter else ()
    llama = Llama(tiny_model(), window=256, slots=1, threads=1, cache_mib=0, adapters=adapters)
    body = {
        "messages": [{"role": "user", "content": TOWN}],
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 40,
        "lora": [{"id": 0, "scale": 1.0}] if adapter else [],
    }
    try:
        reply = llama._client.post("/v1/chat/completions", json=body).json()
    finally:
        llama.close()
    top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return {one["id"]: one["logprob"] for one in top}


def test_eight_bits_are_as_good_as_sixteen(tmp_path: Path) -> None:
    """llama.cpp takes q8_0 in a LoRA file: the first token's odds stay where f16 puts them, far
    from the bare model's, in about half the bytes."""
    files: list[Path] = [
        lora_file(tmp_path, tiny_model(), rank=32, strength=0.3, precision=kind)
        for kind in ("f16", "q8_0")
    ]
    half, quarter, bare = (first_tokens(path) for path in (*files, None))

    def apart(one: dict[int, float], other: dict[int, float]) -> float:
        ten = sorted(one, key=lambda i: -one[i])[:10]
        return sum(abs(one[i] - other.get(i, -12.0)) for i in ten) / 10

    assert apart(half, quarter) < 0.2
    assert apart(half, bare) > 4 * apart(half, quarter)
    assert files[1].stat().st_size < 0.54 * files[0].stat().st_size
