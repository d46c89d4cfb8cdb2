"""Replies that put a fact to use: our own messages in five languages, each with the fact that it
calls for handed alone, among four others, and not at all, which shows what chance would score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.domain import Kind, Owner, Speaker, Turn
from omoide.evals.data.shapes import FIRST_DAY
from omoide.evals.grounded import scenes
from omoide.evals.running.asked import without_loops
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure
from omoide.memory.mechanism import Contribution, Moment, Place
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
            _moment(case),
            [one for place in (Place.MEMORY, Place.RECALLED) for one in _told(handed, place)],
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


def _moment(scene: Scene) -> Moment:
    turn = Turn(
        id="message",
        session=2,
        position=1,
        speaker=Speaker.USER,
        text=scene.message,
        time=FIRST_DAY,
        language=scene.language,
    )
    return Moment(
        owner=Owner(tenant="bench", user=scene.id),
        text=scene.message,
        session=(turn,),
        now=FIRST_DAY,
        language=scene.language,
    )


def _told(facts: Sequence[str], place: Place) -> list[Contribution]:
    return [
        Contribution(
            mechanism="summary",
            place=place,
            kind=Kind.SENTENCE,
            id=f"1.{number}{'' if place is Place.MEMORY else '.near'}",
            text=fact,
            value=1.0,
            sources=(),
            time=FIRST_DAY,
            why="handed",
        )
        for number, fact in enumerate(facts, start=1)
    ]
