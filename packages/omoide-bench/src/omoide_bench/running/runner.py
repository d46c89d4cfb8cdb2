"""Runs one method over the cases of a task, concurrently, and aggregates the result."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.errors import ModelUnavailable, OmoideError
from omoide_bench.running.aggregation import method_result
from omoide_bench.running.cached_model import CallCost, MethodModel
from omoide_bench.running.items import failed
from omoide_bench.tasks.base import Trial
from omoide_bench.tasks.scoring import with_likeness

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from omoide_bench.methods import Method
    from omoide_bench.running.gate import Gate
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.running.memory_under_test import RunContext
    from omoide_bench.running.results import MethodResult
    from omoide_bench.tasks.base import Task

    ReportProgress = Callable[[str, int, int], None]
    """Called with the method, cases done, cases in total."""

MAX_FAILURES_IN_A_ROW = 5
"""Consecutive cases that may fail because the model is unavailable, before the run ends."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run: seed, concurrency, limits."""

    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    deadline: float | None = None
    """In `time.monotonic` seconds: no case starts after it."""
    end: float | None = None
    """In `time.monotonic` seconds: a case that is not done by then is left out."""
    together: bool = False
    """Whether methods run at the same time; the limit on calls in flight is over all of them."""
    known: bool = False
    """Whether to use the cache only: a case with a missing answer is left out."""
    gate: Gate | None = None
    """Orders the cases of methods that run at the same time."""


@dataclass(frozen=True, kw_only=True)
class MethodRun:
    """A method's result, with its items including texts."""

    result: MethodResult
    items: tuple[ScoredItem, ...]
    complete: bool
    """Whether every case was run."""


async def run(
    task: Task[Any],
    cases: Sequence[Any],
    method: Method,
    *,
    lab: RunContext,
    course: RunOptions,
    report: ReportProgress = lambda method, done, total: None,
) -> MethodRun:
    """Run one method over all cases. A failed case becomes an unscored item with the reason. If
    the model stays unavailable, the run ends after a few cases."""
    began, cpu_began = time.monotonic(), time.process_time()
    queue = enumerate(cases)
    items: list[ScoredItem] = []
    spent: list[CallCost] = []
    judged: list[CallCost] = []
    skipped, digests_failed, in_a_row, done = 0, 0, 0, 0

    async def work() -> None:
        for position, case in queue:
            async with course.gate.at(position) if course.gate else nullcontext():
                await run_case(case)

    async def run_case(case: Any) -> None:  # noqa: ANN401 - any case
        nonlocal skipped, digests_failed, in_a_row, done
        if course.deadline is not None and time.monotonic() > course.deadline:
            skipped += 1
            return
        model = MethodModel(lab.shared_model)
        judge = MethodModel(lab.judge) if lab.judge else None
        trial = Trial(
            lab=lab,
            method=method,
            model=model,
            judge=judge,
            seed=course.seed,
            options=course.options,
        )
        try:
            async with asyncio.timeout(_seconds_left(course)):
                scored = await task.run(case, trial)
            in_a_row = 0
        except TimeoutError:
            skipped += 1
            return
        except ModelUnavailable as error:
            if course.known or lab.waiting:
                skipped += 1
                return
            in_a_row += 1
            if in_a_row >= MAX_FAILURES_IN_A_ROW:
                raise
            scored = [_failed(task, case, error)]
        except OmoideError as error:
            scored = [_failed(task, case, error)]
        items.extend(scored)
        spent.append(model.spent)
        judged.append(judge.spent if judge else CallCost())
        digests_failed += model.digests_failed
        done += 1
        report(method.name, done, len(cases))

    await gather_or_cancel([work() for _ in range(min(course.concurrency, len(cases)))])
    if lab.encoder is not None and not lab.waiting:
        items = await with_likeness(items, lab.encoder)
    result = method_result(
        method.name,
        items,
        spent=sum(spent, CallCost()),
        judged=sum(judged, CallCost()),
        seconds=time.monotonic() - began,
        cpu_seconds=0.0 if course.together else time.process_time() - cpu_began,
        digests_failed=digests_failed,
        whole=task.whole(items),
        seed=course.seed,
    )
    return MethodRun(result=result, items=tuple(items), complete=skipped == 0)


def _seconds_left(course: RunOptions) -> float | None:
    return None if course.end is None else max(course.end - time.monotonic(), 0.0)


async def gather_or_cancel(parts: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently; the first error cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as workers:
            for part in parts:
                workers.create_task(part)
    except ExceptionGroup as group:
        raise group.exceptions[0] from group


def _failed(task: Task[Any], case: Any, error: OmoideError) -> ScoredItem:  # noqa: ANN401 - any case
    return failed(
        f"{case.id}",
        cluster=case.id,
        group="failed",
        measures=tuple(measure.name for measure in task.measures),
        why=f"{type(error).__name__}: {error}",
    )
