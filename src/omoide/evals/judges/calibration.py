"""Whether a judge can be believed: how often it accepts what is wrong on purpose.

Of each question with a right answer the judge is shown the right answer itself (which it should
accept), the right answer to another question, and the right one with a number, date or name changed
(which it should not). Where people have marked answers, its agreement with them is measured as
well. A judge that accepts wrong answers makes every method look good and all methods alike.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.agreement import Agreement, agreement
from omoide.evals.bootstrap import Estimate, estimate
from omoide.evals.judges.answers import Answered
from omoide.evals.judges.pairwise import Pair, pair_report
from omoide.evals.judges.single import Case
from omoide.evals.judges.wrong import another, perturbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.judges.answers import AnswerJudge
    from omoide.evals.judges.pairwise import PairJudge, PairReport
    from omoide.evals.judges.single import SingleJudge


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """An answer that a person has marked."""

    given: Answered
    correct: bool


@dataclass(frozen=True, kw_only=True)
class AnswerCalibration:
    """What a judge of answers is worth."""

    accepts_right: Estimate | None
    """How often it accepts the right answer itself; None if every reading failed."""
    accepts_wrong: dict[str, Estimate]
    """The false-accept rate by how the wrong answer was made, and under `all`."""
    agreement: Agreement | None
    """With people, if any answers were marked by people."""
    asked: int
    unscored: int

    def lines(self) -> tuple[str, ...]:
        """To be printed with every result that the judge gave."""
        told = [
            f"accepts wrong answers ({sort}): {100 * rate.mean:.1f} % "
            f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}], n = {rate.count}"
            for sort, rate in self.accepts_wrong.items()
        ]
        if self.accepts_right:
            right = self.accepts_right
            told.append(f"accepts right answers: {100 * right.mean:.1f} %, n = {right.count}")
        if self.agreement:
            told.append(
                f"agrees with people: {100 * self.agreement.accuracy:.1f} %, "
                f"kappa {self.agreement.kappa:.2f}, n = {self.agreement.count}"
            )
        return (*told, f"could not be read: {self.unscored} of {self.asked}")


@dataclass(frozen=True, kw_only=True)
class ReplyCalibration:
    """What a judge of replies is worth: true replies against those of other dialogues."""

    prefers_wrong: Estimate | None
    """How often the reply from elsewhere is held to be as good as the true one or better."""
    unscored: int
    report: PairReport | None = None
    """For a pairwise judge: consistency and position bias on the same pairs."""


async def calibrate_answers(
    judge: AnswerJudge,
    questions: Sequence[Answered],
    *,
    labelled: Sequence[Labelled] = (),
    seed: int = 0,
) -> AnswerCalibration:
    """Two or three calls a question that has an answer, one a labelled answer.

    What the questions carry in `answer` is not looked at.
    """
    known = [question for question in questions if question.gold]
    if not known:
        raise BadInput("a judge is calibrated on questions with right answers; none was given")
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    names = sorted({n for q in known for n in re.findall(r"\b[A-Z][a-z]{2,}\b", q.gold or "")})
    right: list[float] = []
    wrong: dict[str, list[float]] = {"all": []}
    asked = unscored = 0
    for question in known:
        gold = question.gold or ""
        made = (another(question, known, dice), perturbed(gold, dice, names=names))
        shown = [("right", gold), *((w.sort, w.answer) for w in made if w is not None)]
        for sort, answer in shown:
            mark = await judge.mark(_with(question, answer))
            asked += 1
            if mark.correct is None:
                unscored += 1
            elif sort == "right":
                right.append(float(mark.correct))
            else:
                wrong.setdefault(sort, []).append(float(mark.correct))
                wrong["all"].append(float(mark.correct))
    marks = [(await judge.mark(one.given), one.correct) for one in labelled]
    read = [(mark.correct, label) for mark, label in marks if mark.correct is not None]
    return AnswerCalibration(
        accepts_right=estimate(right) if right else None,
        accepts_wrong={sort: estimate(rates) for sort, rates in wrong.items() if rates},
        agreement=agreement([a for a, _ in read], [b for _, b in read]) if read else None,
        asked=asked + len(marks),
        unscored=unscored + len(marks) - len(read),
    )


async def calibrate_pairs(
    judge: PairJudge, cases: Sequence[Case], *, seed: int = 0
) -> ReplyCalibration:
    """Each true reply against one from another case, in both orders: two calls a case."""
    pairs = [
        Pair(known=case.known, dialogue=case.dialogue, ours=case.reply, theirs=other.reply)
        for case, other in _with_others(cases, seed)
    ]
    verdicts = [await judge.compare(pair) for pair in pairs]
    lost = [float(v.outcome != "win") for v in verdicts if v.outcome is not None]
    return ReplyCalibration(
        prefers_wrong=estimate(lost) if lost else None,
        unscored=len(verdicts) - len(lost),
        report=pair_report(verdicts),
    )


async def calibrate_ratings(
    judge: SingleJudge, cases: Sequence[Case], *, seed: int = 0
) -> dict[str, ReplyCalibration]:
    """By criterion: each true reply and one from another case, graded one by one."""
    found: dict[str, list[float]] = {name: [] for name in judge.criteria}
    unscored = dict.fromkeys(judge.criteria, 0)
    for case, other in _with_others(cases, seed):
        elsewhere = Case(known=case.known, dialogue=case.dialogue, reply=other.reply)
        for own, foreign in zip(await judge.rate(case), await judge.rate(elsewhere), strict=True):
            if own.score is None or foreign.score is None:
                unscored[own.criterion] += 1
            else:
                found[own.criterion].append(float(foreign.score >= own.score))
    return {
        name: ReplyCalibration(
            prefers_wrong=estimate(worse) if worse else None, unscored=unscored[name]
        )
        for name, worse in found.items()
    }


def _with_others(cases: Sequence[Case], seed: int) -> list[tuple[Case, Case]]:
    """Each case with another whose reply is not the same."""
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    pairs = []
    for case in cases:
        others = [other for other in cases if other.reply != case.reply]
        if others:
            pairs.append((case, dice.choice(others)))
    if not pairs:
        raise BadInput("a judge of replies is calibrated on at least two different replies")
    return pairs


def _with(question: Answered, answer: str) -> Answered:
    return Answered(question=question.question, gold=question.gold, answer=answer)
