"""How reliable a judge is: how often it accepts deliberately wrong answers.

For each question with a gold answer the judge sees the gold answer (which it should accept), the
gold answer to another question, and the gold answer with a number, date or name changed (which it
should not). For a question without an answer it sees a refusal, which is right there, and a made-up
answer. If people have marked answers, agreement with them is measured too. A judge that accepts
wrong answers makes every method look good, and all methods alike.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.agreement import Agreement, agreement
from omoide_bench.concurrency import gather_all
from omoide_bench.judges.answers import AnsweredQuestion
from omoide_bench.judges.pairwise import Pair, pair_report
from omoide_bench.judges.wrong import another, perturbed
from omoide_bench.statistics import Estimate, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges.answers import AnswerJudge
    from omoide_bench.judges.pairwise import PairJudge, PairReport
    from omoide_bench.judges.single import ReplyCase


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """An answer that a person has marked."""

    given: AnsweredQuestion
    correct: bool


@dataclass(frozen=True, kw_only=True)
class Unanswerable:
    """A question about something that was never mentioned."""

    question: str
    made_up: str | None = None
    """A wrong answer; if None, the answer to another question is used."""


REFUSALS = (
    "not mentioned",
    "I don't know.",
    "That never came up in what they told each other.",
    "There is no information about this.",
)
"""Correct refusals; the first is the one that the benchmark's prompt asks for."""


@dataclass(frozen=True, kw_only=True)
class AnswerCalibration:
    """How reliable a judge of answers is."""

    accepts_right: Estimate | None
    """How often it accepts the gold answer; None if no verdict was readable."""
    accepts_wrong: dict[str, Estimate]
    """The false-accept rate by kind of wrong answer, and over `all`."""
    agreement: Agreement | None
    """Agreement with people, if people marked answers."""
    asked: int
    unscored: int
    accepts_refusals: Estimate | None = None
    """How often it accepts a refusal where there is no answer."""
    by_making: Agreement | None = None
    """Agreement with whether the answers were constructed as right or wrong."""

    def lines(self) -> tuple[str, ...]:
        """Notes to print with every result of the judge."""
        notes = [
            f"accepts wrong answers ({sort}): {100 * rate.mean:.1f} % "
            f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}], n = {rate.count}"
            for sort, rate in self.accepts_wrong.items()
        ]
        if self.accepts_right:
            right = self.accepts_right
            notes.append(f"accepts right answers: {100 * right.mean:.1f} %, n = {right.count}")
        if self.accepts_refusals:
            right = self.accepts_refusals
            notes.append(
                "accepts refusals to unanswerable questions: "
                f"{100 * right.mean:.1f} % [{100 * right.low:.1f}, {100 * right.high:.1f}], "
                f"n = {right.count}"
            )
        if self.by_making:
            built = self.by_making
            notes.append(
                f"agrees with how the answers were constructed: {100 * built.accuracy:.1f} %, "
                f"kappa {built.kappa:.2f}, n = {built.count}"
            )
        if self.agreement:
            notes.append(
                f"agrees with people: {100 * self.agreement.accuracy:.1f} %, "
                f"kappa {self.agreement.kappa:.2f}, n = {self.agreement.count}"
            )
        return (*notes, f"unreadable verdicts: {self.unscored} of {self.asked}")


@dataclass(frozen=True, kw_only=True)
class ReplyCalibration:
    """How reliable a judge of replies is: true replies against replies of other dialogues."""

    prefers_wrong: Estimate | None
    """How often it rates the reply of another dialogue as good as the true one or better."""
    unscored: int
    report: PairReport | None = None
    """For a pairwise judge: consistency and position bias on the same pairs."""


async def calibrate_answers(
    judge: AnswerJudge,
    questions: Sequence[AnsweredQuestion],
    *,
    unanswerable: Sequence[Unanswerable] = (),
    labelled: Sequence[Labelled] = (),
    seed: int = 0,
) -> AnswerCalibration:
    """Calibrate a judge of answers: two or three calls per question with an answer, two per
    question without, one per labelled answer; all concurrent.

    The `answer` field of the questions is ignored.
    """
    known = [question for question in questions if question.gold]
    if not known:
        raise BadInput("calibrating a judge needs questions with gold answers; got none")
    shown = _shown(known, unanswerable, random.Random(seed))  # noqa: S311 - not a secret
    marks = await gather_all(judge.mark(people_marks) for _, people_marks in shown)
    read = [(s, m.correct) for (s, _), m in zip(shown, marks, strict=True) if m.correct is not None]
    by_sort: dict[str, list[bool]] = {}
    for sort, correct in read:
        by_sort.setdefault(sort, []).append(correct)
    wrong = {sort: rates for sort, rates in by_sort.items() if sort not in _RIGHT}
    wrong = {"all": [rate for rates in wrong.values() for rate in rates], **wrong}
    people_marks = await gather_all(
        judge.mark(labelled_answer.given) for labelled_answer in labelled
    )
    people = [
        (mark.correct, labelled_answer.correct)
        for mark, labelled_answer in zip(people_marks, labelled, strict=True)
        if mark.correct is not None
    ]
    rates = {sort: share(marks_of_sort) for sort, marks_of_sort in by_sort.items()}
    return AnswerCalibration(
        accepts_right=rates.get(RIGHT),
        accepts_wrong={
            sort: share(marks_of_sort) for sort, marks_of_sort in wrong.items() if marks_of_sort
        },
        agreement=agreement([a for a, _ in people], [b for _, b in people]) if people else None,
        asked=len(shown) + len(labelled),
        unscored=len(shown) - len(read) + len(labelled) - len(people),
        accepts_refusals=rates.get(REFUSAL),
        by_making=agreement([c for _, c in read], [s in _RIGHT for s, _ in read]) if read else None,
    )


RIGHT, REFUSAL, MADE_UP = "right", "refusal", "made up"
_RIGHT = frozenset({RIGHT, REFUSAL})


def _shown(
    known: Sequence[AnsweredQuestion], unanswerable: Sequence[Unanswerable], dice: random.Random
) -> list[tuple[str, AnsweredQuestion]]:
    """The answers to show the judge, each with its kind."""
    names = sorted({n for q in known for n in re.findall(r"\b[A-Z][a-z]{2,}\b", q.gold or "")})
    shown = []
    for question in known:
        gold = question.gold or ""
        wrong = (another(question, known, dice), perturbed(gold, dice, names=names))
        shown.append((RIGHT, _with(question, gold)))
        shown += [(w.sort, _with(question, w.answer)) for w in wrong if w is not None]
    for without_answer in unanswerable:
        nothing = AnsweredQuestion(
            question=without_answer.question, gold=None, answer=dice.choice(REFUSALS)
        )
        invented = without_answer.made_up or dice.choice(known).gold or ""
        shown += [(REFUSAL, nothing), (MADE_UP, _with(nothing, invented))]
    return shown


async def calibrate_pairs(
    judge: PairJudge, cases: Sequence[ReplyCase], *, seed: int = 0
) -> ReplyCalibration:
    """Compare each true reply with one of another case, in both orders: two calls per case."""
    pairs = [
        Pair(known=case.known, dialogue=case.dialogue, ours=case.reply, theirs=other.reply)
        for case, other in _with_others(cases, seed)
    ]
    verdicts = await gather_all(judge.compare(pair) for pair in pairs)
    not_won = [v.outcome != "win" for v in verdicts if v.outcome is not None]
    return ReplyCalibration(
        prefers_wrong=share(not_won) if not_won else None,
        unscored=len(verdicts) - len(not_won),
        report=pair_report(verdicts),
    )


def _with_others(cases: Sequence[ReplyCase], seed: int) -> list[tuple[ReplyCase, ReplyCase]]:
    """Each case with another case that has a different reply."""
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    pairs = []
    for case in cases:
        others = [other for other in cases if other.reply != case.reply]
        if others:
            pairs.append((case, dice.choice(others)))
    if not pairs:
        raise BadInput("calibrating a judge of replies needs at least two different replies")
    return pairs


def _with(question: AnsweredQuestion, answer: str) -> AnsweredQuestion:
    return AnsweredQuestion(question=question.question, gold=question.gold, answer=answer)
