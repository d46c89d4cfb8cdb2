"""Compares two results of one task, or two methods of one result, on the items that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.reports.tables import measure_of
from omoide_bench.running.aggregation import compared
from omoide_bench.running.origin import differing

if TYPE_CHECKING:
    from omoide_bench.running.results import PairedTest, Result


def compared_results(
    one: Result, other: Result, *, names: tuple[str, str], across: bool = False
) -> list[PairedTest]:
    """Paired tests of each method in both results; if they share none, of all pairs of methods.
    Raises `BadInput` for results of different versions or prompts, unless `across`."""
    if one.task != other.task:
        raise BadInput(
            f"{names[0]} is a result of {one.task} and {names[1]} of {other.task}; "
            "give two results of the same task"
        )
    if not across and (why := differing(one, other)):
        raise BadInput(
            f"{names[0]} and {names[1]} were not made with the same omoide ({'; '.join(why)}); "
            "use --across to compare different versions"
        )
    pairs = [(m, n) for m in one.methods for n in other.methods if m.name == n.name]
    pairs = pairs or [(m, n) for m in one.methods for n in other.methods]
    results = [
        test
        for mine, theirs in pairs
        for test in compared(
            mine, theirs, names=(f"{names[0]}: {mine.name}", f"{names[1]}: {theirs.name}")
        )
    ]
    if not results:
        raise BadInput(f"{names[0]} and {names[1]} have no item in common")
    return results


def compared_methods(result: Result, one: str, other: str) -> list[PairedTest]:
    """Paired tests of two methods of one result."""
    mine, theirs = result.method(one), result.method(other)
    if mine is None or theirs is None:
        missing, known = one if mine is None else other, ", ".join(m.name for m in result.methods)
        raise BadInput(f"the result has no method {missing!r}; it has {known}")
    if not (results := compared(mine, theirs, seed=result.seed)):
        raise BadInput(f"{one} and {other} have no item in common")
    return results


def equivalent(test: PairedTest, *, task: str, margin: float) -> bool | None:
    """Whether two methods are equivalent: the whole interval of their difference lies within
    `margin` points of zero. None for measures that are not shares. A 95 % interval is stricter
    than the usual two one-sided tests at 5 %, which use a 90 % interval."""
    if not measure_of(task, test.measure).percent:
        return None
    return -margin / 100 < test.low and test.high < margin / 100
