"""Whether a reply meets the requirements of a rubric, one call for each.

As in BEAM, a requirement is met (1), partly met (0.5) or not met (0), and the mean counts. A judge
is calibrated before use: ideal answers must meet their own rubrics, and those of other questions
must not.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.ports import Request
from omoide.prompts import render
from omoide_bench.concurrency import gather_all
from omoide_bench.judges.asking import bracketed, field, shown
from omoide_bench.statistics import Estimate, auc, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges.asking import Ask

SCORES = {"yes": 1.0, "partly": 0.5, "no": 0.0}
SCHEMA = {
    "type": "object",
    "properties": {"met": {"enum": list(SCORES)}},
    "required": ["met"],
    "additionalProperties": False,
}
_ALONE = re.compile(r"(?:^|met)\W*(yes|partly|no)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RubricCase:
    """A question with a rubric, and a reply."""

    question: str
    rubric: tuple[str, ...]
    reply: str
    no_answer: bool = False
    """Whether the right reply is that there is no such information."""


@dataclass(frozen=True, kw_only=True)
class RubricMark:
    """The judge's marks for the requirements of one reply."""

    scores: tuple[float | None, ...]
    """None for an unreadable verdict."""

    @property
    def mean(self) -> float | None:
        """The share of the rubric that is met; None (unscored) if any verdict was unreadable."""
        read = [score for score in self.scores if score is not None]
        return sum(read) / len(read) if read and len(read) == len(self.scores) else None


@dataclass(frozen=True, kw_only=True)
class RubricCalibration:
    """What the judge gives to ideal answers and to wrong ones."""

    right: Estimate | None
    wrong: dict[str, Estimate]
    """By kind of wrong reply."""
    auc: dict[str, float]
    """How often an ideal answer gets more than a wrong one, by kind."""
    asked: int
    unscored: int

    def lines(self) -> tuple[str, ...]:
        """Notes to print with every result of the judge."""
        notes = [
            f"gives wrong replies ({kind}) {100 * rate.mean:.1f} % of the rubric "
            f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}], n = {rate.count}"
            + (f"; AUC {self.auc[kind]:.2f}" if kind in self.auc else "")
            for kind, rate in self.wrong.items()
        ]
        if self.right:
            notes.append(
                f"gives ideal answers {100 * self.right.mean:.1f} % of their rubric "
                f"[{100 * self.right.low:.1f}, {100 * self.right.high:.1f}], n = {self.right.count}"
            )
        return (*notes, f"replies with an unreadable verdict: {self.unscored} of {self.asked}")


class RubricJudge:
    """Marks replies through `ask`."""

    def __init__(self, *, ask: Ask, language: str = "en") -> None:
        self._ask = ask
        self._language = language

    async def mark(self, case: RubricCase) -> RubricMark:
        """Mark a reply, one call for each requirement. Raises `ModelError` if the model fails."""
        if not case.rubric:
            raise BadInput(f"the question {case.question[:60]!r} has no rubric to judge by")
        return RubricMark(
            scores=tuple(await gather_all(self._mark(case, point) for point in case.rubric))
        )

    async def _mark(self, case: RubricCase, requirement: str) -> float | None:
        prompt = render(
            "omoide_bench:judge_rubric",
            self._language,
            question=case.question,
            requirement=requirement,
            reply=shown(case.reply, self._language),
        )
        done = await self._ask(Request(messages=prompt.messages, max_tokens=24, schema=SCHEMA))
        return read_met(done.text)


def read_met(answer: str) -> float | None:
    """The mark in a verdict: in its JSON, in [[…]], or alone at its beginning.

    >>> read_met('{"met": "partly"}'), read_met("No."), read_met("It depends.")
    (0.5, 0.0, None)
    """
    value = field(answer, "met")
    if not isinstance(value, str):
        value = bracketed(answer)
    if value is None:
        match = _ALONE.match(answer.strip())
        value = match[1] if match else ""
    return SCORES.get(value.strip().lower())


REFUSAL = "I have no information about that in our conversations."
OTHER, REFUSED, INVENTED = "ideal answer of another question", "refusal", "made up"


async def calibrate_rubric(
    judge: RubricJudge, cases: Sequence[RubricCase], *, seed: int = 0
) -> RubricCalibration:
    """Calibrate a judge of rubrics. The reply of each case must be ideal: it is shown, and against
    it the ideal reply to another question and a refusal (to a question without an answer, only the
    ideal reply to another question: there it is made up)."""
    answered = [case for case in cases if not case.no_answer]
    if len({case.reply for case in answered}) < 2:
        raise BadInput("calibrating a judge of rubrics needs at least two different ideal answers")
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    replies: list[tuple[str, RubricCase]] = []
    for case in cases:
        other = dice.choice([one.reply for one in answered if one.reply != case.reply])
        replies.append(("", case))
        replies.append((INVENTED if case.no_answer else OTHER, _with(case, other)))
        if not case.no_answer:
            replies.append((REFUSED, _with(case, REFUSAL)))
    marks = await gather_all(judge.mark(case) for _, case in replies)
    by_kind: dict[str, list[float]] = {}
    for (kind, _), mark in zip(replies, marks, strict=True):
        if mark.mean is not None:
            by_kind.setdefault(kind, []).append(mark.mean)
    right = by_kind.pop("", [])
    return RubricCalibration(
        right=estimate(right) if right else None,
        wrong={kind: estimate(scores) for kind, scores in by_kind.items()},
        auc={kind: auc(right, scores) for kind, scores in by_kind.items()} if right else {},
        asked=len(replies),
        unscored=sum(mark.mean is None for mark in marks),
    )


def _with(case: RubricCase, reply: str) -> RubricCase:
    return RubricCase(
        question=case.question, rubric=case.rubric, reply=reply, no_answer=case.no_answer
    )
