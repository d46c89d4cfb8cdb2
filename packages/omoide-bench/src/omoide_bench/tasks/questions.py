"""LoCoMo, LongMemEval, DMR and its like: replay a long history, then ask questions about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput, OmoideError
from omoide_bench.concurrency import gather_all
from omoide_bench.data import locomo, longmemeval, msc, msc_questions, msc_self_instruct
from omoide_bench.discrimination import discrimination, known_answers
from omoide_bench.running.items import ScoredItem, failed
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.base import Sample
from omoide_bench.tasks.dialogues import evidence_share, short_answer, utterances
from omoide_bench.tasks.memory_parts import FOUND, digest_cost, found_scores
from omoide_bench.tasks.survival import TextSet, words_brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.mechanisms import Contribution
    from omoide_bench.data.shapes import DatasetQuestion, Dialogue
    from omoide_bench.discrimination import Discrimination
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.memory_under_test import BenchAnswer, MemoryUnderTest
    from omoide_bench.tasks.base import Trial


KNOWN = 100
"""Questions that a measure is tested on, at most."""
AUDITED = tuple(
    replace(measure, name=f"{measure.name}, audited", about=f"{measure.about}; gold as audited")
    for measure in (scoring.QUESTIONS[0], scoring.EVIDENCE_MEASURE, judging.CORRECT)
)


class _Questions:
    """Short answers to questions about a history."""

    default_methods: tuple[str, ...] = ("search", "summary", "summary+search")
    alternatives: tuple[str, ...] = ()
    measures = (*scoring.QUESTIONS, judging.CORRECT, *FOUND)
    named = True
    """Whether utterances carry the speakers' names."""

    def chosen(self, case: Dialogue, trial: Trial) -> Sequence[DatasetQuestion]:
        """The questions to ask about a dialogue."""
        del trial
        return case.questions

    def scored(self, answer: str, question: DatasetQuestion, *, language: str) -> dict[str, float]:
        """What the answer's words are worth against the gold answer."""
        return scoring.answer_scores(answer, question, language=language)

    async def answered(
        self, question: DatasetQuestion, case: Dialogue, under_test: MemoryUnderTest, trial: Trial
    ) -> BenchAnswer:
        """The answer to a question."""
        del trial
        speakers = case.speakers if self.named else ()
        return await short_answer(under_test, question.text, at=question.at, speakers=speakers)

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Replay the dialogue, then ask the questions independently of each other."""
        began = case.sessions[0].start
        async with trial.new_memory(user=case.id, began=began) as under_test:
            texts = [question.text for question in self.chosen(case, trial)]
            await trial.prefetch_embeddings([*(line.text for line in case.lines), *texts])
            await under_test.replay(
                [utterances(session, case, named=self.named) for session in case.sessions]
            )
            said = TextSet.of(line.text for line in case.lines)
            items = (
                self._ask(question, case, under_test, trial, said)
                for question in self.chosen(case, trial)
            )
            return list(await gather_all(items))

    async def _ask(
        self,
        question: DatasetQuestion,
        case: Dialogue,
        under_test: MemoryUnderTest,
        trial: Trial,
        said: TextSet,
    ) -> ScoredItem:
        name = f"{case.id}/{question.id}"
        if trial.option("answers", "yes") == "no":
            recalled = await under_test.recall_for(question.text, at=question.at)
            scores = await _in_prompt(question, recalled, case=case, said=said, trial=trial)
            return ScoredItem(id=name, cluster=case.id, group=question.category, scores=scores)
        try:
            answer = await self.answered(question, case, under_test, trial)
            scores = self.scored(answer.text, question, language=case.language)
            marks, unscored = await judging.answer(
                trial, question, answer.text, language=case.language
            )
            if trial.option("audit", "no") == "yes":
                marks |= await self._audited(question, answer, marks | scores, case, trial)
        except OmoideError as error:
            measures = tuple(measure.name for measure in self.measures)
            return failed(
                name, cluster=case.id, group=question.category, measures=measures, why=str(error)
            )
        scores |= await _in_prompt(
            question, answer.contributions, case=case, said=said, trial=trial
        )
        if question.evidence and trial.option("parts", "no") == "yes":
            scores |= await digest_cost(under_test)
            if trial.lab.embedder is not None:
                scores |= await found_scores(
                    under_test, question.text, question.evidence, trial.lab.embedder
                )
        return ScoredItem(
            id=name,
            cluster=case.id,
            group=question.category or "questions",
            scores={**scores, **marks},
            unscored=unscored,
            prompt_tokens=answer.completion.prompt_tokens,
            completion_tokens=answer.completion.completion_tokens,
            texts={
                "question": question.text,
                "answer": answer.text,
                "gold": question.answer or "",
            },
        )

    async def _audited(
        self,
        question: DatasetQuestion,
        answer: BenchAnswer,
        scores: Mapping[str, float],
        case: Dialogue,
        trial: Trial,
    ) -> dict[str, float]:
        """The scores against the gold as the audit corrected it; where it did not, the same as
        against the published gold."""
        right, audited = question.audited, dict(scores)
        if right is not None:
            audited = scoring.answer_scores(answer.text, right, language=case.language)
            marks, _ = await judging.answer(trial, right, answer.text, language=case.language)
            audited |= marks
        evidence = (right or question).evidence
        if evidence:
            audited[scoring.EVIDENCE] = evidence_share(answer.contributions, evidence)
        return {f"{name}, audited": score for name, score in audited.items()}

    async def discriminations(
        self, cases: Sequence[Dialogue], judge: MethodModel | None, seed: int
    ) -> list[Discrimination]:
        """What measures of words, and the judge if there is one, give to answers of known
        quality."""
        questions = [question for case in cases for question in case.questions]
        known = known_answers(Sample(limit=KNOWN, seed=seed).draw(questions), seed=seed)
        language = cases[0].language
        scores = [self.scored(one.text, one.question, language=language) for one in known]
        names = dict.fromkeys(name for one in scores for name in one)
        found = [discrimination(name, known, [one.get(name) for one in scores]) for name in names]
        if judge is not None:
            marks = await judging.answers(judge, known, language=language)
            found.append(discrimination(judging.CORRECT.name, known, marks))
        return found

    async def judge_calibration(
        self, cases: Sequence[Dialogue], judge: MethodModel, seed: int
    ) -> list[str]:
        """Notes on how reliable the judge is on these questions."""
        questions = [question for case in cases for question in case.questions]
        drawn = Sample(limit=100, seed=seed).draw(questions)
        return await judging.judge_false_accepts(judge, drawn, seed=seed)

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


class Locomo(_Questions):
    """LoCoMo's questions, by category."""

    name = "locomo"
    about = "answers to questions about very long conversations, by category (F1 as published)"
    source = locomo.SOURCE
    options: Mapping[str, str] = {
        "questions": "most questions of each conversation, drawn by the seed (default all)",
        "conversations": "by name, such as conv-42,conv-44 (default all, or as many as --limit)",
        "parts": "yes or no (default): evidence among the best events and memos, and their cost",
        "categories": "such as multi-hop,temporal (default all five)",
        "audit": "yes or no (default): score against audit_errors.json as well",
    }
    measures = (*_Questions.measures, *AUDITED)

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Conversations, by name or drawn."""
        wanted = {part for part in sample.option("conversations", "").split(",") if part}
        audit = sample.option("audit", "no") == "yes"
        conversations = locomo.load_audited(data) if audit else locomo.load(data)
        if missing := wanted - {conversation.id for conversation in conversations}:
            names = ", ".join(conversation.id for conversation in conversations)
            raise BadInput(f"LoCoMo has no conversation {sorted(missing)[0]!r}; it has {names}")
        return sample.draw(
            [
                conversation
                for conversation in conversations
                if not wanted or conversation.id in wanted
            ]
        )

    def chosen(self, case: Dialogue, trial: Trial) -> Sequence[DatasetQuestion]:
        """A sample of the questions in the wanted categories."""
        wanted = {part for part in trial.option("categories", "").split(",") if part}
        questions = [q for q in case.questions if not wanted or q.category in wanted]
        most = int(trial.option("questions", "0"))
        return Sample(limit=most or None, seed=trial.seed).draw(questions)


class LongMemEval(_Questions):
    """One question per history; retrieval is scored by the turns marked as evidence."""

    name = "longmemeval"
    about = "answers to questions about long chat histories, by type, and what was retrieved"
    source = longmemeval.SOURCE
    named = False
    options: Mapping[str, str] = {}

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Histories, each with one question."""
        return sample.draw(longmemeval.load(data))


class Dmr(_Questions):
    """Deep Memory Retrieval. An answer names a word or two of one session, so it is easy: the whole
    history fits a large window. There is no evidence to compare; `answer words` stands in."""

    name = "dmr"
    about = "answers to one question about a chat of five sessions (Deep Memory Retrieval)"
    source = msc_self_instruct.SOURCE
    named = False
    options: Mapping[str, str] = {}

    def cases(self, data: Path | None, sample: Sample) -> tuple[Dialogue, ...]:
        """Chats, each with one question."""
        return sample.draw(msc_self_instruct.load(data))


class DmrLike(_Questions):
    """Questions of DMR's kind made from MSC itself, so that DMR's file is not needed. The turn with
    the answer is known, and an answer counts if it has the gold words, however long it is."""

    name = "dmr-like"
    about = "answers to questions for what was told once in a chat of four or five sessions (MSC)"
    source = msc.SOURCE
    named = False
    measures = (scoring.ANSWER_GIVEN, *_Questions.measures)
    options: Mapping[str, str] = {
        "split": "test (default) or valid",
        "by": "answer (default), in a few words, or reply: as the product replies in a chat",
        "answers": "yes (default) or no: only measure what is in the prompt, without a model",
    }

    def cases(self, data: Path | None, sample: Sample) -> tuple[Dialogue, ...]:
        """Chats, each with its questions."""
        return sample.draw(msc_questions.load(data, sample.option("split", "test")))

    def scored(self, answer: str, question: DatasetQuestion, *, language: str) -> dict[str, float]:
        """F1, and whether the answer is there."""
        given = scoring.answer_given(answer, question.answer or "")
        return super().scored(answer, question, language=language) | {
            scoring.ANSWER_GIVEN.name: given
        }

    async def answered(
        self, question: DatasetQuestion, case: Dialogue, under_test: MemoryUnderTest, trial: Trial
    ) -> BenchAnswer:
        """The answer in a few words, or the product's reply."""
        if trial.option("by", "answer") == "reply":
            return await under_test.would_reply(question.text, at=question.at)
        return await super().answered(question, case, under_test, trial)


async def _in_prompt(
    question: DatasetQuestion,
    recalled: Sequence[Contribution],
    *,
    case: Dialogue,
    said: TextSet,
    trial: Trial,
) -> dict[str, float]:
    """How much of the evidence turns, and of the right answer's words, memory puts into the
    prompt."""
    scores = {}
    if question.evidence:
        scores[scoring.EVIDENCE] = evidence_share(recalled, question.evidence)
    if question.answer:
        brought_back = await words_brought_back(
            question.answer,
            [contribution.text for contribution in recalled],
            said=said,
            language=case.language,
            analyser=trial.lab.analyser,
        )
        if brought_back is not None:
            scores[scoring.ANSWER_WORDS.name] = brought_back
    return scores
