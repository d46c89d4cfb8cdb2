"""The loss of Hou et al. 2024 (paper B), section 4: how far scores are from the right choice.

Each task has candidate events, one of them right. The scores of a model are scaled to [0, 1] by
min-max and go through a softmax; the loss is half the squared error to the one-hot truth. Because
the softmax is over values in [0, 1], the loss of four candidates lies between 0.18 and 0.53: even a
perfect model is not near 0. Two models are compared by a paired, two-tailed t-test over the tasks
(`omoide_bench.statistics.paired_t`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from omoide.mechanisms.baselines import generative_agents_scoring

if TYPE_CHECKING:
    from collections.abc import Sequence


def softmax(scores: Sequence[float]) -> list[float]:
    """Softmax of the scores.

    >>> softmax([1, 1])
    [0.5, 0.5]
    """
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def choice_loss(scores: Sequence[float], right: int = 0) -> float:
    """Half the squared error of the scores' softmax, after min-max, to the one-hot truth."""
    shares = softmax(generative_agents_scoring.min_max_scaled(scores))
    return 0.5 * sum((share - (index == right)) ** 2 for index, share in enumerate(shares))
