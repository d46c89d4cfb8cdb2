"""What the names in a report mean: its methods and its measures, in their own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide import bootstrap
from omoide_bench.methods import AS, registry
from omoide_bench.reports.page import ReportTable
from omoide_bench.reports.tables import measures_of
from omoide_bench.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide_bench.reports.page import Block
    from omoide_bench.running.results import Result

_BETTER = {1: "more", 0: "neither", -1: "less"}


def legend(results: Sequence[Result]) -> Iterable[Block]:
    """Tables of the methods and the measures of these results."""
    yield (
        "Means with 95 % intervals, shares in percent. A method such as summary+search uses both; "
        f"one that begins with {AS} is a preset (`omoide mechanisms --as NAME`)."
    )
    known = registry(analyser=bootstrap.word_analyser)
    run = {part for r in results for m in r.methods for part in m.name.split("@")[0].split("+")}
    methods = tuple((name, entry.about) for name, entry in known.items() if name in run)
    yield ReportTable(head=("method", "what it is"), rows=methods)
    yield ReportTable(head=("task", "measure", "what it is", "better"), rows=_measures(results))


def _measures(results: Sequence[Result]) -> tuple[tuple[str, ...], ...]:
    """A row for each measure of a task that any result has."""
    found: dict[str, set[str]] = {}
    for result in results:
        groups = {a.group for method in result.methods for a in method.aggregates}
        for group in groups:
            found.setdefault(result.task, set()).update(measures_of(result, group))
    return tuple(
        (task.name, measure.name, measure.about, _BETTER[measure.better])
        for task in TASKS.values()
        for measure in task.measures
        if measure.name in found.get(task.name, ())
    )
