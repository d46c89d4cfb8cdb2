"""What the results say at a glance: of each the best method on its main measure, those that cannot
be told apart from it and those that are surely worse; in groups that may be compared."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from omoide_bench.reports.default import HEADLINES, LEVEL, NO_DEFAULT
from omoide_bench.reports.page import ReportTable
from omoide_bench.reports.tables import groups_of, measure_of, measures_of, shown, shown_mean
from omoide_bench.rivals.note_taker import NAME as NOTE_TAKER
from omoide_bench.running.aggregation import ALL, ANSWERABLE
from omoide_bench.running.origin import SOURCE, differing
from omoide_bench.statistics import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide_bench.reports.page import Block
    from omoide_bench.running.origin import Named
    from omoide_bench.running.results import Aggregate, PairedTest, Result
    from omoide_bench.tasks.base import Measure

MAIN = {
    **{task: names[0] for task, names in HEADLINES.items()},
    "evidence": "recall@10",
    "memo": "retrieval F1",
    "memo-ja": "retrieval F1",
    f"locomo {NOTE_TAKER}": "answer words",
}
"""The main measure of a task, where it is not the first that its items have; with the stub that
notes every line (`omoide bench rivals`) another, as its answers say nothing."""
FEWEST = 6
"""Items with which a paired test by flipping signs can reach p < .05 at all."""
HEAD = (
    *("result", "task: measure", "items", "best", "not told apart from it"),
    *("worse (p < .05 by Holm)", "for comparison", "model"),
)


def at_a_glance(groups: Sequence[Sequence[Named]]) -> Iterable[Block]:
    """A line and a table for each group of results that may be compared."""
    yield (
        "One line for each result, with its main measure; 95 % intervals in brackets. p is of a "
        "paired test, corrected by Holm over all comparisons with the best method. What cannot be "
        "told apart on these items need not be alike. All history (context) and notes by people "
        "(gold) are no choice for an application, and stand for comparison."
    )
    if len(groups) > 1:
        yield (
            "These results were made with different versions, sources or prompts of omoide. Do "
            "not compare figures of different groups."
        )
    for number, group in enumerate(groups, 1):
        if len(groups) > 1:
            yield _heading(number, group, groups[0][0][1])
        rows = (_row(name, result) for name, result in group)
        yield ReportTable(head=HEAD, rows=tuple(row for row in rows if row))


def _heading(number: int, group: Sequence[Named], first: Result) -> str:
    """Which results a group has: when they were made, by which version, and how it differs."""
    days = [datetime.fromisoformat(result.began).date() for _, result in group]
    between = f"{min(days)}" if min(days) == max(days) else f"{min(days)} to {max(days)}"
    versions = group[0][1].versions
    made = f"omoide {versions.get('omoide', 'unknown')}"
    if source := versions.get(SOURCE):
        made += f", source {source}"
    why = differing(first, group[0][1])
    apart = f" Unlike group 1: {'; '.join(why)}." if why else ""
    return f"Group {number}: {between}, {made}.{apart}"


def _row(name: str, result: Result) -> tuple[str, ...]:
    """The line of one result; empty if nothing was scored."""
    found = _main(result)
    if found is None:
        return ()
    group, measure = found
    means = {
        method.name: aggregate
        for method in result.methods
        for aggregate in method.aggregates
        if (aggregate.group, aggregate.measure) == (group, measure.name)
    }
    order = sorted(means, key=lambda one: -(measure.better or 1) * means[one].mean)
    ranked = [one for one in order if one not in NO_DEFAULT] or order
    best = ranked[0]
    worse = _worse(result, best, group, measure, ranked[1:])
    level = [one for one in ranked[1:] if one not in worse]
    beside = [one for one in order if one not in ranked]
    few = " (too few items to tell)" if level and means[best].count < FEWEST else ""
    where = f"{measure.name}{'' if group == ALL else f' ({group})'}"
    return (
        *(name, f"{result.task}: {where}", f"{means[best].count:,}"),
        f"{best} {_mean(means[best], measure)}",
        _list(level, means, measure) + few,
        *(_list(names, means, measure) for names in (worse, beside)),
        _short(result.model),
    )


def _main(result: Result) -> tuple[str, Measure] | None:
    """The group and the measure that stand for a result; a result may lack the main one."""
    groups = groups_of(result)
    wholes = [group for group in (ANSWERABLE, ALL) if group in groups]
    named = [(g, n) for g in (*wholes, *reversed(groups)) for n in measures_of(result, g)]
    wanted = MAIN.get(f"{result.task} {result.model}", MAIN.get(result.task))
    found = next((pair for pair in named if pair[1] == wanted), next(iter(named), None))
    return found and (found[0], measure_of(result.task, found[1]))


def _worse(
    result: Result, best: str, group: str, measure: Measure, others: Sequence[str]
) -> Sequence[str]:
    """The methods that are surely worse than the best on the items that both have."""
    tests = {
        (test.one if test.other == best else test.other): test
        for test in result.tests
        if (test.group, test.measure) == (group, measure.name) and best in (test.one, test.other)
    }
    compared = [name for name in others if name in tests]
    corrected = holm([tests[name].p for name in compared])
    return [
        name
        for name, p in zip(compared, corrected, strict=True)
        if p < LEVEL and _leads(best, tests[name], measure)
    ]


def _leads(best: str, test: PairedTest, measure: Measure) -> bool:
    """Whether it does on the items of a test: its own mean may be of fewer, easier ones."""
    ahead = test.difference if test.one == best else -test.difference
    return ahead * (measure.better or 1) > 0


def _mean(aggregate: Aggregate, measure: Measure) -> str:
    """A mean with its interval; of a few items resampling says nothing: three of three would be
    100 % [100, 100]."""
    few = aggregate.count < FEWEST
    return shown(aggregate.mean, measure) if few else shown_mean(aggregate, measure)


def _short(model: str) -> str:
    """The model's name without its adapters, which the section of the result has."""
    name, plus, _ = model.partition("+")
    return f"{name} + adapters" if plus else name


def _list(names: Sequence[str], means: Mapping[str, Aggregate], measure: Measure) -> str:
    return "; ".join(f"{name} {shown(means[name].mean, measure)}" for name in names) or "–"
