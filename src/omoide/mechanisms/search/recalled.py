"""What was recalled, as items, and how many of them fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Fact, Memo, MemoryKind, RecalledItem
from omoide.language import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Event, Turn


def turn_item(turn: Turn, score: float, *, counted: tuple[tuple[str, float], ...]) -> RecalledItem:
    """A turn as an item, with what counted for it."""
    return RecalledItem(
        kind=MemoryKind.TURN,
        id=turn.id,
        name=turn.name,
        text=turn.text,
        score=score,
        sources=(turn.id,),
        time=turn.time,
        tokens=estimate_tokens(turn.text),
        session=turn.session,
        speaker=turn.speaker,
        counted=counted,
    )


def derived_item(kind: MemoryKind, item: Fact | Event | Memo, score: float) -> RecalledItem:
    """A fact, event or memo as an item."""
    text = f"{item.topic}: {item.summary}" if isinstance(item, Memo) else item.text
    return RecalledItem(
        kind=kind,
        id=item.id,
        text=text,
        score=score,
        sources=item.sources,
        time=item.said if isinstance(item, Fact) else item.time,
        tokens=estimate_tokens(text),
        session=item.session,
    )


def fitting(
    items: Sequence[RecalledItem], *, k: int, budget: int | None
) -> tuple[RecalledItem, ...]:
    """The first `k` items that fit; an item that is too long is skipped."""
    chosen: list[RecalledItem] = []
    left = budget
    for item in items:
        if len(chosen) == k:
            break
        if left is None or item.tokens <= left:
            chosen.append(item)
            left = None if left is None else left - item.tokens
    return tuple(chosen)
