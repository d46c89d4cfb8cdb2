"""MemoryBank's probing questions: what a simulated user asks about the last ten days.

There are no gold answers, so a judge is needed; without one the replies are made, counted and
left unscored. For most questions it is known by hand which turns answer them
(`data.memorybank`): by these the prompt is scored, and the judge is tried.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.evals.data import memorybank
from omoide.evals.judges import Case
from omoide.evals.metrics import reply_length
from omoide.evals.running.items import Item
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.dialogues import evidence_share, short_answer, utterances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue, Question
    from omoide.evals.running.lab import Place
    from omoide.evals.tasks.base import Sample, Trial


class MemoryBankQuestions:
    """Fifteen users, ten days each."""

    name = "memorybank"
    about = "answers to simulated users' questions about their last ten days, judged"
    source = memorybank.SOURCE
    usual: tuple[str, ...] = ("memory-bank", "search", "summary+search")
    rivals: tuple[str, ...] = ()
    measures = (scoring.JUDGED, scoring.EVIDENCE_MEASURE, scoring.LENGTH)
    criteria = (scoring.JUDGED.name,)
    options: Mapping[str, str] = {"language": "en (default) or zh"}

    def __init__(self, *, labels: str = memorybank.LABELS) -> None:
        self._labels = labels

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Users who are asked about something."""
        users = memorybank.load(data, sample.option("language", "en"), labels=self._labels)
        return sample.draw([user for user in users if user.questions])

    async def run(self, case: Dialogue, trial: Trial) -> list[Item]:
        """Live through the days, then ask."""
        async with trial.place(user=case.id, began=case.sessions[0].start) as place:
            asked = [question.text for question in case.questions]
            await trial.warm([*(line.text for line in case.lines), *asked])
            await place.live_through([utterances(session, case) for session in case.sessions])
            return list(
                await asyncio.gather(
                    *(self._asked(question, case, place, trial) for question in case.questions)
                )
            )

    async def _asked(self, question: Question, case: Dialogue, place: Place, trial: Trial) -> Item:
        answer = await short_answer(place, question.text, at=question.at)
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
        return Item(
            id=question.id,
            cluster=case.id,
            group=case.language,
            scores=scores,
            unscored=unscored,
            prompt_tokens=answer.completion.prompt_tokens,
            completion_tokens=answer.completion.completion_tokens,
            texts={
                "known": history[-judging.LONGEST :],
                "dialogue": question.text,
                "answer": answer.text,
                "right": "\n".join(right),
            },
        )

    def known_replies(self, items: Sequence[Item]) -> list[Case]:
        """The very turns that hold the answer."""
        return [
            Case(known=item.texts["known"], dialogue=item.texts["dialogue"], reply=right)
            for item in items
            if (right := item.texts.get("right"))
        ]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}
