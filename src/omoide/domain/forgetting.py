"""How memories fade and how recall strengthens them: the formulas of three papers, as functions.

Time is always given as elapsed time over an explicit unit, since the papers are vague about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import exp, expm1, tanh

UNIT = timedelta(seconds=1.1e7)
"""The unit of time that reproduces Table 1 of Hou et al. 2024, who never state theirs: any from
1.01e7 to 1.21e7 s does (117 to 140 days), and no day, week or month."""
THRESHOLD = 0.86
"""k of Hou et al. 2024: an event comes to mind when its recall probability is above it."""


@dataclass(frozen=True, kw_only=True)
class Odds:
    """What decided whether an event came to mind, in the letters of Hou et al. 2024, eq. 8."""

    r: float
    """Relevance."""
    t: float
    """Days since it was told or last came to mind."""
    g: float
    """Consolidation."""
    p: float
    """Probability."""
    k: float
    """The threshold p has to pass."""


def recall_probability(
    *, relevance: float, elapsed: timedelta, consolidation: float, unit: timedelta = UNIT
) -> float:
    """Chance that an event comes to mind: Hou et al. 2024, eq. 8.

    p_n(t) = (1 − exp(−r·e^(−t/g_n))) / (1 − e^(−1)), which is 1 at r = 1, t = 0.
    A clock that went back counts as no time at all.
    """
    t = max(elapsed / unit, 0.0)
    vividness = max(relevance, 0.0) * exp(-t / consolidation)
    return expm1(-vividness) / expm1(-1)


def consolidated(consolidation: float, *, elapsed: timedelta, unit: timedelta = UNIT) -> float:
    """g_n after a recall that came `elapsed` after the one before: Hou et al. 2024, eq. 9.

    g_n = g_(n−1) + S(t), S(t) = (1 − e^(−t)) / (1 + e^(−t)), from g_0 = 1. A recall after a long
    pause strengthens more than one right after another, and none by as much as 1.
    """
    return consolidation + tanh(max(elapsed / unit, 0.0) / 2)


def retention(*, elapsed: timedelta, strength: float, unit: timedelta = timedelta(days=1)) -> float:
    """MemoryBank (Zhong et al. 2024): R = e^(−t/S), t in days since the last recall, S from 1 and
    one more at each recall. (Their released code has e^(−t·S/5), by which strong memories fade
    faster.)"""
    return exp(-max(elapsed / unit, 0.0) / strength)


def recency(*, elapsed: timedelta, decay: float = 0.995) -> float:
    """Generative Agents (Park et al. 2023): exponential decay over hours since the last access."""
    return float(decay ** max(elapsed / timedelta(hours=1), 0.0))
