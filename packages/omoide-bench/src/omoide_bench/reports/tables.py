"""The figures of a result as rows; shares in percent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from omoide_bench.tasks import TASKS
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from omoide_bench.running.results import Aggregate, Result


def measure_of(task: str, name: str) -> Measure:
    """The measure of that name; an unknown one is shown unscaled."""
    known = TASKS[task].measures if task in TASKS else ()
    fallback = Measure(name=name, about="", percent=False)
    return next((measure for measure in known if measure.name == name), fallback)


def shown(value: float, measure: Measure) -> str:
    """A figure as text, in percent if it is a share."""
    return (
        f"{100 * value:.1f}" if measure.percent else f"{value:.3g}" if value < 1 else f"{value:.1f}"
    )


def shown_mean(aggregate: Aggregate, measure: Measure) -> str:
    """Mean and interval as text; one value has no interval."""
    if aggregate.count == 1:
        return shown(aggregate.mean, measure)
    low, high = shown(aggregate.low, measure), shown(aggregate.high, measure)
    return f"{shown(aggregate.mean, measure)} [{low}, {high}]"


def measures_of(result: Result, group: str) -> list[str]:
    """The measures of a group, in the task's order."""
    present = {a.measure for m in result.methods for a in m.aggregates if a.group == group}
    order = [m.name for m in TASKS[result.task].measures] if result.task in TASKS else []
    return [name for name in order if name in present] + sorted(present - set(order))


def groups_of(result: Result) -> list[str]:
    """The groups of a result, by their leading number if any. `all` is included only if every
    group has the same measures, sparse ones aside, and they are not steps such as `5 sessions`."""
    names = list(dict.fromkeys(a.group for m in result.methods for a in m.aggregates))
    names.sort(key=lambda name: int(name.split()[0]) if name[:1].isdecimal() else 0)
    groups = [name for name in names if name != "all"]
    dense = {tuple(m for m in measures_of(result, g) if not _is_sparse(result, m)) for g in groups}
    steps = all(name[:1].isdecimal() for name in groups)
    return names if len(dense) == 1 and not steps else groups


def _is_sparse(result: Result, name: str) -> bool:
    return measure_of(result.task, name).sparse


def aggregate_rows(result: Result) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A header, and a row for each group and method."""
    names = list(dict.fromkeys(m for g in groups_of(result) for m in measures_of(result, g)))
    rows = []
    for group in groups_of(result):
        for method in result.methods:
            aggregates = {a.measure: a for a in method.aggregates if a.group == group}
            if aggregates:
                count = max(a.count for a in aggregates.values())
                cells = [
                    shown_mean(aggregates[name], measure_of(result.task, name))
                    if name in aggregates
                    else ""
                    for name in names
                ]
                rows.append((group, method.name, f"{count:,}", *cells))
    return ("group", "method", "n", *names), rows


def unscored_reasons(result: Result) -> dict[tuple[str, str], int]:
    """How many items lack a measure, over all methods, by measure and reason."""
    reasons = Counter(
        reason
        for method in result.methods
        for item in method.items
        for reason in item.unscored.items()
    )
    return dict(sorted(reasons.items()))
