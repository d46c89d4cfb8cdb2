"""Means with intervals, and whether two methods differ on the same questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
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


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The mean difference of two methods on the same questions, the first less the second."""

    test: str
    mean: float
    low: float
    high: float
    p: float
    """How likely a difference at least so large would be if the methods were alike."""
    count: int
    statistic: float | None = None
    """t, for the t-test."""


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


def paired_bootstrap(
    one: Sequence[float], other: Sequence[float], *, rounds: int = 10_000, seed: int = 0
) -> Compared:
    """Resamples questions, not methods: the interval is of the mean difference, and p is twice the
    share of resamples in which the better method is not better (at least one in `rounds`)."""
    import numpy as np

    gaps = np.array(_gaps(one, other))
    dice = np.random.default_rng(seed)
    means = np.concatenate(
        [
            gaps[dice.integers(0, len(gaps), (size, len(gaps)))].mean(axis=1)
            for size in _batches(rounds, len(gaps))
        ]
    )
    mean = float(gaps.mean())
    against = int((means <= 0).sum() if mean > 0 else (means >= 0).sum()) if mean else rounds
    low, high = np.quantile(means, [0.025, 0.975])
    return Compared(
        test="paired bootstrap",
        mean=mean,
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * max(against, 1) / rounds),
        count=len(gaps),
    )


def paired_permutation(
    one: Sequence[float], other: Sequence[float], *, rounds: int = 10_000, seed: int = 0
) -> Compared:
    """Flips the sign of each difference: exactly over all ways for up to 12 questions, else at
    random, where the way that was seen counts as one of the draws. Two-tailed. The interval is the
    paired bootstrap's, as a permutation has none."""
    import numpy as np

    gaps = np.array(_gaps(one, other))
    mean, n = float(gaps.mean()), len(gaps)
    least = abs(mean) * (1 - 1e-12)
    if n <= 12:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        p = float((np.abs(((1 - 2 * bits) * gaps).mean(axis=1)) >= least).mean())
    else:
        dice = np.random.default_rng(seed)
        extreme = sum(
            int((np.abs((dice.choice((-1.0, 1.0), (size, n)) * gaps).mean(axis=1)) >= least).sum())
            for size in _batches(rounds, n)
        )
        p = (extreme + 1) / (rounds + 1)
    around = paired_bootstrap(one, other, seed=seed)
    return Compared(
        test="paired permutation", mean=mean, low=around.low, high=around.high, p=p, count=n
    )


def paired_t(one: Sequence[float], other: Sequence[float]) -> Compared:
    """Student's paired, two-tailed t-test, as in paper B, with the interval of the difference."""
    gaps = _gaps(one, other)
    n, mean = len(gaps), fmean(gaps)
    error = stdev(gaps) / math.sqrt(n) if n > 1 else 0.0
    if error == 0:
        p = 1.0 if mean == 0 or n == 1 else 0.0
        statistic = 0.0 if mean == 0 or n == 1 else math.copysign(math.inf, mean)
        return Compared(
            test="paired t", mean=mean, low=mean, high=mean, p=p, count=n, statistic=statistic
        )
    t = mean / error
    half = t_quantile(0.975, n - 1) * error
    return Compared(
        test="paired t",
        mean=mean,
        low=mean - half,
        high=mean + half,
        p=t_tail(abs(t), n - 1),
        count=n,
        statistic=t,
    )


def _gaps(one: Sequence[float], other: Sequence[float]) -> list[float]:
    if not one or len(one) != len(other):
        raise ValueError(
            f"the same questions were wanted for both methods, got {len(one)} and {len(other)}"
        )
    return [a - b for a, b in zip(one, other, strict=True)]


def _batches(rounds: int, count: int) -> list[int]:
    """Rounds in pieces that together keep no more than some million numbers at a time."""
    size = max(1, 2_000_000 // count)
    return [min(size, rounds - start) for start in range(0, rounds, size)]


def t_tail(t: float, df: int) -> float:
    """Two-tailed probability of Student's t, by the regularised incomplete beta function."""
    return _beta(df / (df + t * t), df / 2, 0.5)


def t_quantile(share: float, df: int) -> float:
    """The t below which `share` of Student's distribution lies, by bisection."""
    low, high = 0.0, 200.0
    for _ in range(80):
        middle = (low + high) / 2
        if 1 - t_tail(middle, df) / 2 < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    total = d
    for m in range(1, 400):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            total *= c * d
        if abs(c * d - 1) < 1e-13:
            break
    return front * total / a
