"""Is the default the best measured? For what each run is about, the default beside all others.

A method that is better beyond chance (Holm, over all that the default is compared with on that
measure of that run) on one of these measures and worse beyond chance on none would make the better
default. All history and what people wrote are shown, but cannot be one: the first outgrows every
window, the second is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.evals.data.locomo import ADVERSARIAL
from omoide.evals.reports.tables import measure_of
from omoide.evals.running.statistics import difference, holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.evals.running.results import MethodResult, Record, Result
    from omoide.evals.running.statistics import Difference

LEVEL = 0.05
HEADLINES = {
    "msc": ("F1", "likeness"),
    "carecall": ("F1", "likeness"),
    "realpersona": ("F1", "likeness"),
    "locomo": ("F1", "evidence"),
    "longmemeval": ("F1", "evidence"),
    "memorybank": ("evidence",),
    "mtbench-plus": ("evidence",),
}
"""What a run is about. Judges' marks are not among it: what a judge is worth differs by run."""
NO_DEFAULT = ("context", "gold")


@dataclass(frozen=True, kw_only=True)
class Rival:
    """Another method against the default, on the items that both have."""

    name: str
    gap: Difference
    """The rival's less the default's."""
    mine: float
    """The default's mean on these items."""
    held: float
    """p by Holm."""

    @property
    def beyond_chance(self) -> int:
        """1 if the rival is better, -1 if it is worse, 0 if that cannot be told."""
        return 0 if self.held >= LEVEL else 1 if self.gap.difference > 0 else -1


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The default on one measure of one run."""

    run: str
    task: str
    measure: str
    rivals: tuple[Rival, ...]
    """The best first."""


def standings(results: Sequence[tuple[str, Result]], default: str) -> list[Standing]:
    """Where the default stands, for each run that has it beside others."""
    found = []
    for name, result in results:
        mine = result.method(default)
        if mine is None or len(result.methods) < 2:
            continue
        for measure in HEADLINES.get(result.task, ()):
            rivals = _rivals(result, mine, measure)
            if rivals:
                found.append(
                    Standing(run=name, task=result.task, measure=measure, rivals=tuple(rivals))
                )
    return found


def better_defaults(found: Sequence[Standing]) -> list[str]:
    """Methods that are better than the default beyond chance somewhere and worse nowhere."""
    told: dict[str, set[int]] = {}
    for standing in found:
        for rival in standing.rivals:
            if rival.name not in NO_DEFAULT:
                told.setdefault(rival.name, set()).add(rival.beyond_chance)
    return sorted(name for name, signs in told.items() if 1 in signs and -1 not in signs)


def rows(found: Sequence[Standing]) -> Iterable[tuple[str, ...]]:
    """A row a standing: the best rival, then who else differs beyond chance."""
    for standing in found:
        best, scale = standing.rivals[0], _scale(standing)
        yield (
            standing.run,
            standing.measure,
            f"{scale * best.mine:.1f}",
            f"{best.name}: {scale * (best.mine + best.gap.difference):.1f}",
            f"{-scale * best.gap.difference:+.1f} "
            f"[{-scale * best.gap.high:+.1f}, {-scale * best.gap.low:+.1f}]",
            f"{best.gap.p:.2g}; {best.held:.2g}",
            f"{best.gap.count:,}",
            ", ".join(r.name for r in standing.rivals if r.beyond_chance > 0) or "none",
            ", ".join(r.name for r in standing.rivals if r.beyond_chance < 0) or "none",
        )


HEAD = (
    *("run", "measure", "default", "best other", "default − best", "p; by Holm", "items"),
    *("better than the default beyond chance", "worse beyond chance"),
)


def _rivals(result: Result, mine: MethodResult, measure: str) -> list[Rival]:
    own = _scores(mine, measure)
    clusters = {item.id: item.cluster for item in mine.items}
    gaps: list[tuple[str, Difference, float]] = []
    for other in result.methods:
        theirs = _scores(other, measure)
        if other.name == mine.name:
            continue
        gap = difference(
            theirs, {k: own[k] for k in own if k in theirs}, clusters, seed=result.seed
        )
        if gap is not None:
            shared = [own[k] for k in own if k in theirs]
            gaps.append((other.name, gap, sum(shared) / len(shared)))
    held = holm([gap.p for _, gap, _ in gaps])
    found = [
        Rival(name=name, gap=gap, mine=mean, held=p)
        for (name, gap, mean), p in zip(gaps, held, strict=True)
    ]
    return sorted(found, key=lambda rival: -rival.gap.difference)


def _scores(method: MethodResult, measure: str) -> dict[str, float]:
    return {i.id: i.scores[measure] for i in method.items if measure in i.scores and _counts(i)}


def _counts(item: Record) -> bool:
    """Of a question without an answer the published F1 rewards whoever finds nothing."""
    return item.group != ADVERSARIAL


def _scale(standing: Standing) -> int:
    return 100 if measure_of(standing.task, standing.measure).percent else 1
