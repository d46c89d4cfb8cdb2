"""Recall as a mechanism: the turns of earlier sessions that fit what was just said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.domain import Kind, Speaker, nothing
from omoide.memory.mechanism import Contribution, Onlooker, Place
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Recalled
    from omoide.memory.mechanism import Moment
    from omoide.memory.search.recall import Recall


class Search(Onlooker):
    """All that was said, weighed by words, meaning, context, speakers and days, without a model
    call.

    A small model that is shown its own earlier replies says them again, whatever was asked. With
    `replies` false those of the assistant are brought only to who asks after them.
    """

    name = "search"

    def __init__(self, recall: Recall, *, k: int, budget: int, replies: bool = True) -> None:
        self._recall = recall
        self._k = k
        self._budget = budget
        self._replies = replies

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The best turns of earlier sessions."""
        both = self._replies or asks_after_replies(moment.text)
        items: Sequence[Recalled] = await self._recall(
            moment.owner,
            moment.text,
            summary=nothing(moment.now),
            at=moment.now,
            k=self._k if both else 2 * self._k,
            budget=self._budget if both else 2 * self._budget,
            besides=[turn.id for turn in moment.session],
            kinds=(Kind.TURN,),
        )
        if not both:
            items = self._users(items)
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

    def _users(self, items: Sequence[Recalled]) -> list[Recalled]:
        """The user's own turns among them, as many as fit."""
        kept: list[Recalled] = []
        for item in items:
            room = self._budget - sum(one.tokens for one in kept)
            if item.speaker is not Speaker.ASSISTANT and item.tokens <= room:
                kept.append(item)
        return kept[: self._k]


_AFTER_REPLIES = re.compile(
    r"\byou(?:r|[’']ve|[’']d)?\b.{0,40}\b(?:sa(?:y|id)|t(?:ell|old)|recommend|suggest|advi[sc]e|"
    r"promise|mention|call|propose|answer|repl(?:y|ied)|tip|idea)"
    r"|[你您].{0,12}(?:说|告诉|推荐|建议|答应|提到|讲)"
    r"|(?:勧め|おすすめ|お勧め|言っ|教え|話し|答え|約束|提案).{0,8}(?:くれ|た|っけ)"
    r"|(?:추천|말|알려|얘기|이야기|약속|제안|대답).{0,6}(?:했|줬|준|해 ?준|던)"
    r"|\b(?:bạn|cậu)\b.{0,30}\b(?:nói|bảo|kể|gợi ý|khuyên|hứa|đề nghị|trả lời)\b",
    re.IGNORECASE,
)


def asks_after_replies(text: str) -> bool:
    """Whether somebody asks after what the other said, advised or promised."""
    return _AFTER_REPLIES.search(text) is not None


def _told(item: Recalled, language: str) -> str:
    """When, who and what: without the speaker a model takes the user's words for its own."""
    who = words(language)[item.speaker.value] if item.speaker else ""
    return f"{item.time:%Y-%m-%d} {who}: {' '.join(item.text.split())}"
