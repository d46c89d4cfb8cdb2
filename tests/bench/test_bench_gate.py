"""Methods that run at the same time finish the same cases first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from omoide.cli.main import cli
from omoide_bench.running.execute import RunJob, execute, methods_of
from omoide_bench.running.gate import Gate
from omoide_bench.running.items import ScoredItem
from omoide_bench.running.results import read
from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import Measure, Sample
from tests.bench.bench_lab import FIXTURES, course, lab

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.running.results import Result
    from omoide_bench.tasks.base import Trial


@dataclass(frozen=True)
class Named:
    """A case that is only a name."""

    id: str


@dataclass
class Walk:
    """A task whose cases take a few turns of the loop, and which notes where each method is."""

    name: str = "msc"
    measures: tuple[Measure, ...] = (Measure(name="F1", about=""),)
    alternatives: tuple[str, ...] = ()
    default_methods: tuple[str, ...] = ()
    begun: list[tuple[str, str]] = field(default_factory=list)
    stop: int = 10_000

    async def run(self, case: Named, trial: Trial) -> list[ScoredItem]:
        """Never ends once so many were begun."""
        self.begun.append((trial.method.name, case.id))
        if len(self.begun) > self.stop:
            await asyncio.Event().wait()
        for _ in range(3):
            await asyncio.sleep(0)
        return [ScoredItem(id=case.id, cluster=case.id, group="g", scores={"F1": 1.0})]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """Nothing."""
        del items
        return {}


def walk(task: Any) -> RunJob:  # noqa: ANN401 - a fake task
    """Ten cases, three methods."""
    methods = methods_of(TASKS["msc"], ["context", "session", "bm25"], only=True)
    cases = tuple(Named(f"{n}") for n in range(10))
    return RunJob(task=task, sample=Sample(), methods=methods, cases=cases, data={})


async def test_methods_together_go_case_by_case() -> None:
    """With three under way all methods do the first case before any begins the third."""
    task = Walk()
    work = walk(task)
    async with lab() as parts:
        result = await execute(
            work, lab=parts, course=replace(course(work), together=True, concurrency=3)
        )
    assert result.complete
    assert len(task.begun) == 30
    order = [int(case) for _, case in task.begun]
    assert order[:3] == [0, 0, 0]
    assert all(abs(a - b) <= 1 for a, b in pairwise(order))


async def test_what_is_cut_off_can_be_compared() -> None:
    """A run that stands still in the middle has the same cases of all methods, but for the last."""
    task = Walk(stop=15)
    work = walk(task)
    end = asyncio.get_running_loop().time() + 1
    async with lab() as parts:
        result = await execute(
            work,
            lab=parts,
            course=replace(course(work), together=True, concurrency=3, end=end, deadline=end),
        )
    assert not result.complete
    had = [{item.id for item in method.items} for method in result.methods]
    assert len(had) == 3
    assert set.intersection(*had) == {"0", "1", "2", "3", "4"}
    assert {t.count for t in result.tests} == {5}


async def test_who_gives_up_waiting_leaves_room() -> None:
    """A place given to one that is cancelled, or cancelled before, goes to the next."""
    gate = Gate(1)
    done: list[int] = []

    async def go(place: int) -> None:
        async with gate.at(place):
            done.append(place)

    tasks = [asyncio.create_task(go(place)) for place in (2, 1, 0)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    gate.open()
    tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    await tasks[0]
    assert done == [2]
    await go(3)
    assert done == [2, 3]


def test_known_puts_together_what_a_run_had_asked(tmp_path: Path) -> None:
    """A run over one dialogue fills the cache; over both with --known, that one alone is in the
    result, which is not complete; with an empty cache there is nothing, and no error."""
    common = ["--data", str(FIXTURES), "--model", "stand-in", "--embedder", "none", "--yes"]
    asked = ["--method", "summary", "--method", "session", "--only", "--no-plan", "--together"]
    out = tmp_path / "one.json"

    def run(cache: str, *more: str) -> Result:
        where = ["--cache", str(tmp_path / cache), "--out", str(out)]
        done = CliRunner().invoke(cli, ["bench", "run", "msc", *common, *asked, *where, *more])
        assert done.exit_code == 0, done.output
        return read(out)

    first = run("calls", "--limit", "1")
    both = run("calls", "--known")
    assert not both.complete
    for name in ("summary", "session"):
        one, again = first.method(name), both.method(name)
        assert one is not None
        assert again is not None
        assert [i.scores for i in again.items] == [i.scores for i in one.items]
    assert run("none", "--known").methods == []
