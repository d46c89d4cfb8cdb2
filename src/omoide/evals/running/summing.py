"""From items to a result: aggregates with intervals, paired tests between methods."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING

from omoide.evals.running.results import Aggregate, MethodResult, Record, Test
from omoide.evals.running.statistics import difference, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide.evals.running.asked import Spent
    from omoide.evals.running.items import Item

ALL = "all"


def record(item: Item) -> Record:
    """The item without its texts."""
    return Record(
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
    items: Sequence[Item],
    *,
    spent: Spent,
    judged: Spent,
    seconds: float,
    digests_failed: int,
    whole: Mapping[str, Mapping[str, float]],
    seed: int,
) -> MethodResult:
    """All of one method."""
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
        digests_failed=digests_failed,
        aggregates=aggregates(records, seed=seed),
        whole={group: dict(measures) for group, measures in whole.items()},
        items=records,
    )


def groups(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records by group, and all together where there is more than one."""
    found: dict[str, list[Record]] = {}
    for one in records:
        found.setdefault(one.group, []).append(one)
    if len(found) > 1:
        found = {ALL: [one for own in found.values() for one in own], **dict(sorted(found.items()))}
    return found


def aggregates(records: Sequence[Record], *, seed: int) -> list[Aggregate]:
    """Means with intervals, for each group and measure."""
    found = []
    for group, own in groups(records).items():
        measures = dict.fromkeys(m for one in own for m in (*one.scores, *one.unscored))
        for measure in measures:
            scored = [one for one in own if measure in one.scores]
            unscored = sum(measure in one.unscored for one in own)
            if scored:
                estimate = mean(
                    [one.scores[measure] for one in scored],
                    [one.cluster for one in scored],
                    seed=seed,
                )
                found.append(
                    Aggregate(group=group, measure=measure, unscored=unscored, **asdict(estimate))
                )
    return found


def tests(methods: Sequence[MethodResult], *, seed: int) -> list[Test]:
    """Every two methods, on each measure of each group."""
    return [
        test for one, other in combinations(methods, 2) for test in compared(one, other, seed=seed)
    ]


def compared(
    one: MethodResult, other: MethodResult, *, seed: int = 0, names: tuple[str, str] | None = None
) -> list[Test]:
    """How two methods differ, paired by item."""
    first, second = groups(one.items), groups(other.items)
    here, there = names or (one.name, other.name)
    found = []
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
                found.append(
                    Test(group=group, measure=measure, one=here, other=there, **asdict(gap))
                )
    return sorted(found, key=lambda test: (test.group != ALL, test.group, test.measure))
