"""Two results of one task, or two methods of one result, compared by the items that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.reports.tables import measure_of
from omoide.evals.running.summing import compared

if TYPE_CHECKING:
    from omoide.evals.running.results import Result, Test


def compared_results(one: Result, other: Result, *, names: tuple[str, str]) -> list[Test]:
    """Each method of the first against the same of the second; where they share none, each against
    each."""
    if one.task != other.task:
        raise BadInput(f"{names[0]} is of {one.task} and {names[1]} of {other.task}: not the same")
    pairs = [(m, n) for m in one.methods for n in other.methods if m.name == n.name]
    pairs = pairs or [(m, n) for m in one.methods for n in other.methods]
    found = [
        test
        for mine, theirs in pairs
        for test in compared(
            mine, theirs, names=(f"{names[0]}: {mine.name}", f"{names[1]}: {theirs.name}")
        )
    ]
    if not found:
        raise BadInput(f"{names[0]} and {names[1]} have no item in common")
    return found


def compared_methods(result: Result, one: str, other: str) -> list[Test]:
    """One method of a result against another."""
    mine, theirs = result.method(one), result.method(other)
    if mine is None or theirs is None:
        missing, had = one if mine is None else other, ", ".join(m.name for m in result.methods)
        raise BadInput(f"the result has no method {missing!r}; it has {had}")
    if not (found := compared(mine, theirs, seed=result.seed)):
        raise BadInput(f"{one} and {other} have no item in common")
    return found


def alike(test: Test, *, task: str, margin: float) -> bool | None:
    """Whether two methods are as good as each other: the whole interval of their difference lies
    within so many points on either side. None for measures that are no shares. An interval of
    95 % is stricter than the usual two tests at 5 %, which ask for one of 90 %."""
    if not measure_of(task, test.measure).percent:
        return None
    return -margin / 100 < test.low and test.high < margin / 100
