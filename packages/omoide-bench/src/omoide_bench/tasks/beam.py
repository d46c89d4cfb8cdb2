"""BEAM: a user's questions after a chat of half a million tokens with an assistant.

The product replies as it would to the user's next message, in one to three sentences; with `by=app`
the model is asked as by an application to whose messages memory only adds something. What is in the
prompt is measured by the messages that a question rests on (nine of the ten kinds name some); the
reply by the authors' rubric with a judge. For `event_ordering` the rubric tells what must be
mentioned, not whether the order is right. `abstention` asks about what was never said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.engine import complete
from omoide.errors import BadInput, ModelError, OmoideError
from omoide_bench.concurrency import gather_all
from omoide_bench.corpora.beam import UNANSWERABLE
from omoide_bench.data import beam
from omoide_bench.discrimination import discrimination, known_answers
from omoide_bench.judges.rubric import RubricCase, RubricJudge, calibrate_rubric
from omoide_bench.running.items import ScoredItem, failed
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.base import Measure, Sample
from omoide_bench.tasks.dialogues import evidence_share, utterances
from omoide_bench.tasks.survival import TextSet, words_brought_back
from omoide_bench.unknown.admitting import admits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import DatasetQuestion, Dialogue
    from omoide_bench.discrimination import Discrimination
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.memory_under_test import BenchAnswer, MemoryUnderTest
    from omoide_bench.tasks.base import Trial

RUBRIC = Measure(name="rubric", about="share of the rubric that the reply meets, by the judge")
ADMITS = Measure(
    name="says unknown",
    about="the reply says that it was not told: right for abstention, wrong elsewhere",
    better=0,
)
APP_TOKENS = 1_000
"""Most tokens of an application's reply: rubrics want lists, and a chat does not need more."""
CALIBRATED = 40
"""Questions that a judge is calibrated on, at most."""


class Beam:
    """BEAM's probing questions, by kind."""

    name = "beam"
    about = "replies to questions about very long chats, by rubric, and the evidence in the prompt"
    source = beam.SOURCE
    default_methods: tuple[str, ...] = ("search", "summary+search")
    alternatives: tuple[str, ...] = ()
    measures = (RUBRIC, scoring.EVIDENCE_MEASURE, scoring.ANSWER_WORDS, ADMITS)
    options: Mapping[str, str] = {
        "kinds": "such as knowledge_update,abstention (default all ten)",
        "each": "at most so many questions of each kind for each chat (default all)",
        "skip": "leave out so many questions of each kind first, for another sample (default 0)",
        "by": "reply (default), as the product does, or app: as an application with memory does",
        "answers": "yes (default) or no: only measure what is in the prompt, without a model",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Chats."""
        return sample.draw(beam.load(data))

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Replay the chat, then ask the questions independently of each other."""
        questions = _chosen(case.questions, trial)
        began = case.sessions[0].start
        async with trial.new_memory(user=case.id, began=began, partner="assistant") as under_test:
            texts = [question.text for question in questions]
            await trial.prefetch_embeddings([*(line.text for line in case.lines), *texts])
            await under_test.replay([utterances(session, case) for session in case.sessions])
            said = TextSet.of(line.text for line in case.lines)
            return await gather_all(
                self._ask(question, case, under_test, trial, said) for question in questions
            )

    async def _ask(
        self,
        question: DatasetQuestion,
        case: Dialogue,
        under_test: MemoryUnderTest,
        trial: Trial,
        said: TextSet,
    ) -> ScoredItem:
        answer: BenchAnswer | None = None
        unscored: dict[str, str] = {}
        scores: dict[str, float] = {}
        try:
            if trial.option("answers", "yes") == "no":
                recalled = await under_test.recall_for(question.text, at=question.at)
            else:
                answer = await self._answer(question, under_test, trial)
                recalled = answer.contributions
                scores[ADMITS.name] = float(admits(answer.text, case.language))
                marks, unscored = await _judged(trial, question, answer.text)
                scores |= marks
        except OmoideError as error:
            return failed(
                question.id,
                cluster=case.id,
                group=question.category,
                measures=tuple(measure.name for measure in self.measures),
                why=str(error),
            )
        if question.evidence:
            scores[scoring.EVIDENCE] = evidence_share(recalled, question.evidence)
        if question.answer and question.category != UNANSWERABLE:
            brought_back = await words_brought_back(
                question.answer,
                [contribution.text for contribution in recalled],
                said=said,
                seen=TextSet.of([question.text]),
                language=case.language,
                analyser=trial.lab.analyser,
            )
            if brought_back is not None:
                scores[scoring.ANSWER_WORDS.name] = brought_back
        return ScoredItem(
            id=question.id,
            cluster=case.id,
            group=question.category,
            scores=scores,
            unscored=unscored,
            prompt_tokens=answer.completion.prompt_tokens if answer else 0,
            completion_tokens=answer.completion.completion_tokens if answer else 0,
            texts={
                "question": question.text,
                "answer": answer.text if answer else "",
                "gold": question.answer or "\n".join(question.rubric),
            },
        )

    async def _answer(
        self, question: DatasetQuestion, under_test: MemoryUnderTest, trial: Trial
    ) -> BenchAnswer:
        if trial.option("by", "reply") == "app":
            return await under_test.app_would_reply(
                question.text, at=question.at, max_tokens=APP_TOKENS
            )
        return await under_test.would_reply(question.text, at=question.at)

    async def discriminations(
        self, cases: Sequence[Dialogue], judge: MethodModel | None, seed: int
    ) -> list[Discrimination]:
        """What the judge gives to replies of known quality, by their rubrics."""
        if judge is None:
            raise BadInput("the rubrics of BEAM are read by a judge; name one with --judge")
        asker = RubricJudge(ask=lambda request: complete(judge, request))
        questions = [
            question
            for case in cases
            for question in case.questions
            if question.rubric and question.category != UNANSWERABLE
        ]
        known = known_answers(Sample(limit=CALIBRATED, seed=seed).draw(questions), seed=seed)
        marks = await gather_all(
            asker.mark(
                RubricCase(question=one.question.text, rubric=one.question.rubric, reply=one.text)
            )
            for one in known
        )
        return [discrimination(RUBRIC.name, known, [mark.mean for mark in marks])]

    async def judge_calibration(
        self, cases: Sequence[Dialogue], judge: MethodModel, seed: int
    ) -> list[str]:
        """Notes on how reliable the judge is with these rubrics."""
        ideal = [
            RubricCase(
                question=question.text,
                rubric=question.rubric,
                reply=question.answer,
                no_answer=question.category == UNANSWERABLE,
            )
            for case in cases
            for question in case.questions
            if question.answer and question.rubric
        ]
        drawn = Sample(limit=CALIBRATED, seed=seed).draw(ideal)
        marks = RubricJudge(ask=lambda request: complete(judge, request))
        try:
            calibration = await calibrate_rubric(marks, drawn, seed=seed)
        except OmoideError as error:
            return [f"the judge {judge.name} could not be calibrated: {type(error).__name__}"]
        return [f"the judge {judge.name} {line}" for line in calibration.lines()]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


def _chosen(questions: Sequence[DatasetQuestion], trial: Trial) -> list[DatasetQuestion]:
    """The questions of the wanted kinds, of each kind those after `skip`, at most `each`."""
    kinds = [part for part in trial.option("kinds", "").split(",") if part]
    skip, each = int(trial.option("skip", "0")), int(trial.option("each", str(len(questions))))
    by_kind: dict[str, list[DatasetQuestion]] = {}
    for question in questions:
        if not kinds or question.category in kinds:
            by_kind.setdefault(question.category, []).append(question)
    return [question for of in by_kind.values() for question in of[skip : skip + each]]


async def _judged(
    trial: Trial, question: DatasetQuestion, reply: str
) -> tuple[dict[str, float], dict[str, str]]:
    """The share of the rubric that the reply meets, or why there is none."""
    if trial.judge is None or not question.rubric:
        return {}, {RUBRIC.name: judging.NOBODY} if trial.judge is None else {}
    model = trial.judge
    judge = RubricJudge(ask=lambda request: complete(model, request))
    case = RubricCase(question=question.text, rubric=question.rubric, reply=reply)
    try:
        mark = await judge.mark(case)
    except ModelError as error:
        return {}, {RUBRIC.name: f"the judge failed: {type(error).__name__}"}
    if mark.mean is None:
        return {}, {RUBRIC.name: judging.UNREADABLE}
    return {RUBRIC.name: mark.mean}, {}
