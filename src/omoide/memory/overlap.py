"""How much of one short text is in another, by the terms that carry meaning."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def coverage(part: set[str], whole: set[str], weight: Mapping[str, float] | None = None) -> float:
    """Share of `part` found in `whole`, 0 to 1; rare terms count for more if weights are given."""
    if not part:
        return 0.0
    if weight is None:
        return len(part & whole) / len(part)
    total = sum(weight.get(term, 1.0) for term in part)
    return sum(weight.get(term, 1.0) for term in part & whole) / total


def rarity(texts: Iterable[set[str]]) -> dict[str, float]:
    """Weight of each term: higher the fewer of the texts have it."""
    documents = list(texts)
    count: dict[str, int] = {}
    for document in documents:
        for term in document:
            count[term] = count.get(term, 0) + 1
    return {term: log(1 + len(documents) / n) for term, n in count.items()}


def same(one: str, other: str) -> bool:
    """Whether two sentences have the same meaningful terms. Anything looser would take "two
    cats" for "three cats"."""
    return one == other or content_terms(one) == content_terms(other) != set()
