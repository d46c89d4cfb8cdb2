"""Replies that put a fact to use: our own messages in five languages, each with the fact that it
calls for handed alone, among four others, and not at all, which shows what chance would score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.evals.grounded import scenes
from omoide.evals.running.asked import without_loops
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure
from omoide.evals.tasks.handed import moment, told
from omoide.memory.mechanism import Place
from omoide.memory.replies import FORMS, looping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.source import Source
    from omoide.evals.grounded.scenes import Scene
    from omoide.evals.tasks.base import Sample, Trial

ARMS = ("alone", "among", "none")


class Grounded:
    """Sixty messages of ours."""

    name = "grounded"
    about = "replies that use a fact which fits, in five languages; messages of our own"
    source: Source | None = None
    usual: tuple[str, ...] = ARMS
    rivals: tuple[str, ...] = ARMS
    measures = (
        Measure(name="good", about="uses the fact, in the right language, and as a friend would"),
        Measure(name="uses", about="holds the fact, however it is said"),
        Measure(name="left alone", about="small talk into which no fact is dragged"),
        Measure(name="language", about="is in the language of the message"),
        Measure(name="notes", about='speaks of notes or "the User"', better=-1),
        Measure(name="offers", about="introduces itself or offers help", better=-1),
        Measure(name="echoes", about="begins by repeating the message", better=-1),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[Scene, ...]:
        """The messages of the wanted languages."""
        del data
        loaded = scenes.load()
        wanted = sample.option("languages", ",".join({s.language: "" for s in loaded})).split(",")
        return sample.draw([scene for scene in loaded if scene.language in wanted])

    async def run(self, case: Scene, trial: Trial) -> list[Item]:
        """One reply, by the product's prompt."""
        settings = trial.lab.settings
        handed = case.handed(trial.method.name)
        request = FORMS[settings.asks_by](
            moment(case.id, case.message, case.language),
            [one for place in (Place.MEMORY, Place.RECALLED) for one in told(handed, place)],
            window=trial.model.window,
            max_tokens=settings.reply_tokens,
        )
        answer = await complete(trial.model, request)
        said = without_loops(answer.text, looping).strip()
        marks = scenes.marks(case, said)
        scores = {
            "language": float(marks.language),
            "notes": float(marks.notes),
            "offers": float(marks.offers),
            "echoes": float(marks.echoes),
        }
        if case.fact:
            scores |= {"good": float(marks.good), "uses": float(marks.uses)}
        else:
            scores["left alone"] = float(not marks.uses)
        return [
            Item(
                id=case.id,
                cluster=case.id,
                group=case.language if case.fact else "small talk",
                scores=scores,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                texts={"message": case.message, "handed": "\n".join(handed), "reply": said},
            )
        ]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}
