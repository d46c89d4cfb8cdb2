"""How reliable a judge's marks are: what it gives to deliberately wrong replies.

Each case has a right reply: the gold reply. The judge sees it, a right reply of another dialogue, a
right reply to another question of the same dialogue if there is one, and the right reply with every
number, date and name changed. A wrong reply with a mark of at least 50 counts as accepted.
Independent of this threshold, the area under the curve says how often a right reply gets a higher
mark than a wrong one (ties count half: 0.5 is chance).
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.agreement import Agreement, agreement
from omoide_bench.concurrency import gather_all
from omoide_bench.judges.single import ReplyCase
from omoide_bench.judges.wrong import facts_changed
from omoide_bench.metrics import parlai_f1
from omoide_bench.statistics import Estimate, auc, estimate, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges.single import Rating, SingleJudge

ACCEPTED = 50
"""The mark from which a reply counts as accepted."""
RIGHT = "right"
OTHER_DIALOGUE = "of another dialogue"
OTHER_QUESTION = "of another question"
FACTS = "facts changed"
WRONG_BY = {
    "engaging": frozenset({OTHER_DIALOGUE}),
    "coherent": frozenset({OTHER_DIALOGUE, OTHER_QUESTION}),
    "consistent": frozenset({OTHER_DIALOGUE, FACTS}),
    "faithful": frozenset({OTHER_DIALOGUE, OTHER_QUESTION, FACTS}),
    "past": frozenset({OTHER_DIALOGUE}),
}
"""What a judge should mark down, by criterion. A reply from elsewhere in the same dialogue is still
consistent, and a reply with other numbers is still coherent."""
_NEAR = 0.5
"""A reply that shares more words than this with the right one may well be right."""


@dataclass(frozen=True, kw_only=True)
class MarkCalibration:
    """How reliable a judge's marks are for one criterion."""

    criterion: str
    right: Estimate | None
    """The mean mark of right replies."""
    wrong: dict[str, Estimate]
    """The mean mark of wrong replies, by kind."""
    accepts_right: Estimate | None
    accepts_wrong: dict[str, Estimate]
    """The false-accept rate by kind of wrong reply, and over `all`."""
    auc: dict[str, float]
    """How often a right reply scores above a wrong one, by kind, and over `all`."""
    agreement: Agreement | None
    """Agreement of accepting with whether the replies were right."""
    asked: int
    unscored: int

    def lines(self) -> tuple[str, ...]:
        """Notes to print with every result of the judge."""
        notes = [
            f"accepts wrong replies ({sort}) as {self.criterion}, with {ACCEPTED} or more: "
            f"{100 * rate.mean:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}], "
            f"n = {rate.count}" + (f"; AUC {self.auc[sort]:.2f}" if sort in self.auc else "")
            for sort, rate in self.accepts_wrong.items()
        ]
        if self.accepts_right and self.right:
            notes.append(
                f"accepts right replies as {self.criterion}: "
                f"{100 * self.accepts_right.mean:.1f} %, n = {self.accepts_right.count}; "
                f"mean marks: right {self.right.mean:.1f}"
                + "".join(f", {sort} {mark.mean:.1f}" for sort, mark in self.wrong.items())
            )
        if self.agreement:
            notes.append(
                f"agrees with how the replies were constructed ({self.criterion}): "
                f"{100 * self.agreement.accuracy:.1f} %, kappa {self.agreement.kappa:.2f}"
            )
        return (*notes, f"unreadable verdicts ({self.criterion}): {self.unscored} of {self.asked}")


async def calibrate_marks(
    judge: SingleJudge, cases: Sequence[ReplyCase], *, seed: int = 0
) -> dict[str, MarkCalibration]:
    """Calibrate a judge's marks, by criterion: up to four calls per case, all concurrent. The reply
    of each case must be right."""
    shown = _shown(cases, random.Random(seed))  # noqa: S311 - a seeded choice, not a secret
    if not any(sort != RIGHT for sort, _ in shown):
        raise BadInput("calibrating a judge's marks needs at least two different replies")
    requests = [
        (name, sort, case)
        for name in judge.criteria
        for sort, case in shown
        if sort == RIGHT or sort in WRONG_BY[name]
    ]
    ratings = await gather_all(judge.rate_by(case, name) for name, _, case in requests)
    rated = [(sort, rating) for (_, sort, _), rating in zip(requests, ratings, strict=True)]
    return {
        name: mark_calibration(name, [pair for pair in rated if pair[1].criterion == name])
        for name in judge.criteria
    }


def _shown(cases: Sequence[ReplyCase], dice: random.Random) -> list[tuple[str, ReplyCase]]:
    names = sorted({n for c in cases for n in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", c.reply)})
    shown = []
    for case in cases:
        shown.append((RIGHT, case))
        different = [other for other in cases if parlai_f1(other.reply, case.reply) < _NEAR]
        for sort, others in (
            (OTHER_DIALOGUE, [other for other in different if other.known != case.known]),
            (OTHER_QUESTION, [other for other in different if other.known == case.known]),
        ):
            if others:
                shown.append((sort, _with(case, dice.choice(others).reply)))
        if changed := facts_changed(case.reply, dice, names=names):
            shown.append((FACTS, _with(case, changed.answer)))
    return shown


def mark_calibration(name: str, ratings: Sequence[tuple[str, Rating]]) -> MarkCalibration:
    """What the marks by one criterion are worth, from replies of known kinds: `RIGHT`, or the name
    of what is wrong with them."""
    marks: dict[str, list[float]] = {}
    for sort, rating in ratings:
        if rating.score is not None:
            marks.setdefault(sort, []).append(float(rating.score))
    right = marks.pop(RIGHT, [])
    wrong = (
        {"all": [mark for marks_of_sort in marks.values() for mark in marks_of_sort], **marks}
        if marks
        else {}
    )
    accepted = [mark >= ACCEPTED for mark in (*right, *wrong.get("all", []))]
    right_or_wrong = [True] * len(right) + [False] * len(wrong.get("all", []))
    return MarkCalibration(
        criterion=name,
        right=estimate(right) if right else None,
        wrong={
            sort: estimate(marks_of_sort) for sort, marks_of_sort in wrong.items() if sort != "all"
        },
        accepts_right=_accepted(right) if right else None,
        accepts_wrong={sort: _accepted(marks_of_sort) for sort, marks_of_sort in wrong.items()},
        auc={sort: auc(right, marks_of_sort) for sort, marks_of_sort in wrong.items()}
        if right
        else {},
        agreement=agreement(accepted, right_or_wrong) if accepted else None,
        asked=len(ratings),
        unscored=sum(rating.score is None for _, rating in ratings),
    )


def _accepted(marks: Sequence[float]) -> Estimate:
    return share([mark >= ACCEPTED for mark in marks])


def _with(case: ReplyCase, reply: str) -> ReplyCase:
    return ReplyCase(known=case.known, dialogue=case.dialogue, reply=reply)
