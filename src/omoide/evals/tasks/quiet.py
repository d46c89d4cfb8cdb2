"""Talks at which little or nothing is told of who talks: what a memory notes all the same.

Benchmarks of memory are made of people who tell of themselves; most of what is said to an assistant
tells nothing that lasts, and a memory that notes it anyway fills up with what nobody said.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.engine import Utterance
from omoide.evals.data.shapes import FIRST_DAY
from omoide.evals.quiet.talks import found, load
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure
from omoide.evals.tasks.dialogues import remembered
from omoide.memory.summary.facts import VOICES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.source import Source
    from omoide.evals.quiet.talks import Talk
    from omoide.evals.tasks.base import Sample, Trial

_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}


class Quiet:
    """Talks of ours about the world and the day."""

    name = "quiet"
    about = "what is noted where little or nothing is told, in five languages; talks of our own"
    source: Source | None = None
    usual: tuple[str, ...] = ("summary",)
    rivals: tuple[str, ...] = ()
    measures = (
        Measure(name="noted", about="something is noted of a user who told nothing", better=-1),
        Measure(name="found", about="what the user did tell is among the notes"),
        Measure(name="beside", about="notes beside what was told", percent=False, better=-1),
    )
    options: Mapping[str, str] = {"languages": "such as en,ja (default all five)"}

    def cases(self, data: Path | None, sample: Sample) -> tuple[Talk, ...]:
        """The talks of the wanted languages."""
        del data
        loaded = load()
        wanted = sample.option("languages", ",".join({t.language: "" for t in loaded})).split(",")
        return sample.draw([talk for talk in loaded if talk.language in wanted])

    async def run(self, case: Talk, trial: Trial) -> list[Item]:
        """One session, digested; what is remembered of the user then."""
        said = [
            Utterance(speaker=_SPEAKERS[who], text=text, time=FIRST_DAY + timedelta(minutes=number))
            for number, (who, text) in enumerate(case.lines)
        ]
        async with trial.place(user=case.id, began=FIRST_DAY) as place:
            await place.live_through([said])
            held = await remembered(place.memory, case.id)
        other = VOICES[case.language].assistant.strip()
        notes = [text for text in held if not text.startswith(other)]
        hits = found(case.told, notes)
        scores = {"beside": float(max(len(notes) - hits, 0))}
        if case.told:
            scores["found"] = hits / len(case.told)
        else:
            scores["noted"] = float(bool(notes))
        return [
            Item(
                id=case.id,
                cluster=case.id,
                group=case.language,
                scores=scores,
                texts={
                    "told": "\n".join(case.told),
                    "noted": "\n".join(notes),
                },
            )
        ]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}
