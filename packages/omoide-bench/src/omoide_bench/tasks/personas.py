"""RealPersonaChat: replies in the last of several conversations between two Japanese speakers.

It serves to compare the compression methods of paper C on Japanese text: the same pairs, with memos
compressed in each way. Japanese is counted by characters. There are no annotated facts, so memory
is not scored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide_bench.data import real_persona_chat
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.msc import dialogue_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue
    from omoide_bench.judges import ReplyCase
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.tasks.base import Sample, Trial


class RealPersonas:
    """Replies in Japanese after several real meetings."""

    name = "realpersona"
    about = "Japanese replies at the last of several real meetings"
    source = real_persona_chat.SOURCE
    default_methods: tuple[str, ...] = ("memos", "search", "summary")
    alternatives: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "meetings": "number of last conversations of each pair to use (default 6)"
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Pairs with at least two conversations, cut to the last ones."""
        most = int(sample.option("meetings", "6"))
        pairs = [
            replace(pair, sessions=pair.sessions[-most:])
            for pair in real_persona_chat.load(data)
            if len(pair.sessions) > 1
        ]
        return sample.draw(pairs)

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Score the replies in the last conversation."""
        return await dialogue_items(
            case, trial, wanted=[case.sessions[-1].number], memory="no", group="last meeting"
        )

    def known_replies(self, items: Sequence[ScoredItem]) -> list[ReplyCase]:
        """The gold replies, to calibrate a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """Corpus-level measures of the replies, by characters."""
        return scoring.whole_replies(items, language="ja")
