"""Two results of one task, compared by the items that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadInput
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
