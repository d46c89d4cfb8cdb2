"""How tasks use the judges. An unreadable verdict leaves the item unscored, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.engine import complete
from omoide.errors import ModelError
from omoide_bench.concurrency import gather_all
from omoide_bench.data.locomo import ADVERSARIAL
from omoide_bench.judges import (
    RIGHT,
    AnsweredQuestion,
    AnswerJudge,
    ReplyCase,
    SingleJudge,
    Unanswerable,
    calibrate_answers,
    calibrate_marks,
    mark_calibration,
)
from omoide_bench.tasks.base import Measure, Sample
from omoide_bench.tasks.scoring import JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.data.shapes import DatasetQuestion
    from omoide_bench.discrimination import KnownAnswer
    from omoide_bench.friend.advice_replies import AdviceReply
    from omoide_bench.judges.asking import Ask
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.tasks.base import Trial

CORRECT = Measure(name="judged right", about="by the judge, which sees the right answer")
CONSISTENT = "consistent"
CRITERIA = tuple(
    Measure(name=name, about="the judge's mark, 1 to 100", percent=False)
    for name in ("engaging", "coherent", CONSISTENT)
)
NAMES = tuple(measure.name for measure in CRITERIA)
TRIED = 60
"""Cases that a judge's marks are calibrated on, at most."""
NOBODY = "no judge was named"
HARMFUL = "harmful advice"
UNREADABLE = "the judge's answer could not be read"
MAX_HISTORY_CHARS = 20_000
"""Latest characters of history in a judge's prompt: more would not fit its window."""


async def faithful(
    trial: Trial, *, question: str, reply: str, history: str, language: str = "en"
) -> tuple[dict[str, float], dict[str, str]]:
    """The mark for how faithful a reply is to the history, or why there is none."""
    case = ReplyCase(known=history[-MAX_HISTORY_CHARS:], dialogue=question, reply=reply)
    return await _rated(trial, case, (JUDGED.name,), language)


async def replies(
    trial: Trial, *, known: Sequence[str], dialogue: Sequence[str], reply: str, language: str
) -> tuple[dict[str, float], dict[str, str]]:
    """Marks for paper A's three criteria. Nothing without a judge: replies have F1 too."""
    if trial.judge is None:
        return {}, {}
    case = ReplyCase(known=list(known), dialogue=list(dialogue), reply=reply)
    return await _rated(trial, case, NAMES, language)


async def _rated(
    trial: Trial, case: ReplyCase, criteria: tuple[str, ...], language: str
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
    trial: Trial, question: DatasetQuestion, given: str, *, language: str
) -> tuple[dict[str, float], dict[str, str]]:
    """Whether a short answer is right. Nothing without a judge: answers have F1 too."""
    if trial.judge is None:
        return {}, {}
    judge = AnswerJudge(ask=_asker(trial.judge), language=language)
    answered = AnsweredQuestion(question=question.text, gold=question.answer, answer=given)
    try:
        mark = await judge.mark(answered)
    except ModelError as error:
        return {}, {CORRECT.name: f"the judge failed: {type(error).__name__}"}
    if mark.correct is None:
        return {}, {CORRECT.name: UNREADABLE}
    return {CORRECT.name: float(mark.correct)}, {}


async def answers(
    judge: MethodModel, known: Sequence[KnownAnswer], *, language: str
) -> list[float | None]:
    """Whether answers of known quality are right by the judge; None for an unreadable verdict.
    Raises `ModelError` if the model fails."""
    marking = AnswerJudge(ask=_asker(judge), language=language)
    marks = await gather_all(
        marking.mark(
            AnsweredQuestion(question=one.question.text, gold=one.question.answer, answer=one.text)
        )
        for one in known
    )
    return [None if mark.correct is None else float(mark.correct) for mark in marks]


async def judge_false_accepts(
    judge: MethodModel, questions: Sequence[DatasetQuestion], *, seed: int
) -> list[str]:
    """Notes on how often the judge accepts deliberately wrong answers, for each of its results."""
    known = [
        AnsweredQuestion(question=q.text, gold=q.answer, answer="") for q in questions if q.answer
    ]
    if not known:
        return [f"the judge {judge.name} was not calibrated: no right answers are known here"]
    unanswerable = [
        Unanswerable(question=q.text, made_up=q.wrong)
        for q in questions
        if not q.answer and q.category == ADVERSARIAL
    ]
    marks = AnswerJudge(ask=_asker(judge))
    try:
        calibration = await calibrate_answers(marks, known, unanswerable=unanswerable, seed=seed)
    except ModelError as error:
        return [f"the judge {judge.name} could not be calibrated: {type(error).__name__}"]
    return [f"the judge {judge.name} {line}" for line in calibration.lines()]


def shown_before(items: Sequence[ScoredItem]) -> list[ReplyCase]:
    """The items that have a gold reply, as cases with that reply."""
    return [
        ReplyCase(
            known=item.texts.get("known", ""),
            dialogue=item.texts.get("dialogue", ""),
            reply=item.texts["gold"],
        )
        for item in items
        if item.texts.get("gold") and item.texts.get("dialogue")
    ]


async def mark_calibrations(
    judge: MethodModel,
    cases: Sequence[ReplyCase],
    *,
    criteria: Sequence[str],
    language: str,
    seed: int,
) -> list[str]:
    """Notes on the judge's marks for right and for deliberately wrong replies."""
    drawn = Sample(limit=TRIED, seed=seed).draw(cases)
    if len({case.reply for case in drawn}) < 2:
        return [f"the judge {judge.name} was not calibrated: no right replies are known here"]
    marks = SingleJudge(ask=_asker(judge), language=language, criteria=criteria)
    try:
        calibrations = await calibrate_marks(marks, drawn, seed=seed)
    except ModelError as error:
        return [f"the judge {judge.name} could not be calibrated: {type(error).__name__}"]
    return [
        f"the judge {judge.name} {line}"
        for calibration in calibrations.values()
        for line in calibration.lines()
    ]


async def advice_calibration(
    judge: MethodModel, replies: Sequence[AdviceReply], *, seed: int
) -> list[str]:
    """Notes on the judge's marks for consistency of good and of harmful advice."""
    drawn = Sample(limit=TRIED, seed=seed).draw(replies)
    try:
        ratings = await gather_all(
            SingleJudge(ask=_asker(judge), language=one.story.language).rate_by(
                ReplyCase(
                    known=[note.text for note in one.story.notes],
                    dialogue=[one.message.text],
                    reply=one.text,
                ),
                CONSISTENT,
            )
            for one in drawn
        )
    except ModelError as error:
        return [f"the judge {judge.name} could not be calibrated: {type(error).__name__}"]
    kinds = [RIGHT if one.good else HARMFUL for one in drawn]
    calibration = mark_calibration(CONSISTENT, list(zip(kinds, ratings, strict=True)))
    return [f"the judge {judge.name} {line}" for line in calibration.lines()]


def _asker(judge: MethodModel) -> Ask:
    return lambda request: complete(judge, request)
