"""Whether a judge can be believed: how often it accepts what is wrong on purpose.

Of each question with a right answer the judge is shown the right answer itself (which it should
accept), the right answer to another question, and the right one with a number, date or name
changed (which it should not). Of a question without an answer it is shown a refusal, which is right
there, and an answer that was made up. Where people have marked answers, its agreement with them is
measured as well. A judge that accepts wrong answers makes every method look good, and all alike.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.agreement import Agreement, agreement
from omoide.evals.bootstrap import Estimate, estimate
from omoide.evals.judges.answers import Answered
from omoide.evals.judges.pairwise import Pair, pair_report
from omoide.evals.judges.wrong import another, perturbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.judges.answers import AnswerJudge
    from omoide.evals.judges.pairwise import PairJudge, PairReport
    from omoide.evals.judges.single import Case


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """An answer that a person has marked."""

    given: Answered
    correct: bool


@dataclass(frozen=True, kw_only=True)
class Unanswerable:
    """A question about what was never told."""

    question: str
    made_up: str | None = None
    """An answer that would be wrong; that of another question if None."""


REFUSALS = (
    "not mentioned",
    "I don't know.",
    "That never came up in what they told each other.",
    "There is no information about this.",
)
"""Ways of rightly saying nothing; the first is what the prompt of the benchmark asks for."""


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
    accepts_refusals: Estimate | None = None
    """How often it accepts a refusal where nothing was told."""
    by_making: Agreement | None = None
    """With what is known of the answers because they were made right or wrong."""

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
        if self.accepts_refusals:
            right = self.accepts_refusals
            told.append(
                "accepts refusals where nothing was told: "
                f"{100 * right.mean:.1f} % [{100 * right.low:.1f}, {100 * right.high:.1f}], "
                f"n = {right.count}"
            )
        if self.by_making:
            made = self.by_making
            told.append(
                f"agrees with how these answers were made: {100 * made.accuracy:.1f} %, "
                f"kappa {made.kappa:.2f}, n = {made.count}"
            )
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
    unanswerable: Sequence[Unanswerable] = (),
    labelled: Sequence[Labelled] = (),
    seed: int = 0,
) -> AnswerCalibration:
    """Two or three calls a question that has an answer, two a question that has none, one a
    labelled answer; all at once.

    What the questions carry in `answer` is not looked at.
    """
    known = [question for question in questions if question.gold]
    if not known:
        raise BadInput("a judge is calibrated on questions with right answers; none was given")
    shown = _shown(known, unanswerable, random.Random(seed))  # noqa: S311 - not a secret
    marks = await asyncio.gather(*(judge.mark(given) for _, given in shown))
    read = [(s, m.correct) for (s, _), m in zip(shown, marks, strict=True) if m.correct is not None]
    by_sort: dict[str, list[float]] = {}
    for sort, correct in read:
        by_sort.setdefault(sort, []).append(float(correct))
    wrong = {sort: rates for sort, rates in by_sort.items() if sort not in _RIGHT}
    wrong = {"all": [rate for rates in wrong.values() for rate in rates], **wrong}
    given = await asyncio.gather(*(judge.mark(one.given) for one in labelled))
    people = [
        (mark.correct, one.correct)
        for mark, one in zip(given, labelled, strict=True)
        if mark.correct is not None
    ]
    rates = {sort: estimate(found) for sort, found in by_sort.items()}
    return AnswerCalibration(
        accepts_right=rates.get(RIGHT),
        accepts_wrong={sort: estimate(found) for sort, found in wrong.items() if found},
        agreement=agreement([a for a, _ in people], [b for _, b in people]) if people else None,
        asked=len(shown) + len(labelled),
        unscored=len(shown) - len(read) + len(labelled) - len(people),
        accepts_refusals=rates.get(REFUSAL),
        by_making=agreement([c for _, c in read], [s in _RIGHT for s, _ in read]) if read else None,
    )


RIGHT, REFUSAL, MADE_UP = "right", "refusal", "made up"
_RIGHT = frozenset({RIGHT, REFUSAL})


def _shown(
    known: Sequence[Answered], unanswerable: Sequence[Unanswerable], dice: random.Random
) -> list[tuple[str, Answered]]:
    """What the judge is shown, and of which sort it is."""
    names = sorted({n for q in known for n in re.findall(r"\b[A-Z][a-z]{2,}\b", q.gold or "")})
    found = []
    for question in known:
        gold = question.gold or ""
        made = (another(question, known, dice), perturbed(gold, dice, names=names))
        found.append((RIGHT, _with(question, gold)))
        found += [(w.sort, _with(question, w.answer)) for w in made if w is not None]
    for asked in unanswerable:
        nothing = Answered(question=asked.question, gold=None, answer=dice.choice(REFUSALS))
        invented = asked.made_up or dice.choice(known).gold or ""
        found += [(REFUSAL, nothing), (MADE_UP, _with(nothing, invented))]
    return found


async def calibrate_pairs(
    judge: PairJudge, cases: Sequence[Case], *, seed: int = 0
) -> ReplyCalibration:
    """Each true reply against one from another case, in both orders: two calls a case."""
    pairs = [
        Pair(known=case.known, dialogue=case.dialogue, ours=case.reply, theirs=other.reply)
        for case, other in _with_others(cases, seed)
    ]
    verdicts = await asyncio.gather(*(judge.compare(pair) for pair in pairs))
    lost = [float(v.outcome != "win") for v in verdicts if v.outcome is not None]
    return ReplyCalibration(
        prefers_wrong=estimate(lost) if lost else None,
        unscored=len(verdicts) - len(lost),
        report=pair_report(verdicts),
    )


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
