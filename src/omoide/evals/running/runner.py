"""Runs the methods of a task over its cases, many at a time, and puts the result together."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.errors import ModelUnavailable, OmoideError
from omoide.evals.running.asked import Asked, Spent
from omoide.evals.running.items import failed
from omoide.evals.running.summing import method_result
from omoide.evals.tasks.base import Trial
from omoide.evals.tasks.scoring import with_likeness

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from omoide.evals.methods import Method
    from omoide.evals.running.gate import Gate
    from omoide.evals.running.items import Item
    from omoide.evals.running.lab import Lab
    from omoide.evals.running.results import MethodResult
    from omoide.evals.tasks.base import Task

    Told = Callable[[str, int, int], None]
    """The method, cases done, cases in all."""

PATIENCE = 5
"""Cases in a row that a model which cannot be reached may spoil before the run ends."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How a run is to go."""

    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    deadline: float | None = None
    """On the clock of `time.monotonic`: no case is begun after it."""
    end: float | None = None
    """On the same clock: a case that is not done by then is left out."""
    together: bool = False
    """Whether methods run at the same time; the calls in flight are bounded for all together."""
    known: bool = False
    """Whether nothing is asked: a case that lacks an answer in the cache is left out."""
    gate: Gate | None = None
    """Where cases of methods that run at the same time wait for their turn."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """A method over its cases, the texts still there."""

    result: MethodResult
    items: tuple[Item, ...]
    complete: bool
    """Whether every case was run."""


async def run(
    task: Task[Any],
    cases: Sequence[Any],
    method: Method,
    *,
    lab: Lab,
    course: Course,
    told: Told = lambda method, done, total: None,
) -> Done:
    """One method over all cases. A case that fails is counted and listed, with the reason; a
    model that cannot be reached ends the run after a few."""
    began = time.monotonic()
    queue = enumerate(cases)
    items: list[Item] = []
    spent: list[Spent] = []
    judged: list[Spent] = []
    left, lost, in_a_row, done = 0, 0, 0, 0

    async def work() -> None:
        for place, case in queue:
            async with course.gate.at(place) if course.gate else nullcontext():
                await one(case)

    async def one(case: Any) -> None:  # noqa: ANN401 - any case
        nonlocal left, lost, in_a_row, done
        if course.deadline is not None and time.monotonic() > course.deadline:
            left += 1
            return
        model = Asked(lab.line)
        judge = Asked(lab.judge) if lab.judge else None
        trial = Trial(
            lab=lab,
            method=method,
            model=model,
            judge=judge,
            seed=course.seed,
            options=course.options,
        )
        try:
            async with asyncio.timeout(_left(course)):
                found = await task.run(case, trial)
            in_a_row = 0
        except TimeoutError:
            left += 1
            return
        except ModelUnavailable as error:
            if course.known:
                left += 1
                return
            in_a_row += 1
            if in_a_row >= PATIENCE:
                raise
            found = [_failed(task, case, error)]
        except OmoideError as error:
            found = [_failed(task, case, error)]
        items.extend(found)
        spent.append(model.spent)
        judged.append(judge.spent if judge else Spent())
        lost += model.digests_failed
        done += 1
        told(method.name, done, len(cases))

    await all_at_once([work() for _ in range(min(course.concurrency, len(cases)))])
    if lab.encoder is not None:
        items = await with_likeness(items, lab.encoder)
    result = method_result(
        method.name,
        items,
        spent=sum(spent, Spent()),
        judged=sum(judged, Spent()),
        seconds=time.monotonic() - began,
        digests_failed=lost,
        whole=task.whole(items),
        seed=course.seed,
    )
    return Done(result=result, items=tuple(items), complete=left == 0)


def _left(course: Course) -> float | None:
    return None if course.end is None else max(course.end - time.monotonic(), 0.0)


async def all_at_once(parts: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run them together; the first error ends all of them and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as workers:
            for part in parts:
                workers.create_task(part)
    except ExceptionGroup as several:
        raise several.exceptions[0] from several


def _failed(task: Task[Any], case: Any, error: OmoideError) -> Item:  # noqa: ANN401 - any case
    return failed(
        f"{case.id}",
        cluster=case.id,
        group="failed",
        measures=tuple(measure.name for measure in task.measures),
        why=f"{type(error).__name__}: {error}",
    )
