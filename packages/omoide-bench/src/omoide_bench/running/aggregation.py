"""From items to a result: aggregates with intervals, paired tests between methods."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING

from omoide_bench.corpora.beam import UNANSWERABLE
from omoide_bench.data.locomo import ADVERSARIAL
from omoide_bench.running.results import Aggregate, ItemRecord, MethodResult, PairedTest
from omoide_bench.statistics import difference, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide_bench.running.cached_model import CallCost
    from omoide_bench.running.items import ScoredItem

ALL = "all"
ANSWERABLE = "answerable"
"""All but questions without an answer: their published F1 rewards a method that finds nothing."""
_NO_ANSWER = frozenset({ADVERSARIAL, UNANSWERABLE})
"""The groups of these questions in LoCoMo and BEAM."""


def record(item: ScoredItem) -> ItemRecord:
    """The record of an item: everything but its texts."""
    return ItemRecord(
        id=item.id,
        cluster=item.cluster,
        group=item.group,
        scores={name: round(value, 6) for name, value in item.scores.items()},
        unscored=dict(item.unscored),
        prompt_tokens=item.prompt_tokens,
        completion_tokens=item.completion_tokens,
    )


def method_result(
    name: str,
    items: Sequence[ScoredItem],
    *,
    spent: CallCost,
    judged: CallCost,
    seconds: float,
    cpu_seconds: float,
    digests_failed: int,
    whole: Mapping[str, Mapping[str, float]],
    seed: int,
) -> MethodResult:
    """The result of one method from its items and costs."""
    records = [record(item) for item in sorted(items, key=lambda item: item.id)]
    return MethodResult(
        name=name,
        calls=spent.calls,
        cached=spent.cached,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        model_seconds=round(spent.model_seconds, 3),
        judge_calls=judged.calls,
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu_seconds, 3),
        digests_failed=digests_failed,
        aggregates=aggregates(records, seed=seed),
        whole={group: dict(measures) for group, measures in whole.items()},
        items=records,
    )


def groups(records: Iterable[ItemRecord]) -> dict[str, list[ItemRecord]]:
    """The records by group. With more than one group there is also `all`; if some questions have
    no answer, there is also `answerable`."""
    by_group: dict[str, list[ItemRecord]] = {}
    for item in records:
        by_group.setdefault(item.group, []).append(item)
    if len(by_group) < 2:
        return by_group
    combined = {ALL: [item for items in by_group.values() for item in items]}
    if not _NO_ANSWER.isdisjoint(by_group):
        combined[ANSWERABLE] = [item for item in combined[ALL] if item.group not in _NO_ANSWER]
    return combined | dict(sorted(by_group.items()))


def aggregates(records: Sequence[ItemRecord], *, seed: int) -> list[Aggregate]:
    """Means with intervals for each group and measure."""
    rows = []
    for group, items in groups(records).items():
        measures = dict.fromkeys(m for item in items for m in (*item.scores, *item.unscored))
        for measure in measures:
            scored = [item for item in items if measure in item.scores]
            unscored = sum(measure in item.unscored for item in items)
            if scored:
                estimate = mean(
                    [item.scores[measure] for item in scored],
                    [item.cluster for item in scored],
                    seed=seed,
                )
                rows.append(
                    Aggregate(group=group, measure=measure, unscored=unscored, **asdict(estimate))
                )
    return rows


def tests(methods: Sequence[MethodResult], *, seed: int) -> list[PairedTest]:
    """Paired tests of every two methods, on each measure of each group."""
    return [
        test for one, other in combinations(methods, 2) for test in compared(one, other, seed=seed)
    ]


def compared(
    one: MethodResult, other: MethodResult, *, seed: int = 0, names: tuple[str, str] | None = None
) -> list[PairedTest]:
    """Paired tests of two methods, for each measure of each group that both have."""
    first, second = groups(one.items), groups(other.items)
    name_one, name_other = names or (one.name, other.name)
    rows = []
    for group in first.keys() & second.keys():
        measures = dict.fromkeys(m for record in first[group] for m in record.scores)
        clusters = {record.id: record.cluster for record in first[group]}
        for measure in measures:
            gap = difference(
                {r.id: r.scores[measure] for r in first[group] if measure in r.scores},
                {r.id: r.scores[measure] for r in second[group] if measure in r.scores},
                clusters,
                seed=seed,
            )
            if gap is not None:
                rows.append(
                    PairedTest(
                        group=group, measure=measure, one=name_one, other=name_other, **asdict(gap)
                    )
                )
    return sorted(rows, key=lambda test: (test.group != ALL, test.group, test.measure))
