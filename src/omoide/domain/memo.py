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
    """The turns it covers: the original is always there."""
    time: datetime
    compressed: str
    method: str
    """How the transcript was compressed."""
    whole: bool = True
    """False where the model's answer could not be read: then the topic is unknown, and the
    summary is what was said, so that it can still be found."""
    folded_into: str | None = None
    """The memo that took this one in, if one did."""


@dataclass(frozen=True, kw_only=True, order=True)
class Span:
    """Lines `first` to `last` of a dialogue, both counted, from 1."""

    first: int
    last: int


def mend(spans: Sequence[Span], *, lines: int) -> tuple[Span | None, ...]:
    """The spans made to cover lines 1 to `lines`, in order, without overlap or gap.

    A span gives way to the one that begins after it; a gap goes to the span before it. One that
    has nothing left comes back as None. Right spans come back as they are.
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
    mended: list[Span | None] = [None] * len(spans)
    for (i, first), after in zip(starts, [*(s for _, s in starts[1:]), lines + 1], strict=True):
        mended[i] = Span(first=1 if i == starts[0][0] else first, last=after - 1)
    return tuple(mended)
