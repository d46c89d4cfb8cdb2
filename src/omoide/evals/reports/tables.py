"""The figures of a result in rows, percentages where a measure is a share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.tasks import TASKS
from omoide.evals.tasks.base import Measure

if TYPE_CHECKING:
    from omoide.evals.running.results import Aggregate, Result


def measure_of(task: str, name: str) -> Measure:
    """The measure of that name; one that the task does not know is shown as it is."""
    known = TASKS[task].measures if task in TASKS else ()
    fallback = Measure(name=name, about="", percent=False)
    return next((measure for measure in known if measure.name == name), fallback)


def shown(value: float, measure: Measure) -> str:
    """A figure, in percent where it is a share."""
    return (
        f"{100 * value:.1f}" if measure.percent else f"{value:.3g}" if value < 1 else f"{value:.1f}"
    )


def shown_mean(aggregate: Aggregate, measure: Measure) -> str:
    """Mean and interval."""
    low, high = shown(aggregate.low, measure), shown(aggregate.high, measure)
    return f"{shown(aggregate.mean, measure)} [{low}, {high}]"


def measures_of(result: Result, group: str) -> list[str]:
    """The measures that a group has, in the order of the task."""
    had = {a.measure for m in result.methods for a in m.aggregates if a.group == group}
    order = [m.name for m in TASKS[result.task].measures] if result.task in TASKS else []
    return [name for name in order if name in had] + sorted(had - set(order))


def groups_of(result: Result) -> list[str]:
    """The groups of a result, by number where they begin with one; all items together only where
    every group has the same measures."""
    found = list(dict.fromkeys(a.group for m in result.methods for a in m.aggregates))
    found.sort(key=lambda name: int(name.split()[0]) if name[:1].isdecimal() else 0)
    apart = [name for name in found if name != "all"]
    alike = len({tuple(measures_of(result, name)) for name in apart}) == 1
    return found if alike else apart


def aggregate_rows(result: Result) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A head and a row for each group and method."""
    names = list(dict.fromkeys(m for g in groups_of(result) for m in measures_of(result, g)))
    rows = []
    for group in groups_of(result):
        for method in result.methods:
            own = {a.measure: a for a in method.aggregates if a.group == group}
            if own:
                count = max(a.count for a in own.values())
                cells = [
                    shown_mean(own[name], measure_of(result.task, name)) if name in own else ""
                    for name in names
                ]
                rows.append((group, method.name, f"{count:,}", *cells))
    return ("group", "method", "n", *names), rows
