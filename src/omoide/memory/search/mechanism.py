"""Recall as a mechanism: the turns of earlier sessions that fit what was just said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, nothing
from omoide.memory.mechanism import Contribution, Onlooker, Place
from omoide.prompts import words

if TYPE_CHECKING:
    from omoide.domain import Recalled
    from omoide.memory.mechanism import Moment
    from omoide.memory.search.recall import Recall


class Search(Onlooker):
    """All that was said, weighed by words, meaning, context, speakers and days, without a model
    call."""

    name = "search"

    def __init__(self, recall: Recall, *, k: int, budget: int) -> None:
        self._recall = recall
        self._k = k
        self._budget = budget

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The best turns of earlier sessions."""
        items = await self._recall(
            moment.owner,
            moment.text,
            summary=nothing(moment.now),
            at=moment.now,
            k=self._k,
            budget=self._budget,
            besides=[turn.id for turn in moment.session],
            kinds=(Kind.TURN,),
        )
        return tuple(
            Contribution(
                mechanism=self.name,
                place=Place.RECALLED,
                kind=Kind.TURN,
                id=item.sources[0],
                text=_told(item, moment.language),
                value=0.9 / rank,
                sources=item.sources,
                time=item.time,
                why=f"search rank {rank}",
                score=item.score,
            )
            for rank, item in enumerate(items, start=1)
        )


def _told(item: Recalled, language: str) -> str:
    """When, who and what: without the speaker a model takes the user's words for its own."""
    who = words(language)[item.speaker.value] if item.speaker else ""
    return f"{item.time:%Y-%m-%d} {who}: {' '.join(item.text.split())}"
