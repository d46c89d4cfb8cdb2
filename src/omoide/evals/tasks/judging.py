"""How replies are judged by a model: what tasks ask of `evals.judges`. An answer of the judge that
cannot be read leaves the item unscored, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.errors import ModelError
from omoide.evals.data.locomo import ADVERSARIAL
from omoide.evals.judges import (
    Answered,
    AnswerJudge,
    Case,
    SingleJudge,
    Unanswerable,
    calibrate_answers,
    calibrate_marks,
)
from omoide.evals.tasks.base import Measure, Sample
from omoide.evals.tasks.scoring import JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.data.shapes import Question
    from omoide.evals.judges.asking import Ask
    from omoide.evals.running.asked import Asked
    from omoide.evals.running.items import Item
    from omoide.evals.tasks.base import Trial

CORRECT = Measure(name="judged right", about="by the judge, who sees the right answer")
CRITERIA = tuple(
    Measure(name=name, about="the judge's mark, 1 to 100", percent=False)
    for name in ("engaging", "coherent", "consistent")
)
NAMES = tuple(measure.name for measure in CRITERIA)
TRIED = 60
"""Cases that a judge of marks is tried on, at most."""
NOBODY = "no judge was named"
UNREADABLE = "the judge's answer could not be read"
LONGEST = 20_000
"""Characters of history that a judge is shown, the latest: more would not fit its window."""


async def faithful(
    trial: Trial, *, question: str, reply: str, history: str, language: str = "en"
) -> tuple[dict[str, float], dict[str, str]]:
    """The mark for how faithful a reply is to what was said before, or why there is none."""
    case = Case(known=history[-LONGEST:], dialogue=question, reply=reply)
    return await _rated(trial, case, (JUDGED.name,), language)


async def replies(
    trial: Trial, *, known: Sequence[str], dialogue: Sequence[str], reply: str, language: str
) -> tuple[dict[str, float], dict[str, str]]:
    """Paper A's three criteria; nothing where no judge was named, as replies have F1."""
    if trial.judge is None:
        return {}, {}
    case = Case(known=list(known), dialogue=list(dialogue), reply=reply)
    return await _rated(trial, case, NAMES, language)


async def _rated(
    trial: Trial, case: Case, criteria: tuple[str, ...], language: str
) -> tuple[dict[str, float], dict[str, str]]:
    if trial.judge is None:
        return {}, dict.fromkeys(criteria, NOBODY)
    judge = SingleJudge(ask=_asker(trial.judge), language=language, criteria=criteria)
    try:
        ratings = await judge.rate(case)
    except ModelError as error:
        return {}, dict.fromkeys(criteria, f"the judge failed: {type(error).__name__}")
    return (
        {r.criterion: float(r.score) for r in ratings if r.score is not None},
        {r.criterion: UNREADABLE for r in ratings if r.score is None},
    )


async def answer(
    trial: Trial, question: Question, given: str, *, language: str
) -> tuple[dict[str, float], dict[str, str]]:
    """Whether a short answer is right; nothing where no judge was named, as it has F1."""
    if trial.judge is None:
        return {}, {}
    judge = AnswerJudge(ask=_asker(trial.judge), language=language)
    asked = Answered(question=question.text, gold=question.answer, answer=given)
    try:
        mark = await judge.mark(asked)
    except ModelError as error:
        return {}, {CORRECT.name: f"the judge failed: {type(error).__name__}"}
    if mark.correct is None:
        return {}, {CORRECT.name: UNREADABLE}
    return {CORRECT.name: float(mark.correct)}, {}


async def what_it_is_worth(judge: Asked, questions: Sequence[Question], *, seed: int) -> list[str]:
    """How often the judge accepts what is wrong on purpose: it stands with every result of its."""
    known = [Answered(question=q.text, gold=q.answer, answer="") for q in questions if q.answer]
    if not known:
        return [f"the judge {judge.name} was not measured: no right answers are known here"]
    never = [
        Unanswerable(question=q.text, made_up=q.wrong)
        for q in questions
        if not q.answer and q.category == ADVERSARIAL
    ]
    marks = AnswerJudge(ask=_asker(judge))
    try:
        worth = await calibrate_answers(marks, known, unanswerable=never, seed=seed)
    except ModelError as error:
        return [f"the judge {judge.name} could not be measured: {type(error).__name__}"]
    return [f"the judge {judge.name} {line}" for line in worth.lines()]


def shown_before(items: Sequence[Item]) -> list[Case]:
    """The cases of items with a reply that is known to be right: what was truly said there."""
    return [
        Case(
            known=item.texts.get("known", ""),
            dialogue=item.texts.get("dialogue", ""),
            reply=item.texts["gold"],
        )
        for item in items
        if item.texts.get("gold") and item.texts.get("dialogue")
    ]


async def what_marks_are_worth(
    judge: Asked, cases: Sequence[Case], *, criteria: Sequence[str], language: str, seed: int
) -> list[str]:
    """What the judge gives to right replies and to replies that are wrong on purpose."""
    drawn = Sample(limit=TRIED, seed=seed).draw(cases)
    if len({case.reply for case in drawn}) < 2:
        return [f"the judge {judge.name} was not measured: no right replies are known here"]
    marks = SingleJudge(ask=_asker(judge), language=language, criteria=criteria)
    try:
        found = await calibrate_marks(marks, drawn, seed=seed)
    except ModelError as error:
        return [f"the judge {judge.name} could not be measured: {type(error).__name__}"]
    return [f"the judge {judge.name} {line}" for one in found.values() for line in one.lines()]


def _asker(judge: Asked) -> Ask:
    return lambda request: complete(judge, request)
