"""Memos: a stretch of dialogue on one topic, with a summary and a compressed transcript."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Memo:
    """The memo triple of paper C: topic, summary, compressed dialogue."""

    id: str
    session: int
    topic: str
    summary: str
    sources: tuple[str, ...]
    """Ids of the turns it covers. The original turns are always kept."""
    time: datetime
    compressed: str
    method: str
    """How the transcript was compressed."""
    whole: bool = True
    """False if the model's answer could not be parsed. Then the topic is unknown and the summary is
    the original text, so that a search can still find it."""
    folded_into: str | None = None
    """Id of the memo that this one was folded into, if any."""


@dataclass(frozen=True, kw_only=True, order=True)
class Span:
    """Lines `first` to `last` of a dialogue, inclusive, numbered from 1."""

    first: int
    last: int


def repaired_spans(spans: Sequence[Span], *, lines: int) -> tuple[Span | None, ...]:
    """The spans changed to cover lines 1 to `lines` without overlaps or gaps.

    Where spans overlap, the one that begins later wins; a gap goes to the span before it. A span
    with no lines left becomes None. Correct spans are returned unchanged.
    """
    if lines < 1 or not spans:
        return tuple(None for _ in spans)
    order = sorted(range(len(spans)), key=lambda i: (spans[i].first, spans[i].last))
    starts: list[tuple[int, int]] = []
    for i in order:
        first = min(max(spans[i].first, 1), lines)
        if starts and first <= starts[-1][1]:
            first = starts[-1][1] + 1
        if first <= lines:
            starts.append((i, first))
    repaired: list[Span | None] = [None] * len(spans)
    for (i, first), after in zip(starts, [*(s for _, s in starts[1:]), lines + 1], strict=True):
        repaired[i] = Span(first=1 if i == starts[0][0] else first, last=after - 1)
    return tuple(repaired)
