"""Whether a judge who gives marks can be believed: what it gives to replies wrong on purpose.

Of each case a reply is known that is right: what was truly said. The judge is shown it, a right
reply of another dialogue, where there is one that of another question of the same dialogue, and the
right reply with every number, date and name changed. A wrong reply with at least half of the marks
counts as accepted; and apart from any such line, the area under the curve says how often a right
reply gets more than a wrong one (ties count half: 0.5 is a judge that knows nothing).
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.agreement import Agreement, agreement, auc
from omoide.evals.bootstrap import Estimate, estimate
from omoide.evals.judges.single import Case
from omoide.evals.judges.wrong import facts_changed
from omoide.evals.metrics import parlai_f1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.judges.single import Rating, SingleJudge

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
}
"""By criterion, what a judge should mark down: what somebody said elsewhere in the same dialogue is
consistent with them, and a reply with other numbers is as coherent as before."""
_NEAR = 0.5
"""A reply that shares more words than this with the right one may well be right."""


@dataclass(frozen=True, kw_only=True)
class MarkCalibration:
    """What the marks of a judge by one criterion are worth."""

    criterion: str
    right: Estimate | None
    """The mean mark of right replies."""
    wrong: dict[str, Estimate]
    """The mean mark of wrong ones, by how they were made."""
    accepts_right: Estimate | None
    accepts_wrong: dict[str, Estimate]
    """The false-accept rate, by how the wrong reply was made, and under `all`."""
    auc: dict[str, float]
    """How often a right reply is above a wrong one, by how that was made, and under `all`."""
    agreement: Agreement | None
    """Of accepting with how the replies were made."""
    asked: int
    unscored: int

    def lines(self) -> tuple[str, ...]:
        """To be printed with every result that the judge gave."""
        told = [
            f"accepts wrong replies ({sort}) as {self.criterion}, with {ACCEPTED} or more: "
            f"{100 * rate.mean:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}], "
            f"n = {rate.count}" + (f"; AUC {self.auc[sort]:.2f}" if sort in self.auc else "")
            for sort, rate in self.accepts_wrong.items()
        ]
        if self.accepts_right and self.right:
            told.append(
                f"accepts right replies as {self.criterion}: "
                f"{100 * self.accepts_right.mean:.1f} %, n = {self.accepts_right.count}; "
                f"mean marks: right {self.right.mean:.1f}"
                + "".join(f", {sort} {mark.mean:.1f}" for sort, mark in self.wrong.items())
            )
        if self.agreement:
            told.append(
                f"agrees with how these replies were made ({self.criterion}): "
                f"{100 * self.agreement.accuracy:.1f} %, kappa {self.agreement.kappa:.2f}"
            )
        return (*told, f"could not be read ({self.criterion}): {self.unscored} of {self.asked}")


async def calibrate_marks(
    judge: SingleJudge, cases: Sequence[Case], *, seed: int = 0
) -> dict[str, MarkCalibration]:
    """By criterion: up to four calls a case, all at once. The reply of each case must be right."""
    shown = _shown(cases, random.Random(seed))  # noqa: S311 - a seeded choice, not a secret
    if not any(sort != RIGHT for sort, _ in shown):
        raise BadInput("a judge of marks is calibrated on at least two different replies")
    asked = [
        (name, sort, case)
        for name in judge.criteria
        for sort, case in shown
        if sort == RIGHT or sort in WRONG_BY[name]
    ]
    ratings = await asyncio.gather(*(judge.rate_by(case, name) for name, _, case in asked))
    given = [(sort, rating) for (_, sort, _), rating in zip(asked, ratings, strict=True)]
    return {
        name: _worth(name, [one for one in given if one[1].criterion == name])
        for name in judge.criteria
    }


def _shown(cases: Sequence[Case], dice: random.Random) -> list[tuple[str, Case]]:
    names = sorted({n for c in cases for n in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", c.reply)})
    found = []
    for case in cases:
        found.append((RIGHT, case))
        far = [one for one in cases if parlai_f1(one.reply, case.reply) < _NEAR]
        for sort, others in (
            (OTHER_DIALOGUE, [one for one in far if one.known != case.known]),
            (OTHER_QUESTION, [one for one in far if one.known == case.known]),
        ):
            if others:
                found.append((sort, _with(case, dice.choice(others).reply)))
        if changed := facts_changed(case.reply, dice, names=names):
            found.append((FACTS, _with(case, changed.answer)))
    return found


def _worth(name: str, given: Sequence[tuple[str, Rating]]) -> MarkCalibration:
    marks: dict[str, list[float]] = {}
    for sort, rating in given:
        if rating.score is not None:
            marks.setdefault(sort, []).append(float(rating.score))
    right = marks.pop(RIGHT, [])
    wrong = {"all": [mark for own in marks.values() for mark in own], **marks} if marks else {}
    said = [mark >= ACCEPTED for mark in (*right, *wrong.get("all", []))]
    made = [True] * len(right) + [False] * len(wrong.get("all", []))
    return MarkCalibration(
        criterion=name,
        right=estimate(right) if right else None,
        wrong={sort: estimate(own) for sort, own in wrong.items() if sort != "all"},
        accepts_right=_accepted(right) if right else None,
        accepts_wrong={sort: _accepted(own) for sort, own in wrong.items()},
        auc={sort: auc(right, own) for sort, own in wrong.items()} if right else {},
        agreement=agreement(said, made) if said else None,
        asked=len(given),
        unscored=sum(rating.score is None for _, rating in given),
    )


def _accepted(marks: Sequence[float]) -> Estimate:
    return estimate([float(mark >= ACCEPTED) for mark in marks])


def _with(case: Case, reply: str) -> Case:
    return Case(known=case.known, dialogue=case.dialogue, reply=reply)
