"""CareCall: health check-ins in which what is true of a person keeps changing; scored as MSC is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals.data import carecall
from omoide.evals.tasks import judging, scoring
from omoide.evals.tasks.msc import dialogue_items
from omoide.language import detect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Dialogue
    from omoide.evals.judges import Case
    from omoide.evals.running.items import Item
    from omoide.evals.tasks.base import Sample, Trial


class CareCall:
    """Replies of the last session of each episode, and memory before it."""

    name = "carecall"
    about = "replies at the last session of check-in calls, and memory against notes (paper A)"
    source = carecall.SOURCE
    usual: tuple[str, ...] = ("summary", "search", "summary+search", "gold")
    rivals: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.MEMORY, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "language": "ko (default, as published) or en (a translation in the same form)",
        "memory": "yes (default), no, or only",
        "audit": "yes or no (default): hold every sentence of a memory against what was said",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Episodes of at least two sessions."""
        episodes = carecall.load(data, sample.option("language", "ko"))
        return sample.draw([episode for episode in episodes if len(episode.sessions) > 1])

    async def run(self, case: Dialogue, trial: Trial) -> list[Item]:
        """The last session is asked for."""
        return await dialogue_items(
            case,
            trial,
            wanted=[case.sessions[-1].number],
            memory=trial.option("memory", "yes"),
        )

    def known_replies(self, items: Sequence[Item]) -> list[Case]:
        """What was truly replied, to try a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """As of MSC; Korean is counted by characters."""
        korean = any(detect(item.texts.get("gold", "")) == "ko" for item in items)
        return scoring.whole_replies(items, language="ko" if korean else "en")
