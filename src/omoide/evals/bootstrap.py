"""Means with intervals, by resampling the questions they are over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 1000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean and the interval that holds 95 % of the means of resampled questions."""

    mean: float
    low: float
    high: float
    count: int


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """The mean of values, one a question, by the percentile bootstrap.

    >>> estimate([1.0, 1.0]).low
    1.0
    """
    import numpy as np

    if not values:
        raise ValueError("a mean of no questions was wanted")
    given = np.array(values)
    dice = np.random.default_rng(seed)
    means = given[dice.integers(0, len(given), (ROUNDS, len(given)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(mean=float(given.mean()), low=float(low), high=float(high), count=len(given))
