"""Estimates the cost of a run with a dry run on a few cases, with a stand-in for the model.

The stand-in answers at once in the requested form. A real model sometimes needs a retry, so the
plan is a lower bound. The length of answers is estimated from the model's cached calls, or as a
third of the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide_bench.running.cached_model import SharedModel
from omoide_bench.running.calls import CallCache
from omoide_bench.running.runner import RunOptions, run
from omoide_bench.running.standin import StandIn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.methods import Method
    from omoide_bench.running.calls import CallPace
    from omoide_bench.running.memory_under_test import RunContext
    from omoide_bench.tasks.base import Task

REHEARSED = 3
"""Cases of each method in the dry run: from the beginning, the middle and the end."""
FILL = 1 / 3


@dataclass(frozen=True, kw_only=True)
class MethodLoad:
    """The estimated calls and tokens of one method."""

    method: str
    calls: int
    shared: int
    """How many of the calls an earlier method makes too: they are made once."""
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The estimated cost of a run."""

    cases: int
    rehearsed: int
    loads: tuple[MethodLoad, ...]
    seconds: float | None
    """None if the model's speed is unknown."""

    @property
    def calls(self) -> int:
        """Calls that will be made if the cache is empty."""
        return sum(load.calls - load.shared for load in self.loads)

    @property
    def prompt_tokens(self) -> int:
        """Of all calls, shared ones as well."""
        return sum(load.prompt_tokens for load in self.loads)

    @property
    def completion_tokens(self) -> int:
        """Of all calls, shared ones as well."""
        return sum(load.completion_tokens for load in self.loads)


async def plan(
    task: Task[Any],
    cases: Sequence[Any],
    methods: Sequence[Method],
    *,
    lab: RunContext,
    course: RunOptions,
    rate: float | None = None,
) -> Plan:
    """Estimate the cost of a run. `rate` is the model's total answer tokens per second; without
    it, the average time of its cached calls is used."""
    pace = lab.shared_model.cache.pace(lab.shared_model.model.name)
    model = lab.shared_model.model
    sample = _spread(cases)
    cache = CallCache(None)
    standin = StandIn(
        name=model.name, window=model.window, fill=min(pace.fill, 1.0) if pace else FILL
    )
    shared = SharedModel(standin, cache, concurrency=course.concurrency)
    context = replace(
        lab, shared_model=shared, judge=shared if lab.judge else None, encoder=None, batches=None
    )
    scale = len(cases) / len(sample) if sample else 0.0
    loads = []
    for method in methods:
        done = await run(task, sample, method, lab=context, course=replace(course, deadline=None))
        loads.append(
            MethodLoad(
                method=method.name,
                calls=round((done.result.calls + done.result.judge_calls) * scale),
                shared=round(done.result.cached * scale),
                prompt_tokens=round(done.result.prompt_tokens * scale),
                completion_tokens=round(done.result.completion_tokens * scale),
            )
        )
    cache.close()
    estimate = Plan(cases=len(cases), rehearsed=len(sample), loads=tuple(loads), seconds=None)
    return replace(estimate, seconds=_seconds(estimate, rate, pace, course.concurrency))


def _spread(cases: Sequence[Any]) -> list[Any]:
    count = min(REHEARSED, len(cases))
    return [cases[(2 * i + 1) * len(cases) // (2 * count)] for i in range(count)]


def _seconds(
    plan: Plan, rate: float | None, pace: CallPace | None, concurrency: int
) -> float | None:
    if not plan.calls:
        return 0.0
    if rate:
        return plan.completion_tokens / rate
    return plan.calls * pace.seconds / concurrency if pace else None
