"""Several questions in one message, each with what was found for it, as one list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Fact, MemoryKind, RecalledItem, Support

LEAST_KNOWN: Final = 0.001
"""Least weight of one of several questions."""
LEAST_SHARE: Final = 1e-30
"""Least share of the best item's probability, so that it has a logarithm."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found for one query, best first."""

    items: Sequence[RecalledItem]
    over: Sequence[Fact]
    """Facts that have ended or expired, on the turns that were looked at."""
    support: Support
    degraded: str


def merged(found: Sequence[Found]) -> list[RecalledItem]:
    """The items for a message and for each of its questions, best first. Scores are log odds among
    all items, so each search gives its items probabilities. They are added, weighted by how likely
    memory is to know anything about what was searched for. In one search for all of it, the
    question with more words would have all the room."""
    shares: dict[tuple[MemoryKind, str], float] = {}
    items: dict[tuple[MemoryKind, str], RecalledItem] = {}
    for part in found:
        odds = [exp(item.score - part.items[0].score) for item in part.items]
        for item, chance in zip(part.items, odds, strict=True):
            share = max(part.support.known, LEAST_KNOWN) * chance / sum(odds)
            key = (item.kind, item.id)
            shares[key] = shares.get(key, 0.0) + share
            items.setdefault(key, item)
    if not items:
        return []
    best = max(shares.values())
    top = max(item.score for item in items.values())
    scored = [
        replace(item, score=top + log(max(shares[key] / best, LEAST_SHARE)))
        for key, item in items.items()
    ]
    return sorted(scored, key=lambda item: -item.score)


def best_supported(found: Sequence[Found]) -> Support:
    """The support of the question that memory knows most about, of those that only memory can
    answer if there are any. No turn has many of the words of two questions."""
    return max((part.support for part in found), key=lambda s: (s.personal, s.known))
