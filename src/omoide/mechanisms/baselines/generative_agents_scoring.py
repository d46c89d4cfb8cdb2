"""Generative Agents' scorer (Park et al. 2023, section 4.1): recency, importance and relevance.

Each is min-max scaled to [0, 1] over the candidates, and they are summed with weights, which are
all 1 in the paper. (The released code uses weights 0.5, 2 and 3 and, by a sorting bug, gives the
oldest memories the highest recency; neither is done here.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain.forgetting import recency
from omoide.language import content_terms
from omoide.mechanisms.events.feeling import feeling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class AgentWeights:
    """The weight of each of the three factors."""

    recency: float = 1.0
    importance: float = 1.0
    relevance: float = 1.0


PAPER = AgentWeights()


@dataclass(frozen=True, kw_only=True)
class ScoreTrace:
    """The factors of one memory's score, before scaling."""

    elapsed: timedelta
    """Time since it was last accessed."""
    importance: float
    """1 to 10."""
    relevance: float
    """Cosine."""


def agent_scores(
    traces: Sequence[ScoreTrace], *, weights: AgentWeights = PAPER, decay: float = 0.995
) -> list[float]:
    """The score of each memory, relative to the others."""
    recent = min_max_scaled([recency(elapsed=trace.elapsed, decay=decay) for trace in traces])
    important = min_max_scaled([trace.importance for trace in traces])
    relevant = min_max_scaled([trace.relevance for trace in traces])
    return [
        weights.recency * a + weights.importance * b + weights.relevance * c
        for a, b, c in zip(recent, important, relevant, strict=True)
    ]


def min_max_scaled(values: Sequence[float]) -> list[float]:
    """Min-max scaling: the least becomes 0, the greatest 1. All become 0.5 if they are equal, as
    in the released code, so that a criterion without differences favours nothing."""
    if not values:
        return []
    least, greatest = min(values), max(values)
    if greatest - least <= 1e-12:
        return [0.5 for _ in values]
    return [(value - least) / (greatest - least) for value in values]


def heuristic_importance(text: str, language: str | None = None) -> int:
    """Importance from 1 to 10 without a model: from feeling, names, numbers and length.

    For measurements, and for users who want no extra call. It is not in the paper.
    """
    length = len(content_terms(text))
    named = sum(1 for word in text.split()[1:] if word[:1].isupper() or word[:1].isdigit())
    return round(min(1 + 5 * feeling(text, language) + min(length, 10) * 0.25 + min(named, 3), 10))
