"""What the papers' own protocols need of the harness: presets with other settings, a model that
writes memory beside the one that replies, worked examples, a method's own history, tokens."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from omoide import Utterance
from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.settings import Settings
from omoide_bench.data import msc
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.methods import parse, registry
from omoide_bench.running.cached_model import MethodModel, SharedModel
from omoide_bench.running.execute import execute
from omoide_bench.running.standin import StandIn
from tests.bench.bench_lab import FIXTURES, course, job, lab

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from omoide.ports import Completion, Request
    from omoide.ports.analysis import Tokenizer
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.running.results import Result

SESSION_5: dict[str, Any] = {"sessions": "5", "memory": "no"}


class Listening(StandIn):
    """A stand-in that keeps what it was asked."""

    def __init__(self, *, name: str = "stand-in", words: int = 0) -> None:
        super().__init__(name=name)
        self.asked: list[str] = []
        self._words = words

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The same answer; with `words`, a long one where no form is asked for."""
        self.asked.append("\n".join(message.content for message in request.messages))
        async for piece in super().stream(request):
            if isinstance(piece, str) or not self._words or request.schema:
                yield piece
            else:
                numbers = " ".join(f"w{len(self.asked)}x{i}" for i in range(self._words))
                yield replace(piece, text=numbers)


async def ran(
    task: str,
    *methods: str,
    model: StandIn,
    iterator: StandIn | None = None,
    **options: Any,  # noqa: ANN401 - as `job` takes them
) -> Result:
    """The result of these methods on the fixtures."""
    work = job(task, *methods, **options)
    async with lab(model) as parts:
        shared = parts.shared_model
        other = SharedModel(iterator, shared.cache, concurrency=4) if iterator else None
        context = replace(parts, iterator=other, data=FIXTURES)
        return await execute(work, lab=context, course=course(work))


def test_a_preset_takes_other_settings_and_mechanisms() -> None:
    """They count more than the preset's; the rest of it stays."""
    known = registry()
    method = parse("as:wang2023,mechanisms=bm25:5+summary,reply_form=retrieval+memory", known)
    settings = method.settings(Settings())
    assert settings.mechanisms == ("bm25:5", "summary")
    assert (settings.reply_form, settings.form) == ("retrieval+memory", "paper")
    whole = parse("as:wang2023,mechanisms=context,reply_form=context", known)
    assert whole.settings(Settings()).memory_tokens > 5000
    for wrong in ("as:wang2023,form", "as:wang2023,colour=red", "as:wang2023,mechanisms=nothing"):
        with pytest.raises(BadInput):
            parse(wrong, known)


async def test_another_model_writes_the_memory() -> None:
    """The iterator gets every session and no reply; its calls count as the method's."""
    model, iterator = Listening(), Listening(name="iterator")
    result = await ran("msc", "as:wang2023", model=model, iterator=iterator, **SESSION_5)
    assert all("# Output\nUpdated memory" in asked for asked in iterator.asked)
    assert all("The assistant's next reply" in asked for asked in model.asked)
    assert len(iterator.asked) == 8  # four sessions of two dialogues
    assert result.methods[0].calls == len(iterator.asked) + len(model.asked)
    assert result.settings["iterator"] == "iterator"


async def test_worked_examples_are_of_the_valid_part_with_generated_memories() -> None:
    """They stand before the case, each with a memory that the method wrote, and are the same for
    every case."""
    model = Listening()
    await ran("msc", "as:wang2023", model=model, shots="1", **SESSION_5)
    replies = [asked for asked in model.asked if "# Example" in asked]
    assert len(replies) == 4
    assert len({asked.split("# Now")[0] for asked in replies}) == 1
    _, memory, dialogue, reply = replies[0].split("# Now")[0].split("# Example")[1].split(":\n", 3)
    assert memory.removesuffix("\n\nCurrent dialogue").strip() not in ("", "(none)", "none")
    said = {line.text for one in msc.load(FIXTURES, "valid") for line in one.sessions[-1].lines}
    assert reply.strip() in said
    assert dialogue.startswith("User: ")
    result = await ran("msc", "as:wang2023", model=Listening(), shots="9", **SESSION_5)
    assert all("only" in item.unscored["F1"] for item in result.methods[0].items)


async def test_the_papers_baselines_have_its_prompts() -> None:
    """Context-only and retrieval with memory, as in the paper's appendix."""
    model = Listening()
    await ran(
        "msc",
        "as:wang2023,mechanisms=context,reply_form=context",
        "as:wang2023,mechanisms=bm25:3+summary,reply_form=retrieval+memory",
        model=model,
        **SESSION_5,
    )
    context = [asked for asked in model.asked if "Earlier sessions:" in asked]
    both = [asked for asked in model.asked if "Related context:" in asked and "Memory:" in asked]
    assert len(context) == len(both) == 4
    assert all(asked.index("Related context:") < asked.index("Memory:") for asked in both)


@asynccontextmanager
async def memory_of(
    name: str, *, window: int = 8192, tokenizer: Tokenizer | None = None
) -> AsyncIterator[MemoryUnderTest]:
    """An empty memory of a method."""
    async with lab() as parts:
        shared = SharedModel(StandIn(window=window), parts.shared_model.cache, concurrency=1)
        context = replace(parts, tokenizer=tokenizer)
        method = parse(name, registry())
        async with context.new_memory(
            method, user="ana", began=FIRST_DAY, model=MethodModel(shared)
        ) as memory:
            yield memory


@pytest.mark.parametrize(("given", "kept"), [(8192, 4096), (2048, 2048)])
async def test_a_presets_window_is_kept(given: int, kept: int) -> None:
    """Paper C's 4k, though the model has 8k; a narrower model stays narrow."""
    async with memory_of("as:taniguchi2025", window=given) as memory:
        assert memory.model.window == kept


async def test_a_method_may_have_a_history_of_its_own() -> None:
    """It answers every question itself, in one session; what became memos leaves the prompt."""
    model = Listening(words=500)
    result = await ran("mtbench-plus", "as:memochat", model=model, history="own")
    assert all(item.scores["evidence"] <= 1 for item in result.methods[0].items)
    assert any("Divide it into topics" in asked for asked in model.asked)
    first = next(asked for asked in model.asked if "w1x0" in asked)
    assert "w1x499" in first
    questions = [asked for asked in model.asked if "old friend" in asked]
    assert questions


async def test_generative_agents_may_rate_by_the_model() -> None:
    """Then the model is asked for the importance of the events, and only then."""
    model = Listening()
    result = await ran(
        "recall",
        *("as:hou2024", "as:omoide", "generative-agents:heuristic", "as:generative-agents"),
        model=model,
        sets="locomo",
    )
    calls = {method.name: method.calls for method in result.methods}
    assert calls.pop("as:generative-agents") > 0
    assert set(calls.values()) == {0}
    assert all("how much each event is likely to matter" in asked for asked in model.asked)
    losses = {m.name: [item.scores["loss"] for item in m.items] for m in result.methods}
    assert losses["as:hou2024"] != losses["generative-agents:heuristic"]


class Letters:
    """Every character is a token."""

    async def pieces(self, text: str) -> tuple[str, ...]:
        """The characters."""
        return tuple(text)


@pytest.mark.parametrize("tokenizer", [None, Letters()])
async def test_random_compression_drops_the_tokens_it_is_given(tokenizer: Tokenizer | None) -> None:
    """With a tokenizer, pieces of words go; without one, whole words."""
    text = "Yesterday grandmother planted seventeen rhododendrons together."
    method = "as:taniguchi2025,compression=random,compression_percent=50"
    async with memory_of(method, tokenizer=tokenizer) as memory:
        await memory.replay([[Utterance(speaker=Speaker.USER, text=text, time=FIRST_DAY)]])
        (memo,) = await memory.store.memos.read(memory.owner)
    left = memo.compressed.partition(": ")[2]
    assert 0 < len(left) < len(text)
    assert (set(left.split()) <= set(text.split())) is (tokenizer is None)


def test_a_translation_that_is_not_there_is_named() -> None:
    """Japanese questions are read from a file of their own."""
    with pytest.raises(BadInput, match=r"mtbenchplus\.ja\.json"):
        job("mtbench-plus", "session", language="ja")
