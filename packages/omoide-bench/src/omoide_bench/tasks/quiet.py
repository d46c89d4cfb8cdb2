"""Conversations in which users say little or nothing about themselves: what is noted anyway?

Memory benchmarks consist of people who talk about themselves. Most messages to an assistant contain
no lasting fact, and a memory that notes them anyway fills up with false facts.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.claims import phrasing
from omoide.domain import Speaker
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.quiet.talks import found, load
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.dialogues import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.source import DatasetSource
    from omoide_bench.quiet.talks import QuietTalk
    from omoide_bench.tasks.base import Sample, Trial

_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT}


class QuietTask:
    """Our own conversations about everyday topics."""

    name = "quiet"
    about = "what is noted from talks without personal facts, in five languages; our own talks"
    source: DatasetSource | None = None
    default_methods: tuple[str, ...] = ("summary",)
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="noted", about="a note exists though the user stated no fact", better=-1),
        Measure(name="found", about="share of the user's facts that were noted"),
        Measure(name="beside", about="notes that match no stated fact", percent=False, better=-1),
    )
    options: Mapping[str, str] = {
        "languages": "such as en,ja (default all five)",
        "partner": "whom the user talks with: person or assistant (default person)",
    }

    def cases(self, data: Path | None, sample: Sample) -> tuple[QuietTalk, ...]:
        """The talks in the wanted languages."""
        del data
        loaded = load()
        wanted = sample.option("languages", ",".join({t.language: "" for t in loaded})).split(",")
        return sample.draw([talk for talk in loaded if talk.language in wanted])

    async def run(self, case: QuietTalk, trial: Trial) -> list[ScoredItem]:
        """Digest the talk as one session, then score what is remembered about the user."""
        utterances = [
            Utterance(speaker=_SPEAKERS[who], text=text, time=FIRST_DAY + timedelta(minutes=number))
            for number, (who, text) in enumerate(case.lines)
        ]
        partner = trial.option("partner", "person")
        async with trial.new_memory(user=case.id, began=FIRST_DAY, partner=partner) as under_test:
            await under_test.replay([utterances])
            sentences = await remembered(under_test)
        assistant = phrasing(case.language).assistant.strip()
        notes = [text for text in sentences if not text.startswith(assistant)]
        hits = found(case.facts, notes)
        scores = {"beside": float(max(len(notes) - hits, 0))}
        if case.facts:
            scores["found"] = hits / len(case.facts)
        else:
            scores["noted"] = float(bool(notes))
        return [
            ScoredItem(
                id=case.id,
                cluster=case.id,
                group=case.language,
                scores=scores,
                texts={
                    "told": "\n".join(case.facts),
                    "noted": "\n".join(notes),
                },
            )
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}
