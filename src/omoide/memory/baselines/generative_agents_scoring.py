"""Generative Agents' scorer (Park et al. 2023, section 4.1): recency, importance and relevance.

Each is scaled to [0, 1] by min-max over the candidates, and they are summed with weights that are
all 1 in the paper. (The released code weights them 0.5, 2 and 3 and, by a slip in a sort, gives
the oldest memories the highest recency; neither is done here.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain.forgetting import recency
from omoide.language import content_terms
from omoide.memory.events.feeling import feeling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each of the three counts for."""

    recency: float = 1.0
    importance: float = 1.0
    relevance: float = 1.0


PAPER = Weights()


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What the score of one memory is made of, before scaling."""

    elapsed: timedelta
    """Since it was last accessed."""
    importance: float
    """1 to 10."""
    relevance: float
    """Cosine."""


def scores(
    traces: Sequence[Trace], *, weights: Weights = PAPER, decay: float = 0.995
) -> list[float]:
    """The score of each memory among the others."""
    recent = scaled([recency(elapsed=trace.elapsed, decay=decay) for trace in traces])
    important = scaled([trace.importance for trace in traces])
    relevant = scaled([trace.relevance for trace in traces])
    return [
        weights.recency * a + weights.importance * b + weights.relevance * c
        for a, b, c in zip(recent, important, relevant, strict=True)
    ]


def scaled(values: Sequence[float]) -> list[float]:
    """Min-max: the least becomes 0, the greatest 1; all 0.5 if they are equal, as in the released
    code, so that a criterion that tells nothing apart favours nothing."""
    if not values:
        return []
    least, greatest = min(values), max(values)
    if greatest - least <= 1e-12:
        return [0.5 for _ in values]
    return [(value - least) / (greatest - least) for value in values]


def heuristic_importance(text: str, language: str | None = None) -> int:
    """Importance from 1 to 10 without a model: what was felt, names and numbers, how much is said.

    For measurements and for those who want no call for each event. It is not the paper's.
    """
    telling = len(content_terms(text))
    named = sum(1 for word in text.split()[1:] if word[:1].isupper() or word[:1].isdigit())
    return round(min(1 + 5 * feeling(text, language) + min(telling, 10) * 0.25 + min(named, 3), 10))
