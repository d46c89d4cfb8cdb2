"""What was recalled, as items, and how many of them fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Fact, Memo, MemoryKind, RecalledItem
from omoide.language import estimate_tokens
from omoide.mechanisms.search.pairs import last_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Event, Turn
    from omoide.mechanisms.search.pairs import AnswerPair


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


def with_extra(
    items: Sequence[RecalledItem], *, k: int, extra: Mapping[MemoryKind, int]
) -> list[RecalledItem]:
    """The best `k` items of other kinds than `extra` names, and the best so many of each of
    those."""
    chosen = [item for item in items if item.kind not in extra][:k]
    for kind, most in extra.items():
        chosen += [item for item in items if item.kind is kind][:most]
    return sorted(chosen, key=lambda item: -item.score)


def with_questions(
    items: Sequence[RecalledItem], pairs: Mapping[str, AnswerPair], turns: Mapping[str, Turn]
) -> list[RecalledItem]:
    """The items with the questions that they answer. A question that is paired as such gives way to
    its reply."""
    result: dict[str, RecalledItem] = {}
    for item in items:
        pair = pairs.get(item.id)
        if pair is None or pair.turn not in turns or pair.question not in turns:
            result.setdefault(item.id, item)
            continue
        shown = item
        if pair.turn != item.id:
            shown = turn_item(turns[pair.turn], item.score, counted=item.counted)
        answers = last_question(turns[pair.question].text)
        tokens = shown.tokens + estimate_tokens(answers)
        result.setdefault(shown.id, replace(shown, answers=answers, tokens=tokens))
    return list(result.values())
