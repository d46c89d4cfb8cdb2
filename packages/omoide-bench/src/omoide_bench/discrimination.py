"""How well a measure tells known better from known worse answers to the same questions.

Better are the right answer, and the same in a sentence. Worse are the right answer to another
question, the right answer with a number, date or name changed, the first half of a list, and a
refusal. A measure that gives a worse kind as much as a better one cannot see that kind of error:
read its differences accordingly. The area under the curve says how often a better answer scores
above a worse one (0.5 is chance).
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.judges.answers import AnsweredQuestion
from omoide_bench.judges.calibration import REFUSALS
from omoide_bench.judges.wrong import another, perturbed
from omoide_bench.statistics import Estimate, auc, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.data.shapes import DatasetQuestion

RIGHT, SENTENCE = "right", "right, in a sentence"
OTHER, CHANGED, PART, REFUSAL = "of another question", "fact changed", "half of it", "refusal"
BETTER = (RIGHT, SENTENCE)
WORSE = (OTHER, CHANGED, PART, REFUSAL)
_SENTENCE = "From what they told each other, I would say that it was {}."


@dataclass(frozen=True, kw_only=True)
class KnownAnswer:
    """An answer of known quality."""

    kind: str
    question: DatasetQuestion
    text: str


@dataclass(frozen=True, kw_only=True)
class Discrimination:
    """What one measure gives to answers of each kind."""

    measure: str
    scores: dict[str, Estimate]
    """Mean score by kind."""
    auc: dict[str, float]
    """How often a better answer scores above a worse one, by worse kind."""
    unscored: int = 0

    def line(self) -> str:
        """A note for a result."""
        blind = [kind for kind, area in self.auc.items() if area < 0.75]
        scores = ", ".join(f"{kind} {100 * e.mean:.0f}" for kind, e in self.scores.items())
        cannot = f"; it can hardly see: {', '.join(blind)}" if blind else ""
        return f"{self.measure} on known answers, mean in percent: {scores}{cannot}"


def known_answers(questions: Sequence[DatasetQuestion], *, seed: int = 0) -> list[KnownAnswer]:
    """Answers of known quality to the questions that have a gold answer."""
    answered = [question for question in questions if question.answer]
    if len({question.answer for question in answered}) < 2:
        raise BadInput("testing a measure needs questions with at least two different answers")
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    others = [AnsweredQuestion(question=q.text, gold=q.answer, answer="") for q in answered]
    names = sorted({n for q in answered for n in re.findall(r"\b[A-Z][a-z]{2,}\b", q.answer or "")})
    known = []
    for question, plain in zip(answered, others, strict=True):
        gold = question.answer or ""
        texts = {RIGHT: gold, SENTENCE: _SENTENCE.format(gold)}
        if wrong := another(plain, others, dice):
            texts[OTHER] = wrong.answer
        if wrong := perturbed(gold, dice, names=names):
            texts[CHANGED] = wrong.answer
        if half := _half(gold):
            texts[PART] = half
        texts[REFUSAL] = dice.choice(REFUSALS)
        known += [KnownAnswer(kind=k, question=question, text=text) for k, text in texts.items()]
    return known


def discrimination(
    measure: str, known: Sequence[KnownAnswer], scores: Sequence[float | None]
) -> Discrimination:
    """What the measure sees, from its score of each known answer (None if it gave none)."""
    by_kind: dict[str, list[float]] = {kind: [] for kind in (*BETTER, *WORSE)}
    for answer, score in zip(known, scores, strict=True):
        if score is not None:
            by_kind[answer.kind].append(score)
    better = [score for kind in BETTER for score in by_kind[kind]]
    return Discrimination(
        measure=measure,
        scores={kind: estimate(values) for kind, values in by_kind.items() if values},
        auc={kind: auc(better, by_kind[kind]) for kind in WORSE if by_kind[kind] and better},
        unscored=sum(score is None for score in scores),
    )


def _half(gold: str) -> str:
    """The first half of a list's parts; empty if it is no list."""
    parts = [part.strip() for part in re.split(r"[,;，；、]", gold) if part.strip()]
    return ", ".join(parts[: len(parts) // 2]) if len(parts) > 1 else ""
