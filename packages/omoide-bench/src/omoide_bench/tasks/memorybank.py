"""MemoryBank's probing questions: a simulated user asks about the last ten days.

There are no gold answers, so a judge is needed; without one the replies are left unscored. For
most questions the turns that answer them are labelled by hand (`data.memorybank`). These labels
are used to score the prompt and to calibrate the judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.concurrency import gather_all
from omoide_bench.data import memorybank
from omoide_bench.judges import ReplyCase
from omoide_bench.metrics import reply_length
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.dialogues import evidence_share, short_answer, utterances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import DatasetQuestion, Dialogue
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Sample, Trial


class MemoryBankQuestions:
    """Fifteen users, ten days each."""

    name = "memorybank"
    about = "answers to simulated users' questions about their last ten days, judged"
    source = memorybank.SOURCE
    default_methods: tuple[str, ...] = ("memory-bank", "search", "summary+search")
    alternatives: tuple[str, ...] = ()
    measures = (scoring.JUDGED, scoring.EVIDENCE_MEASURE, scoring.LENGTH)
    criteria = (scoring.JUDGED.name,)
    options: Mapping[str, str] = {"language": "en (default) or zh"}

    def __init__(self, *, labels: str = memorybank.LABELS) -> None:
        self._labels = labels

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Users with questions."""
        users = memorybank.load(data, sample.option("language", "en"), labels=self._labels)
        return sample.draw([user for user in users if user.questions])

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Replay the days, then ask the questions."""
        async with trial.new_memory(user=case.id, began=case.sessions[0].start) as under_test:
            questions = [question.text for question in case.questions]
            await trial.prefetch_embeddings([*(line.text for line in case.lines), *questions])
            await under_test.replay([utterances(session, case) for session in case.sessions])
            return list(
                await gather_all(
                    self._ask(question, case, under_test, trial) for question in case.questions
                )
            )

    async def _ask(
        self, question: DatasetQuestion, case: Dialogue, under_test: MemoryUnderTest, trial: Trial
    ) -> ScoredItem:
        answer = await short_answer(under_test, question.text, at=question.at)
        history = "\n".join(f"{line.speaker}: {line.text}" for line in case.lines)
        judged, unscored = await judging.faithful(
            trial,
            question=question.text,
            reply=answer.text,
            history=history,
            language=case.language,
        )
        scores = {
            scoring.LENGTH.name: float(reply_length(answer.text, language=case.language)),
            **judged,
        }
        right = [line.text for line in case.lines if line.id in question.evidence]
        if right:
            scores[scoring.EVIDENCE] = evidence_share(answer.contributions, question.evidence)
        return ScoredItem(
            id=question.id,
            cluster=case.id,
            group=case.language,
            scores=scores,
            unscored=unscored,
            prompt_tokens=answer.completion.prompt_tokens,
            completion_tokens=answer.completion.completion_tokens,
            texts={
                "known": history[-judging.MAX_HISTORY_CHARS :],
                "dialogue": question.text,
                "answer": answer.text,
                "right": "\n".join(right),
            },
        )

    def known_replies(self, items: Sequence[ScoredItem]) -> list[ReplyCase]:
        """The turns that contain the answer, as right replies."""
        return [
            ReplyCase(known=item.texts["known"], dialogue=item.texts["dialogue"], reply=right)
            for item in items
            if (right := item.texts.get("right"))
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}
