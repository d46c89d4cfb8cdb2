"""LoCoMo and LongMemEval: a long history is lived through, then questions are asked about it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.errors import BadInput, OmoideError
from omoide.evals.data import locomo, longmemeval
from omoide.evals.running.items import Item, failed
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.base import Sample
from omoide.evals.tasks.dialogues import evidence_share, short_answer, utterances
from omoide.evals.tasks.survival import Said, brought
from omoide.evals.tasks.written import FOUND, bill, found_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue, Question
    from omoide.evals.running.asked import Asked
    from omoide.evals.running.lab import Place
    from omoide.evals.tasks.base import Trial


class _Questions:
    """Questions about a history, answered in a few words."""

    usual: tuple[str, ...] = ("search", "summary", "summary+search")
    rivals: tuple[str, ...] = ()
    measures = (*scoring.QUESTIONS, judging.CORRECT, *FOUND)
    named = True
    """Whether speakers have names that belong to what is said."""

    def chosen(self, case: Dialogue, trial: Trial) -> Sequence[Question]:
        """Which questions of a dialogue are asked."""
        del trial
        return case.questions

    async def run(self, case: Dialogue, trial: Trial) -> list[Item]:
        """Live through all of it, then ask; questions do not see each other."""
        began = case.sessions[0].start
        async with trial.place(user=case.id, began=began) as place:
            asked_of = [question.text for question in self.chosen(case, trial)]
            await trial.warm([*(line.text for line in case.lines), *asked_of])
            await place.live_through(
                [utterances(session, case, named=self.named) for session in case.sessions]
            )
            said = Said.of(line.text for line in case.lines)
            asked = (
                self._asked(question, case, place, trial, said)
                for question in self.chosen(case, trial)
            )
            return list(await asyncio.gather(*asked))

    async def _asked(
        self, question: Question, case: Dialogue, place: Place, trial: Trial, said: Said
    ) -> Item:
        name = f"{case.id}/{question.id}"
        try:
            speakers = case.speakers if self.named else ()
            answer = await short_answer(place, question.text, at=question.at, speakers=speakers)
            scores = scoring.answer_scores(answer.text, question, language=case.language)
            marks, unscored = await judging.answer(
                trial, question, answer.text, language=case.language
            )
        except OmoideError as error:
            measures = tuple(measure.name for measure in self.measures)
            return failed(
                name, cluster=case.id, group=question.category, measures=measures, why=str(error)
            )
        if question.evidence:
            share = evidence_share(answer.contributions, question.evidence)
            scores[scoring.EVIDENCE] = share
        if question.evidence and trial.option("parts", "no") == "yes":
            scores |= await bill(place)
            if trial.lab.embedder is not None:
                scores |= await found_scores(
                    place, question.text, question.evidence, trial.lab.embedder
                )
        if question.answer:
            back = await brought(
                question.answer,
                [one.text for one in answer.contributions],
                said=said,
                language=case.language,
                analyser=trial.lab.analyser,
            )
            if back is not None:
                scores[scoring.ANSWER_WORDS.name] = back
        return Item(
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

    async def judge_worth(self, cases: Sequence[Dialogue], judge: Asked, seed: int) -> list[str]:
        """What the judge is worth on these very questions."""
        asked = [question for case in cases for question in case.questions]
        drawn = Sample(limit=100, seed=seed).draw(asked)
        return await judging.what_it_is_worth(judge, drawn, seed=seed)

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}


class Locomo(_Questions):
    """Questions by category."""

    name = "locomo"
    about = "answers to questions about very long conversations, by category (F1 as published)"
    source = locomo.SOURCE
    options: Mapping[str, str] = {
        "questions": "at most so many of each conversation, drawn by the seed (default all)",
        "conversations": "by name, such as conv-42,conv-44 (default all, or as many as --limit)",
        "parts": "yes or no (default): evidence under the best events and memos, their cost",
        "categories": "such as multi-hop,temporal (default all five)",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Conversations, by name or drawn."""
        wanted = {part for part in sample.option("conversations", "").split(",") if part}
        found = locomo.load(data)
        if missing := wanted - {one.id for one in found}:
            raise BadInput(f"LoCoMo has no conversation {sorted(missing)[0]!r}")
        return sample.draw([one for one in found if not wanted or one.id in wanted])

    def chosen(self, case: Dialogue, trial: Trial) -> Sequence[Question]:
        """Of the wanted categories, so many."""
        wanted = {part for part in trial.option("categories", "").split(",") if part}
        found = [q for q in case.questions if not wanted or q.category in wanted]
        most = int(trial.option("questions", "0"))
        return Sample(limit=most or None, seed=trial.seed).draw(found)


class LongMemEval(_Questions):
    """A question a history; the retrieval figure is by turns marked as holding the answer."""

    name = "longmemeval"
    about = "answers to questions about long chat histories, by type, and what was retrieved"
    source = longmemeval.SOURCE
    named = False
    options: Mapping[str, str] = {}

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Histories with their one question."""
        return sample.draw(longmemeval.load(data))
