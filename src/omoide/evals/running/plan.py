"""What a run will take, before it starts: rehearsed on a few cases with a stand-in for the model.

The stand-in answers at once in the form that is asked for. A real model is now and then asked
again because its answer would not do, so the plan is the least; how long its answers are is taken
from the calls it has in the cache, or guessed at a third of what they may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide.evals.running.asked import Line
from omoide.evals.running.calls import CallCache
from omoide.evals.running.runner import Course, run
from omoide.evals.running.standin import StandIn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.methods import Method
    from omoide.evals.running.calls import Pace
    from omoide.evals.running.lab import Lab
    from omoide.evals.tasks.base import Task

REHEARSED = 3
"""Cases of each method that are gone through, from the beginning, the middle and the end."""
FILL = 1 / 3


@dataclass(frozen=True, kw_only=True)
class Load:
    """What one method will ask."""

    method: str
    calls: int
    shared: int
    """Of these, how many another method asks before it: they are made once."""
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run will take."""

    cases: int
    rehearsed: int
    loads: tuple[Load, ...]
    seconds: float | None
    """None where nothing is known of how fast the model is."""

    @property
    def calls(self) -> int:
        """Calls that will really be made, if the cache holds none of them."""
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
    lab: Lab,
    course: Course,
    rate: float | None = None,
) -> Plan:
    """Rehearse it. `rate` is how many tokens of answers the model gives a second in all; without
    it, the time that its calls took so far counts."""
    pace = lab.line.cache.pace(lab.line.model.name)
    model = lab.line.model
    few = _spread(cases)
    cache = CallCache(None)
    standin = StandIn(
        name=model.name, window=model.window, fill=min(pace.fill, 1.0) if pace else FILL
    )
    line = Line(standin, cache, concurrency=course.concurrency)
    stage = replace(lab, line=line, judge=line if lab.judge else None, encoder=None)
    share = len(cases) / len(few) if few else 0.0
    loads = []
    for method in methods:
        done = await run(task, few, method, lab=stage, course=replace(course, deadline=None))
        loads.append(
            Load(
                method=method.name,
                calls=round((done.result.calls + done.result.judge_calls) * share),
                shared=round(done.result.cached * share),
                prompt_tokens=round(done.result.prompt_tokens * share),
                completion_tokens=round(done.result.completion_tokens * share),
            )
        )
    cache.close()
    made = Plan(cases=len(cases), rehearsed=len(few), loads=tuple(loads), seconds=None)
    return replace(made, seconds=_seconds(made, rate, pace, course.concurrency))


def _spread(cases: Sequence[Any]) -> list[Any]:
    count = min(REHEARSED, len(cases))
    return [cases[(2 * i + 1) * len(cases) // (2 * count)] for i in range(count)]


def _seconds(plan: Plan, rate: float | None, pace: Pace | None, concurrency: int) -> float | None:
    if not plan.calls:
        return 0.0
    if rate:
        return plan.completion_tokens / rate
    return plan.calls * pace.seconds / concurrency if pace else None
