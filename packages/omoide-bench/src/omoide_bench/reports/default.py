"""Is the default the best method? Compares it with all others on each run's headline measures.

A method would be a better default if it is significantly better on one of these measures and
significantly worse on none (Holm, over all comparisons with the default on that measure of that
run). The full history (`context`) and the gold memory are shown but cannot be a default: the first
outgrows every window, the second does not exist outside benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide_bench.data.locomo import ADVERSARIAL
from omoide_bench.reports.tables import measure_of
from omoide_bench.running.aggregation import ALL, ANSWERABLE, groups
from omoide_bench.statistics import Difference, difference, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide_bench.running.results import ItemRecord, MethodResult, Result

LEVEL = 0.05
HEADLINES = {
    "msc": ("F1", "likeness"),
    "carecall": ("F1", "likeness"),
    "realpersona": ("F1", "likeness"),
    "locomo": ("F1", "evidence"),
    "longmemeval": ("F1", "evidence"),
    "dmr-like": ("answer given", "evidence"),
    "beam": ("evidence",),
    "personamem": ("right choice",),
    "memdaily": ("right choice", "evidence"),
    "memorybank": ("evidence",),
    "mtbench-plus": ("evidence",),
}
"""The headline measures of each task. Judges' marks are left out: judges differ in reliability
from run to run."""
NO_DEFAULT = ("context", "gold")


@dataclass(frozen=True, kw_only=True)
class AlternativeResult:
    """Another method compared with the default, on the items that both have."""

    name: str
    gap: Difference
    """The other method minus the default."""
    mine: float
    """The default's mean on these items."""
    held: float
    """p corrected by Holm."""

    @property
    def beyond_chance(self) -> int:
        """1 if the method is significantly better, -1 if significantly worse, else 0."""
        return 0 if self.held >= LEVEL else 1 if self.gap.difference > 0 else -1


@dataclass(frozen=True, kw_only=True)
class DefaultResult:
    """The default on one measure of one run."""

    run: str
    task: str
    measure: str
    alternatives: tuple[AlternativeResult, ...]
    """Best first."""


def default_results(
    results: Sequence[tuple[str, Result]], names: Sequence[str]
) -> list[DefaultResult]:
    """The default against all other methods, for each run that has both. Of the names that the
    default may have in a result, the first counts."""
    outcomes = []
    for name, result in results:
        default_result = next(filter(None, map(result.method, names)), None)
        if default_result is None or len(result.methods) < 2:
            continue
        for measure in HEADLINES.get(result.task, ()):
            rivals = _rivals(result, default_result, measure)
            if rivals:
                outcomes.append(
                    DefaultResult(
                        run=name, task=result.task, measure=measure, alternatives=tuple(rivals)
                    )
                )
    return outcomes


def better_defaults(outcomes: Sequence[DefaultResult]) -> list[str]:
    """Methods that are significantly better than the default somewhere and worse nowhere."""
    signs_by_name: dict[str, set[int]] = {}
    for outcome in outcomes:
        for rival in outcome.alternatives:
            if rival.name not in NO_DEFAULT:
                signs_by_name.setdefault(rival.name, set()).add(rival.beyond_chance)
    return sorted(name for name, signs in signs_by_name.items() if 1 in signs and -1 not in signs)


def rows(outcomes: Sequence[DefaultResult]) -> Iterable[tuple[str, ...]]:
    """One row per measure and run: the best other method, then all that differ significantly."""
    for outcome in outcomes:
        best, scale = outcome.alternatives[0], _scale(outcome)
        yield (
            outcome.run,
            outcome.measure,
            f"{scale * best.mine:.1f}",
            f"{best.name}: {scale * (best.mine + best.gap.difference):.1f}",
            f"{-scale * best.gap.difference:+.1f} "
            f"[{-scale * best.gap.high:+.1f}, {-scale * best.gap.low:+.1f}]",
            f"{best.gap.p:.2g}; {best.held:.2g}",
            f"{best.gap.count:,}",
            ", ".join(r.name for r in outcome.alternatives if r.beyond_chance > 0) or "none",
            ", ".join(r.name for r in outcome.alternatives if r.beyond_chance < 0) or "none",
        )


HEAD = (
    *("run", "measure", "default", "best other", "default − best", "p; by Holm", "items"),
    *("significantly better than the default", "significantly worse"),
)


def _rivals(result: Result, mine: MethodResult, measure: str) -> list[AlternativeResult]:
    scores = _scores(mine, measure)
    gaps: list[tuple[str, Difference, float]] = []
    for other in result.methods:
        if other.name == mine.name:
            continue
        theirs = _scores(other, measure)
        gap = _stored(result, mine, other.name, measure) or difference(
            theirs, scores, {item.id: item.cluster for item in mine.items}, seed=result.seed
        )
        if gap is not None:
            shared = [scores[k] for k in scores if k in theirs]
            gaps.append((other.name, gap, sum(shared) / len(shared)))
    corrected = holm([gap.p for _, gap, _ in gaps])
    results = [
        AlternativeResult(name=name, gap=gap, mine=mean, held=p)
        for (name, gap, mean), p in zip(gaps, corrected, strict=True)
    ]
    return sorted(results, key=lambda rival: -rival.gap.difference)


def _stored(result: Result, mine: MethodResult, rival: str, measure: str) -> Difference | None:
    """The difference as stored with the run; None for an older result, which did not test the
    answerable questions separately."""
    by_group = groups(mine.items)
    group = next(name for name in (ANSWERABLE, ALL, *by_group) if name in by_group)
    for test in result.tests:
        if (test.group, test.measure, {test.one, test.other}) == (
            group,
            measure,
            {mine.name, rival},
        ):
            sign = 1 if test.one == rival else -1
            low, high = sorted((sign * test.low, sign * test.high))
            return Difference(
                difference=sign * test.difference,
                low=low,
                high=high,
                p=test.p,
                count=test.count,
                clusters=test.clusters,
                over=test.over,
            )
    return None


def _scores(method: MethodResult, measure: str) -> dict[str, float]:
    return {i.id: i.scores[measure] for i in method.items if measure in i.scores and _counts(i)}


def _counts(item: ItemRecord) -> bool:
    """Whether an item counts. Questions without an answer do not: their published F1 rewards a
    method that finds nothing."""
    return item.group != ADVERSARIAL


def _scale(standing: DefaultResult) -> int:
    return 100 if measure_of(standing.task, standing.measure).percent else 1
