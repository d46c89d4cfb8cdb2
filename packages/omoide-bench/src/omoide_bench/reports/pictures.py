"""The charts of a result: bars, win rates, growth curves; and the mechanisms' forgetting curves,
drawn from their formulas."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import forgetting
from omoide_bench.reports.drawing import COLOURS, Bar, Bars, Lines, Series, Share, Shares
from omoide_bench.reports.papers import tables_for
from omoide_bench.reports.tables import groups_of, measure_of, measures_of

if TYPE_CHECKING:
    from omoide_bench.reports.drawing import Drawing
    from omoide_bench.running.results import Result

_SESSIONS = re.compile(r"(\d+) sessions")


def pictures(result: Result) -> dict[str, Drawing]:
    """The charts of a result, by file name: three measures of the first group, one of each other
    group."""
    if result.task == "growth":
        return dict(growth(result))
    charts: dict[str, Drawing] = {}
    for index, group in enumerate(groups_of(result)):
        for measure in measures_of(result, group)[: 1 if index else 3]:
            if drawn := bars(result, group, measure):
                charts[_file(f"{group}-{measure}")] = drawn
    shares = {"wins": wins(result), "judged": judged_wins(result)}
    return charts | {name: drawing for name, drawing in shares.items() if drawing}


def judged_wins(result: Result) -> Shares | None:
    """How often the judge preferred one method's reply, in both orders."""
    shares = []
    for duel in result.duels:
        total = duel.wins + duel.losses + duel.ties + duel.neither
        if total:
            shares.append(
                Share(
                    name=f"against {duel.other}",
                    wins=duel.wins / total,
                    ties=(duel.ties + duel.neither) / total,
                    losses=duel.losses / total,
                )
            )
    if not shares:
        return None
    title = f"{result.task}: {result.duels[0].one}, judged by {result.judge}"
    return Shares(title=title, shares=tuple(shares))


def bars(result: Result, group: str, name: str) -> Bars | None:
    """One measure of all methods, with the paper's figures; None for a single method."""
    measure = measure_of(result.task, name)
    scale = 100 if measure.percent else 1
    theirs = {
        method.name: values[table.columns.index(name)]
        for table in tables_for(result.task, {group})
        if name in table.columns
        for method in result.methods
        if (values := table.of(method.name)) is not None
    }
    drawn = [
        Bar(
            name=method.name,
            value=scale * a.mean,
            low=scale * a.low,
            high=scale * a.high,
            published=theirs.get(method.name),
        )
        for method in result.methods
        for a in method.aggregates
        if a.group == group and a.measure == name
    ]
    if len(drawn) < 2:
        return None
    unit = f"{name}, %" if measure.percent else name
    return Bars(title=f"{result.task}, {group}: {name}", unit=unit, bars=tuple(drawn))


def wins(result: Result) -> Shares | None:
    """How often each method is better than the first, item by item, on the first measure."""
    group = groups_of(result)[0] if groups_of(result) else ""
    names = measures_of(result, group)
    if len(result.methods) < 2 or not names:
        return None
    name, base = names[0], result.methods[0]
    better = measure_of(result.task, name).better
    theirs = {item.id: item.scores[name] for item in base.items if name in item.scores}
    shares = []
    for method in result.methods[1:]:
        gaps = [
            better * (item.scores[name] - theirs[item.id])
            for item in method.items
            if name in item.scores and item.id in theirs
        ]
        if gaps:
            won, lost = sum(g > 1e-9 for g in gaps), sum(g < -1e-9 for g in gaps)
            total = len(gaps)
            shares.append(
                Share(
                    name=method.name,
                    wins=won / total,
                    ties=(total - won - lost) / total,
                    losses=lost / total,
                )
            )
    if not shares:
        return None
    return Shares(title=f"{result.task}: {name} against {base.name}", shares=tuple(shares))


def growth(result: Result) -> dict[str, Lines]:
    """Each measure against the number of sessions."""
    charts = {}
    for measure in ("prompt tokens", "memory ms", "digest tokens"):
        series = []
        for method in result.methods:
            points = sorted(
                (int(match[1]), a.mean)
                for a in method.aggregates
                if a.measure == measure and (match := _SESSIONS.fullmatch(a.group)) and a.mean > 0
            )
            if points:
                series.append(
                    Series(name=method.name, points=tuple((float(x), y) for x, y in points))
                )
        if series:
            charts[_file(measure)] = Lines(
                title=f"{measure} against sessions",
                x="sessions",
                y=measure,
                series=tuple(series[: len(COLOURS)]),  # no more colours
                log_y=True,
            )
    return charts


def fading() -> Lines:
    """How a memory fades if it is never recalled: eq. 8 of paper B at two relevances, and
    MemoryBank's retention with strength 1 and 5."""
    days = (1, 2, 5, 10, 30, 100, 200)

    def human(relevance: float) -> tuple[tuple[float, float], ...]:
        return tuple(
            (
                float(day),
                100
                * forgetting.recall_probability(
                    relevance=relevance,
                    elapsed=timedelta(days=day),
                    consolidation=1.0,
                    unit=forgetting.UNIT,
                ),
            )
            for day in days
        )

    def bank(strength: int) -> tuple[tuple[float, float], ...]:
        return tuple((float(day), 100 * math.exp(-day / strength)) for day in days)

    series = (
        Series(name="human-recall, r = 0.9", points=human(0.9)),
        Series(name="human-recall, r = 0.5", points=human(0.5)),
        Series(name="MemoryBank, S = 1", points=bank(1)),
        Series(name="MemoryBank, S = 5", points=bank(5)),
    )
    return Lines(title="Forgetting, by the mechanisms' formulas", x="days", y="%", series=series)


def strengthening(relevance: float = 0.9, days: int = 240) -> Lines:
    """How recalls make a memory last: eq. 8 and 9 of paper B for an event that is never recalled,
    recalled three times in a week, and three times a month apart (the paper's Figure 2 B)."""
    plans = {
        "never recalled": (),
        "after 2, 4, 6 days": (2, 4, 6),
        "after 30, 60, 90 days": (30, 60, 90),
    }
    return Lines(
        title=f"Recalls strengthen, r = {relevance}, by the mechanism's formulas",
        x="days",
        y="%",
        series=tuple(
            Series(name=name, points=_recalled(recalls, relevance, days), marked=False)
            for name, recalls in plans.items()
        ),
        log_x=False,
    )


def _recalled(
    recalls: tuple[int, ...], relevance: float, days: int
) -> tuple[tuple[float, float], ...]:
    """The recall probability by day, with a jump on each day of recall."""
    points = []
    last, strength = 0, 1.0

    def chance(day: int) -> float:
        return 100 * forgetting.recall_probability(
            relevance=relevance,
            elapsed=timedelta(days=day - last),
            consolidation=strength,
            unit=forgetting.UNIT,
        )

    for day in range(days + 1):
        if day % 5 == 0 or day in recalls:
            points.append((float(day), chance(day)))
        if day in recalls:
            strength = forgetting.consolidated(
                strength, elapsed=timedelta(days=day - last), unit=forgetting.UNIT
            )
            last = day
            points.append((float(day), chance(day)))
    return tuple(points)


def _file(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
