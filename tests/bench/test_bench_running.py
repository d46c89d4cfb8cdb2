"""The harness itself: calls made once, runs that go on, plans that hold, checked results."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from omoide.errors import BadInput, ModelUnavailable
from omoide.mechanisms.reply_forms import is_looping
from omoide.ports import Completion, Message, Request
from omoide.settings import Settings
from omoide.testing import HashEmbedder, ScriptedModel
from omoide_bench.methods import choose, registry
from omoide_bench.running.cached_model import (
    CachedEmbedder,
    MethodModel,
    SharedModel,
    without_loops,
)
from omoide_bench.running.calls import CallCache, key_of
from omoide_bench.running.execute import execute
from omoide_bench.running.plan import plan
from omoide_bench.running.results import read, write
from omoide_bench.running.runner import MAX_FAILURES_IN_A_ROW
from omoide_bench.running.standin import StandIn
from omoide_bench.statistics import difference, holm, mean
from omoide_bench.tasks.base import Sample
from tests.bench.bench_lab import course, job, lab

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from omoide.ports import Vectors

HELLO = Request(messages=(Message(role="user", content="Hello"),), max_tokens=10)


class Counting(StandIn):
    """A stand-in that counts its answers, and calls for an end after so many."""

    def __init__(self, *, most: int | None = None) -> None:
        super().__init__()
        self.calls = 0
        self.enough = asyncio.Event()
        self._most = most

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Answer, unless it is over."""
        if self.calls == self._most:
            self.enough.set()
            await asyncio.Event().wait()
        self.calls += 1
        async for piece in super().stream(request):
            yield piece


def test_a_call_is_told_from_another_by_all_that_is_asked() -> None:
    """Another model, message, grammar, schema or sampling is another call; the same is the same."""
    others = [
        replace(HELLO, max_tokens=11),
        replace(HELLO, grammar="root ::= x"),
        replace(HELLO, schema={"type": "object"}),
        replace(HELLO, seed=1),
        replace(HELLO, temperature=0.5),
        replace(HELLO, stop=("x",)),
        replace(HELLO, messages=(Message(role="system", content="Hello"),)),
    ]
    keys = {key_of("m", request) for request in (HELLO, *others)} | {key_of("n", HELLO)}
    assert len(keys) == len(others) + 2
    assert key_of("m", replace(HELLO)) == key_of("m", HELLO)


async def test_a_call_is_made_once_even_by_many_at_once(tmp_path: Path) -> None:
    """Ten who ask the same at the same time make one call, and so does the next run."""
    model, cache = Counting(), CallCache(tmp_path / "calls.sqlite")
    line = SharedModel(model, cache, concurrency=4)
    mine = MethodModel(line)

    async def ask() -> str:
        return "".join([p async for p in mine.stream(HELLO) if isinstance(p, str)])

    texts = await asyncio.gather(*(ask() for _ in range(10)))
    cache.close()
    assert model.calls == 1
    assert len(set(texts)) == 1
    assert (mine.spent.calls, mine.spent.cached) == (10, 9)
    again = SharedModel(Counting(), CallCache(tmp_path / "calls.sqlite"), concurrency=1)
    answer, known = await again.ask(HELLO)
    assert known
    assert answer.text == texts[0]
    assert again.cache.pace("stand-in") is not None
    again.cache.close()


async def test_a_call_that_failed_is_not_kept() -> None:
    """Those who waited for it ask themselves."""
    model = ScriptedModel([ModelUnavailable("gone"), "Hello."])
    line = SharedModel(model, CallCache(None), concurrency=2)
    one, other = await asyncio.gather(line.ask(HELLO), line.ask(HELLO), return_exceptions=True)
    assert isinstance(one, ModelUnavailable)
    assert isinstance(other, tuple)
    assert other[0].text == "Hello."
    line.cache.close()


async def test_vectors_are_made_once_and_together() -> None:
    """What gathers while the embedder is busy is embedded in one go, and never again."""
    batches: list[list[str]] = []

    class Noting(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            batches.append(list(texts))
            await asyncio.sleep(0)
            return await super().embed(texts)

    cache = CallCache(None)
    known = CachedEmbedder(Noting(), cache)
    rows = await asyncio.gather(*(known.embed([text]) for text in ("a", "b", "c", "a")))
    assert batches == [["a"], ["b", "c"]]
    assert (rows[0] == rows[3]).all()
    fresh = CachedEmbedder(Noting(), cache)
    assert (await fresh.embed(["b"]) == rows[1]).all()
    assert len(batches) == 2
    cache.close()


def test_a_looping_answer_is_cut_where_it_begins_to_loop() -> None:
    """As the product does with a stream; an answer that does not loop is left alone."""
    looped = "I like them. " + "rice cakes and " * 40
    assert len(without_loops(looped, is_looping)) < 120
    assert without_loops("Nothing is said twice here.", is_looping) == "Nothing is said twice here."


async def test_an_interrupted_run_goes_on_from_its_cache(tmp_path: Path) -> None:
    """After a Ctrl-C the second run makes only the calls that are missing, with the same result
    as a run that was never interrupted."""
    work = job("msc", "summary", sessions="5", memory="no")
    cache = tmp_path / "calls.sqlite"
    whole = Counting()
    async with lab(whole) as parts:
        wanted = await execute(work, lab=parts, course=course(work))
    stopped = Counting(most=9)
    async with lab(stopped, cache=cache) as parts:
        running = asyncio.create_task(execute(work, lab=parts, course=course(work)))
        await stopped.enough.wait()
        running.cancel()  # as Ctrl-C does
        with pytest.raises(asyncio.CancelledError):
            await running
    again = Counting()
    async with lab(again, cache=cache) as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert again.calls == whole.calls - 9
    assert result.methods[0].items == wanted.methods[0].items
    assert result.methods[0].cached == 9


@pytest.mark.parametrize(
    "task",
    [
        pytest.param("msc", marks=pytest.mark.heavy),  # 4 s: it has the most methods
        *("locomo", "memorybank", "mtbench-plus", "memo"),
    ],
)
async def test_the_plan_is_what_is_really_called(task: str) -> None:
    """Calls and prompt tokens of the plan are those of the run, method by method."""
    names = () if task == "memo" else ("summary", "search", "memos", "memochat", "memory-bank")
    work = job(task, *names)
    model = Counting()
    async with lab(model) as parts:
        planned = await plan(
            work.task, work.cases, work.methods, lab=parts, course=course(work), rate=100.0
        )
        assert model.calls == 0
        result = await execute(work, lab=parts, course=course(work))
    assert planned.calls == model.calls
    for load, method in zip(planned.loads, result.methods, strict=True):
        assert (load.calls, load.shared) == (method.calls, method.cached)
        assert load.prompt_tokens == method.prompt_tokens
    assert planned.seconds == pytest.approx(planned.completion_tokens / 100)


async def test_a_case_that_fails_is_counted_with_its_reason() -> None:
    """One bad answer spoils one case; a model that is gone for good ends the run."""
    work = job("msc", "session", sessions="5", memory="no")
    gone_once = ScriptedModel([ModelUnavailable("gone"), *["Hm."] * 20])
    async with lab(gone_once) as parts:
        result = await execute(work, lab=parts, course=replace(course(work), concurrency=1))
    [spoilt] = [item for item in result.methods[0].items if item.group == "failed"]
    assert spoilt.unscored["F1"] == "ModelUnavailable: gone"
    assert len(result.methods[0].items) == 3
    many = replace(work, cases=work.cases * MAX_FAILURES_IN_A_ROW)
    gone = ScriptedModel([ModelUnavailable("gone")] * 20)
    async with lab(gone) as parts:
        with pytest.raises(ModelUnavailable):
            await execute(many, lab=parts, course=replace(course(work), concurrency=1))


async def test_bad_memories_are_counted() -> None:
    """A session of which the model gives no usable memory is counted, and the run goes on."""
    work = job("msc", "summary", sessions="5", memory="no", limit=1)
    async with lab(ScriptedModel(["?"] * 60)) as parts:
        result = await execute(work, lab=parts, course=course(work))
    assert result.methods[0].digests_failed == 4
    assert len(result.methods[0].items) == 2


async def test_no_case_is_begun_after_the_deadline() -> None:
    """The result says that it is not complete."""
    work = job("msc", "session", sessions="5")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=replace(course(work), deadline=0.0))
    assert not result.complete


async def test_a_case_that_is_not_done_at_the_end_is_left_out() -> None:
    """A method without any case done has no place in the result, which is not complete; a model
    that never answers keeps nobody waiting."""

    class Silent(StandIn):
        """Never answers."""

        async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
            await asyncio.Event().wait()
            async for piece in super().stream(request):
                yield piece

    work = job("msc", "session", "context", sessions="5", memory="no")
    for together in (False, True):
        async with lab(Silent()) as parts:
            going = replace(course(work), end=0.0, together=together)
            result = await execute(work, lab=parts, course=going)
        assert result.methods == []
        assert not result.complete


async def test_a_result_is_read_as_it_was_written_and_holds_no_text(tmp_path: Path) -> None:
    """Numbers and names only; a file that lacks a field or has a wrong one is refused by name."""
    work = job("msc", "summary", "session", sessions="5")
    async with lab() as parts:
        result = await execute(work, lab=parts, course=course(work))
    path = tmp_path / "result.json"
    write(path, result)
    assert read(path) == result
    text = path.read_text()
    for dialogue in work.cases:
        assert not any(line.text in text for line in dialogue.lines)
    raw = json.loads(text)
    assert raw["prompts"]["en/reply"]
    assert raw["versions"]["omoide"]
    path.write_text(json.dumps({k: v for k, v in raw.items() if k != "duels"}))
    assert read(path) == result  # as written before there were duels
    path.write_text(json.dumps({**raw, "more": 1}))
    assert read(path) == result  # as a later version may write it
    for broken, said in (
        ({k: v for k, v in raw.items() if k != "seed"}, "missing required field `seed`"),
        ({**raw, "seed": "zero"}, r"Expected `int`, got `str` - at `\$.seed`"),
        ({**raw, "format": "other"}, "wanted omoide-bench-1"),
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(BadInput, match=said):
            read(path)


def test_means_are_over_dialogues() -> None:
    """Items of one dialogue are drawn together, so a dialogue's own level widens the interval."""
    clusters = [f"d{i}" for i in range(10) for _ in range(20)]
    values = [float(i % 2) for i in range(10) for _ in range(20)]
    wide = mean(values, clusters)
    assert (wide.over, wide.clusters, wide.count) == ("dialogues", 10, 200)
    assert wide.high - wide.low > 0.4
    narrow = mean(values, [f"q{i}" for i in range(200)])
    assert narrow.high - narrow.low < 0.2
    assert mean(values, ["one"] * 200).over == "items"


def test_differences_are_paired() -> None:
    """A small gain on every item is found; noise is not; nothing shared is nothing."""
    base = {f"i{n}": (n * 37 % 11) / 10 for n in range(40)}
    clusters = {name: name for name in base}
    better = difference({k: v + 0.1 for k, v in base.items()}, base, clusters)
    assert better is not None
    assert better.p < 0.01
    assert better.difference == pytest.approx(0.1)
    noise = {k: v + (0.3 if n % 2 else -0.3) for n, (k, v) in enumerate(base.items())}
    same = difference(noise, base, clusters)
    assert same is not None
    assert same.p > 0.2
    assert difference({"x": 1.0}, base, clusters) is None


def test_methods_by_name() -> None:
    """Combinations are joined with +; the baselines come first; a wrong name lists the right
    ones; full context has all the room there is."""
    known = registry()
    found = choose(["summary+search", "bm25:3"], known, usual=["search"])
    assert [m.name for m in found] == ["context", "session", "bm25", "summary+search", "bm25:3"]
    assert [m.name for m in choose([], known, usual=["search"], only=True)] == ["search"]
    assert not found[0].needs_vectors
    assert found[3].needs_vectors
    base = Settings()
    assert found[0].settings(base).memory_tokens > 3 * found[3].settings(base).memory_tokens
    with pytest.raises(BadInput, match="summary"):
        choose(["sumary"], known, usual=[])


def test_a_larger_sample_holds_the_smaller_one() -> None:
    """So that what the cache holds of a small run serves the large one."""
    cases = list(range(100))
    small, large = Sample(limit=10, seed=3).draw(cases), Sample(limit=40, seed=3).draw(cases)
    assert set(small) < set(large)
    assert list(small) == sorted(small)
    assert small != Sample(limit=10, seed=4).draw(cases)
    assert Sample().draw(cases) == tuple(cases)


def test_holm() -> None:
    """A worked example: the smallest p times the number of tests, none below an earlier one."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
