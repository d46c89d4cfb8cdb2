"""RealPersonaChat: Japanese people who met on several days; replies of their last conversation.

Here the compression of paper C is swept on Japanese text: the same pairs, memos compressed in every
way. Japanese is counted by characters. Nobody wrote down what the memory should hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.evals.data import real_persona_chat
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.msc import dialogue_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue
    from omoide.evals.judges import Case
    from omoide.evals.running.items import Item
    from omoide.evals.tasks.base import Sample, Trial


class RealPersonas:
    """Replies in Japanese after several real meetings."""

    name = "realpersona"
    about = "Japanese replies at the last of several real meetings"
    source = real_persona_chat.SOURCE
    usual: tuple[str, ...] = ("memos", "search", "summary")
    rivals: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "meetings": "only the last so many conversations of a pair (default 6)"
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Pairs who met at least twice, with their last meetings."""
        most = int(sample.option("meetings", "6"))
        pairs = [
            replace(pair, sessions=pair.sessions[-most:])
            for pair in real_persona_chat.load(data)
            if len(pair.sessions) > 1
        ]
        return sample.draw(pairs)

    async def run(self, case: Dialogue, trial: Trial) -> list[Item]:
        """The last conversation is asked for."""
        return await dialogue_items(
            case, trial, wanted=[case.sessions[-1].number], memory="no", group="last meeting"
        )

    def known_replies(self, items: Sequence[Item]) -> list[Case]:
        """What was truly replied, to try a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """By characters."""
        return scoring.whole_replies(items, language="ja")
