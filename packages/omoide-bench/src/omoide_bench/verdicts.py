"""Kept verdicts on replies, and how far a measure or a judge agrees with them.

A folder holds `verdicts.jsonl` (or any `*verdicts.jsonl`, packed or not): for each item what a
reader gave to each method's reply, and the methods from best to worst. Made up and shortened:

    {"item": 0, "marks": {"summary": [9, 8, 8], "session": [7, 4, 8]},
     "rank": ["summary", "session"]}

Beside it `items.jsonl` may hold the replies themselves, with what the reader was shown:

    {"item": 0, "known": "Ann has a dog.", "dialogue": "User: Hi!", "gold": "Hi, how is Rex?",
     "replies": {"summary": "How is your dog?", "session": "Hi."}}

Where both have the same items, agreement is counted over all pairs of replies to one item. Where
the items cannot be matched, only the order of the methods can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from omoide.errors import BadData, BadInput
from omoide_bench.concurrency import gather_all
from omoide_bench.data.reading import json_lines
from omoide_bench.judges import Pair, pair_report
from omoide_bench.metrics import parlai_f1, reply_length
from omoide_bench.statistics import Estimate, Mean, estimate, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.reading import JsonRecord
    from omoide_bench.judges import PairJudge, PairReport


CRITERIA = ("consistent", "uses the past", "natural")
"""What three marks of an item are for, if nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A reader's verdict on the replies of several methods to one item."""

    item: str
    marks: Mapping[str, tuple[float, ...]]
    rank: tuple[str, ...]
    """The methods from best to worst."""

    def prefers(self, one: str, other: str) -> bool:
        """Whether the reader ranked the reply of `one` above that of `other`."""
        return self.rank.index(one) < self.rank.index(other)


@dataclass(frozen=True, kw_only=True)
class JudgedReplies:
    """The replies to one item, with what a judge needs to see."""

    item: str
    known: str
    dialogue: str
    gold: str
    replies: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class MethodVerdicts:
    """The verdicts on one method."""

    method: str
    rank: Estimate
    """Mean rank; 1 is the best."""
    marks: tuple[Estimate, ...]


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """How often a measure orders two replies to the same item as the reader did."""

    measure: str
    agrees: Mean | None
    """Over all pairs; a tie of the measure counts half."""
    tied: float
    """Share of pairs that the measure does not order."""
    by_method: dict[str, float]
    """The measure's mean for each method, or the share of pairs that it wins."""
    order: float
    """Kendall's tau-b of the methods' means with their mean ranks; 1 is the same order."""


def load_verdicts(folder: Path) -> list[Verdict]:
    """The kept verdicts of the folder. Raises `BadInput` if there are none."""
    verdicts = [_verdict(line) for path in _files(folder, "verdicts") for line in json_lines(path)]
    if not verdicts:
        raise BadInput(f"there is no verdicts.jsonl in {folder}; see omoide_bench.verdicts")
    return verdicts


def load_items(folder: Path) -> list[JudgedReplies]:
    """The replies that were judged, if the folder has them."""
    return [_item(line) for path in _files(folder, "items") for line in json_lines(path)]


def summarise(verdicts: Sequence[Verdict]) -> list[MethodVerdicts]:
    """Mean rank and marks of each method, the best first."""
    methods = dict.fromkeys(name for verdict in verdicts for name in verdict.rank)
    rows = []
    for method in methods:
        of = [verdict for verdict in verdicts if method in verdict.rank]
        marks = list(zip(*(verdict.marks[method] for verdict in of), strict=True))
        rows.append(
            MethodVerdicts(
                method=method,
                rank=estimate([1.0 + verdict.rank.index(method) for verdict in of]),
                marks=tuple(estimate(list(column)) for column in marks),
            )
        )
    return sorted(rows, key=lambda row: row.rank.mean)


def marks_agreement(verdicts: Sequence[Verdict], names: Sequence[str]) -> list[PairAgreement]:
    """How each of the reader's own marks agrees with the reader's ranking."""
    scores: dict[str, dict[str, dict[str, float]]] = {
        name: {v.item: {m: marks[i] for m, marks in v.marks.items()} for v in verdicts}
        for i, name in enumerate(names)
    }
    return [agreement_with(verdicts, name, by_item) for name, by_item in scores.items()]


TEXT_MEASURES: dict[str, Callable[[JudgedReplies, str], float]] = {
    "F1 with the gold reply": lambda item, reply: parlai_f1(reply, item.gold),
    "length": lambda _, reply: float(reply_length(reply)),
}
"""Measures that need no model."""


def text_scores(items: Sequence[JudgedReplies], measure: str) -> dict[str, dict[str, float]]:
    """The measure of every reply, by item and method. The gold reply itself is left out."""
    score = TEXT_MEASURES[measure]
    return {
        item.item: {
            method: score(item, reply)
            for method, reply in item.replies.items()
            if reply != item.gold
        }
        for item in items
    }


def agreement_with(
    verdicts: Sequence[Verdict], measure: str, scores: Mapping[str, Mapping[str, float]]
) -> PairAgreement:
    """Agreement of a measure, given by item and method, with the verdicts."""
    outcomes = {
        (item, one, other): (of[one] > of[other]) + (of[one] == of[other]) / 2
        for item, of in scores.items()
        for one, other in combinations(of, 2)
    }
    return _agreement(verdicts, measure, outcomes, _means(scores))


async def judge_agreement(
    verdicts: Sequence[Verdict],
    items: Sequence[JudgedReplies],
    judge: PairJudge,
    *,
    measure: str = "judge",
) -> tuple[PairAgreement, PairReport]:
    """Agreement of a judge of pairs, which sees every two replies to an item in both orders. A pair
    in which the order decides counts as a tie; an unreadable one is left out."""
    pairs = [(i, one, other) for i in items for one, other in combinations(i.replies, 2)]
    given = await gather_all(
        judge.compare(
            Pair(
                known=item.known,
                dialogue=item.dialogue,
                ours=item.replies[one],
                theirs=item.replies[other],
            )
        )
        for item, one, other in pairs
    )
    points = {"win": 1.0, "loss": 0.0, "tie": 0.5}
    outcomes = {
        (item.item, one, other): points[verdict.outcome]
        for (item, one, other), verdict in zip(pairs, given, strict=True)
        if verdict.outcome is not None
    }
    won: dict[str, dict[str, float]] = {}
    for (item, one, other), point in outcomes.items():
        for method, value in ((one, point), (other, 1 - point)):
            won.setdefault(f"{item}/{one}/{other}", {})[method] = value
    return _agreement(verdicts, measure, outcomes, _means(won)), pair_report(given)


def _agreement(
    verdicts: Sequence[Verdict],
    measure: str,
    outcomes: Mapping[tuple[str, str, str], float],
    by_method: dict[str, float],
) -> PairAgreement:
    """Agreement of the outcomes of pairs (1 if the first method's reply is better, 0 if the
    second's, 0.5 for a tie) with the verdicts on the same items."""
    by_item = {verdict.item: verdict for verdict in verdicts}
    points: list[float] = []
    items: list[str] = []
    for (item, one, other), outcome in outcomes.items():
        verdict = by_item.get(item)
        if verdict is not None and one in verdict.rank and other in verdict.rank:
            points.append(outcome if verdict.prefers(one, other) else 1 - outcome)
            items.append(item)
    return PairAgreement(
        measure=measure,
        agrees=mean(points, items) if points else None,
        tied=points.count(0.5) / len(points) if points else 0.0,
        by_method=by_method,
        order=_order(by_method, summarise(verdicts)),
    )


def _means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    methods = dict.fromkeys(method for of in scores.values() for method in of)
    return {
        method: sum(values) / len(values)
        for method in methods
        if (values := [of[method] for of in scores.values() if method in of])
    }


def _order(by_method: Mapping[str, float], verdicts: Sequence[MethodVerdicts]) -> float:
    from scipy.stats import kendalltau

    shared = [row for row in verdicts if row.method in by_method]
    if len(shared) < 2:
        return float("nan")
    ranks = [-row.rank.mean for row in shared]
    return float(kendalltau([by_method[row.method] for row in shared], ranks).statistic)


def _files(folder: Path, name: str) -> list[Path]:
    return sorted({*folder.glob(f"*{name}.jsonl"), *folder.glob(f"*{name}.jsonl.gz")})


def _verdict(line: JsonRecord) -> Verdict:
    marks = {
        method: tuple(float(mark.plain) for mark in given.each())
        for method, given in line.of("marks").items()
    }
    rank = line.of("rank").texts()
    if set(rank) != marks.keys():
        raise line.of("rank").bad(f"an order of {', '.join(sorted(marks))}")
    if len({len(given) for given in marks.values()}) != 1:
        raise BadData(f"{line.place}: every method needs the same number of marks")
    return Verdict(item=line.of("item").plain, marks=marks, rank=rank)


def _item(line: JsonRecord) -> JudgedReplies:
    return JudgedReplies(
        item=line.of("item").plain,
        known=line.of("known").text,
        dialogue=line.of("dialogue").text,
        gold=line.of("gold").text if line.has("gold") else "",
        replies={method: reply.text for method, reply in line.of("replies").items()},
    )
