"""MemoryBank's probing questions: what a simulated user asks about the last ten days.

There are no gold answers, so a judge is needed; without one the replies are made, counted and
left unscored. For most questions it is known by hand which turns answer them
(`corpora.memorybank`): by these the prompt is scored, and the judge is tried.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.evals.corpora.memorybank import labelled_turns
from omoide.evals.data import memorybank
from omoide.evals.judges import Case
from omoide.evals.metrics import reply_length
from omoide.evals.running.items import Item
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.dialogues import evidence_share, short_answer, utterances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue, Question
    from omoide.evals.running.lab import Place
    from omoide.evals.tasks.base import Sample, Trial

    Labels = Callable[[Path, str], Mapping[tuple[str, str], Sequence[str]]]
    """By folder and language: user and question, and the words of the turns that answer it."""


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

    def __init__(self, *, labels: Labels = labelled_turns) -> None:
        self._labels = labels

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Users who are asked about something."""
        language = sample.option("language", "en")
        users = memorybank.load(data, language)
        labels = self._labels(memorybank.folder(data, language), language)
        return sample.draw([_with_evidence(user, labels) for user in users if user.questions])

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


def _with_evidence(user: Dialogue, labels: Mapping[tuple[str, str], Sequence[str]]) -> Dialogue:
    """The user with the turns that answer each question, where they are known."""
    ids: dict[str, str] = {}
    for line in user.lines:
        ids.setdefault(line.text.strip(), line.id)
    return replace(
        user,
        questions=tuple(
            replace(
                question,
                evidence=frozenset(
                    ids[text]
                    for text in labels.get((user.id, question.text.strip('"')), ())
                    if text in ids
                ),
            )
            for question in user.questions
        ),
    )
