"""Questions that memory cannot answer: our own, in five languages. Each is asked with the fact
among five notes and with the same notes without it. World-knowledge questions, which no note
answers, are the control."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.given_notes import reply_with
from omoide_bench.unknown import questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.tasks.base import Sample, Trial
    from omoide_bench.unknown.questions import UnknownQuestion

ARMS = ("known", "unknown", "world")


class UnknownTask:
    """A hundred and sixty of our own questions."""

    name = "unknown"
    about = "unknown facts: admitted or made up, in five languages; our own questions"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ARMS
    alternatives: tuple[str, ...] = ARMS
    measures = (
        Measure(name="right", about="known or about the world: the reply has the answer"),
        Measure(name="refuses", about="the same, but the reply claims not to know", better=-1),
        Measure(name="admits", about="unknown: the reply says that it does not know"),
        Measure(name="made up", about="unknown: the reply answers anyway", better=-1),
        Measure(name="borrows", about="unknown: the answer is another note's", better=-1),
        Measure(name="language", about="is in the language of the question"),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[UnknownQuestion, ...]:
        """The questions in the wanted languages; a quarter of a sample is about the world."""
        del data
        loaded = questions.load()
        wanted = sample.option("languages", ",".join({q.language: "" for q in loaded})).split(",")
        questions_ = [question for question in loaded if question.language in wanted]
        world = None if sample.limit is None else sample.limit // 4
        rest = None if sample.limit is None else sample.limit - sample.limit // 4
        return (
            *replace(sample, limit=rest).draw(
                [question for question in questions_ if question.fact]
            ),
            *replace(sample, limit=world).draw(
                [question for question in questions_ if not question.fact]
            ),
        )

    async def run(self, case: UnknownQuestion, trial: Trial) -> list[ScoredItem]:
        """One reply, with the product's prompt; none if the question is not in this arm."""
        arm = trial.method.name
        if not case.has(arm):
            return []
        handed = case.given_notes(arm)
        reply, answer = await reply_with(
            handed, case.question, user=case.id, language=case.language, trial=trial
        )
        marks = questions.marks(case, reply)
        scores = {"language": float(marks.language)}
        if arm == "unknown":
            scores |= {
                "admits": float(marks.admits),
                "made up": float(marks.made_up),
                "borrows": float(marks.borrows),
            }
        else:
            scores |= {"right": float(marks.right), "refuses": float(marks.admits)}
        return [
            ScoredItem(
                id=case.id,
                cluster=case.id,
                group=case.language,
                scores=scores,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                texts={"question": case.question, "handed": "\n".join(handed), "reply": reply},
            )
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}
