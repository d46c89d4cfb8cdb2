"""How memories fade and how recall strengthens them: formulas of three papers.

Time is always elapsed time over an explicit unit, because the papers are vague about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import exp, expm1, tanh

UNIT = timedelta(seconds=1.1e7)
"""The unit of time that reproduces Table 1 of Hou et al. 2024, who never state theirs. Any unit
from 1.01e7 to 1.21e7 s does (117 to 140 days); a day, a week or a month does not."""
THRESHOLD = 0.86
"""k of Hou et al. 2024: an event is recalled if its recall probability is above this."""


@dataclass(frozen=True, kw_only=True)
class RecallFactors:
    """What decided whether an event was recalled, with the symbols of Hou et al. 2024, eq. 8."""

    r: float
    """Relevance."""
    t: float
    """Days since it was told or last recalled."""
    g: float
    """Consolidation."""
    p: float
    """Probability."""
    k: float
    """The threshold that p must exceed."""


def recall_probability(
    *, relevance: float, elapsed: timedelta, consolidation: float, unit: timedelta = UNIT
) -> float:
    """Probability that an event is recalled: Hou et al. 2024, eq. 8.

    p_n(t) = (1 − exp(−r·e^(−t/g_n))) / (1 − e^(−1)), which is 1 at r = 1, t = 0.
    If the clock went backwards, no time has elapsed.
    """
    t = max(elapsed / unit, 0.0)
    vividness = max(relevance, 0.0) * exp(-t / consolidation)
    return expm1(-vividness) / expm1(-1)


def consolidated(consolidation: float, *, elapsed: timedelta, unit: timedelta = UNIT) -> float:
    """g_n after a recall that came `elapsed` after the previous one: Hou et al. 2024, eq. 9.

    g_n = g_(n−1) + S(t), S(t) = (1 − e^(−t)) / (1 + e^(−t)), from g_0 = 1. A recall after a long
    pause strengthens more than one soon after the last. Each adds less than 1.
    """
    return consolidation + tanh(max(elapsed / unit, 0.0) / 2)


def retention(*, elapsed: timedelta, strength: float, unit: timedelta = timedelta(days=1)) -> float:
    """Retention of MemoryBank (Zhong et al. 2024): R = e^(−t/S), with t in days since the last
    recall and S starting at 1 and growing by 1 with each recall. (Their released code has
    e^(−t·S/5), which makes strong memories fade faster.)"""
    return exp(-max(elapsed / unit, 0.0) / strength)


def recency(*, elapsed: timedelta, decay: float = 0.995) -> float:
    """Recency of Generative Agents (Park et al. 2023): exponential decay per hour since the last
    access."""
    return float(decay ** max(elapsed / timedelta(hours=1), 0.0))
