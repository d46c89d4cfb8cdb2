"""What was never told: our own questions in five languages, each with the fact among five notes and
with the same notes without it; and questions about the world, which no note answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.evals.running.asked import without_loops
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure
from omoide.evals.tasks.handed import moment, told
from omoide.evals.unknown import questions
from omoide.memory.mechanism import Place
from omoide.memory.replies import FORMS, looping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.source import Source
    from omoide.evals.tasks.base import Sample, Trial
    from omoide.evals.unknown.questions import Question

ARMS = ("known", "unknown", "world")


class Unknown:
    """A hundred and sixty questions of ours."""

    name = "unknown"
    about = "what was never told, in five languages: admitted or made up; questions of our own"
    source: Source | None = None
    usual: tuple[str, ...] = ARMS
    rivals: tuple[str, ...] = ARMS
    measures = (
        Measure(name="right", about="told, or about the world: the answer is in the reply"),
        Measure(name="refuses", about="the same, but the reply does not know it", better=-1),
        Measure(name="admits", about="never told: the reply says that it does not know"),
        Measure(name="made up", about="never told: the reply answers all the same", better=-1),
        Measure(name="borrows", about="never told: the answer is that of another note", better=-1),
        Measure(name="language", about="is in the language of the question"),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[Question, ...]:
        """The questions of the wanted languages; of a sample, a fourth are about the world."""
        del data
        loaded = questions.load()
        wanted = sample.option("languages", ",".join({q.language: "" for q in loaded})).split(",")
        own = [one for one in loaded if one.language in wanted]
        world = None if sample.limit is None else sample.limit // 4
        rest = None if sample.limit is None else sample.limit - sample.limit // 4
        return (
            *replace(sample, limit=rest).draw([one for one in own if one.fact]),
            *replace(sample, limit=world).draw([one for one in own if not one.fact]),
        )

    async def run(self, case: Question, trial: Trial) -> list[Item]:
        """One reply, by the product's prompt; none where the arm has no such question."""
        arm, settings = trial.method.name, trial.lab.settings
        if not case.has(arm):
            return []
        handed = case.handed(arm)
        request = FORMS[settings.asks_by](
            moment(case.id, case.question, case.language),
            [one for place in (Place.MEMORY, Place.RECALLED) for one in told(handed, place)],
            window=trial.model.window,
            max_tokens=settings.reply_tokens,
        )
        answer = await complete(trial.model, request)
        said = without_loops(answer.text, looping).strip()
        marks = questions.marks(case, said)
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
            Item(
                id=case.id,
                cluster=case.id,
                group=case.language,
                scores=scores,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                texts={"question": case.question, "handed": "\n".join(handed), "reply": said},
            )
        ]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}
