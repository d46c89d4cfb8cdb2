"""CareCall: health check-in calls, where facts about a person keep changing. Scored like MSC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.language import detect_language
from omoide_bench.data import carecall
from omoide_bench.tasks import judging, scoring
from omoide_bench.tasks.msc import dialogue_items, wanted_sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue
    from omoide_bench.judges import ReplyCase
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.tasks.base import Sample, Trial


class CareCall:
    """Replies in the last session of each episode, or in certain ones, and memory before them."""

    name = "carecall"
    about = "replies at the last session of check-in calls, and memory against notes (paper A)"
    source = carecall.SOURCE
    default_methods: tuple[str, ...] = ("summary", "search", "summary+search", "gold")
    alternatives: tuple[str, ...] = ()
    measures = (*scoring.REPLY, *judging.CRITERIA, *scoring.MEMORY, *scoring.WHOLE)
    criteria = judging.NAMES
    options: Mapping[str, str] = {
        "language": "ko (default, as published) or en (a translation in the same form)",
        "sessions": "sessions with replies to score, such as 5 (the paper's; default the last)",
        "memory": "yes (default), no, or only",
        "audit": "yes or no (default): check every remembered sentence against the dialogue",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Episodes with at least two sessions, and with those that are wanted."""
        episodes = carecall.load(data, sample.option("language", "ko"))
        least = max(wanted_sessions(sample.option("sessions", "2")))
        return sample.draw([episode for episode in episodes if len(episode.sessions) >= least])

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Score memory before the wanted session, by default the last, and its replies."""
        return await dialogue_items(
            case,
            trial,
            wanted=wanted_sessions(trial.option("sessions", str(case.sessions[-1].number))),
            memory=trial.option("memory", "yes"),
        )

    def known_replies(self, items: Sequence[ScoredItem]) -> list[ReplyCase]:
        """The gold replies, to calibrate a judge on."""
        return judging.shown_before(items)

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """As for MSC; Korean is counted by characters."""
        korean = any(detect_language(item.texts.get("gold", "")) == "ko" for item in items)
        return scoring.whole_replies(items, language="ko" if korean else "en")
