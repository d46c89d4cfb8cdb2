"""Replies that use a fact: our own messages in five languages. The fitting fact is in the prompt
alone, among four others, or not at all; the last shows what chance would score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench.grounded import scenes
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.given_notes import reply_with

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.grounded.scenes import Scene
    from omoide_bench.tasks.base import Sample, Trial

ARMS = ("alone", "among", "none")


class GroundedTask:
    """Sixty of our own messages."""

    name = "grounded"
    about = "replies that use a fitting fact, in five languages; our own messages"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ARMS
    alternatives: tuple[str, ...] = ARMS
    measures = (
        Measure(name="good", about="uses the fact, in the right language, and as a friend would"),
        Measure(name="uses", about="mentions the fact, in any wording"),
        Measure(name="left alone", about="small talk answered without dragging in a fact"),
        Measure(name="language", about="is in the language of the message"),
        Measure(name="notes", about='mentions notes or "the User"', better=-1),
        Measure(name="offers", about="introduces itself or offers help", better=-1),
        Measure(name="echoes", about="begins by repeating the message", better=-1),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[Scene, ...]:
        """The messages in the wanted languages."""
        del data
        loaded = scenes.load()
        wanted = sample.option("languages", ",".join({s.language: "" for s in loaded})).split(",")
        return sample.draw([scene for scene in loaded if scene.language in wanted])

    async def run(self, case: Scene, trial: Trial) -> list[ScoredItem]:
        """One reply, with the product's prompt."""
        handed = case.given_notes(trial.method.name)
        reply, answer = await reply_with(
            handed, case.message, user=case.id, language=case.language, trial=trial
        )
        marks = scenes.marks(case, reply)
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
            ScoredItem(
                id=case.id,
                cluster=case.id,
                group=case.language if case.fact else "small talk",
                scores=scores,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
                texts={"message": case.message, "handed": "\n".join(handed), "reply": reply},
            )
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}
