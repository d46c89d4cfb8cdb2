"""Means with intervals, and paired tests of two methods, with scipy.

Items of one dialogue share a memory, so they are not independent: whole dialogues are resampled,
with all their items. With fewer than `FEW` dialogues, items are resampled instead, and the result
says so: such an interval applies to the questions of these dialogues only.

Two things are our own. The sign-flip test is three lines of numpy, equivalent to
`scipy.stats.permutation_test(permutation_type="samples")` (a test compares them), because scipy
takes 14 times as long and a run makes thousands of tests. Holm's correction is not in scipy.
scipy is imported lazily: it takes most of a second, and reports do not need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ROUNDS = 2000
FLIPS = 10_000
FEW = 8
_AT_ONCE = 2_000_000
"""Most numbers in memory during a resampling."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean with its 95 % interval, from resampled questions or, for a share, by Wilson."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, kw_only=True)
class Mean(Estimate):
    """A mean with its interval from resampled dialogues or items."""

    clusters: int
    over: str
    """`dialogues` or `items`: what was resampled."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of two methods on the items that both have."""

    difference: float
    low: float
    high: float
    p: float
    """p of a two-sided permutation test that flips the sign of whole dialogues (or items)."""
    count: int
    clusters: int
    over: str


@dataclass(frozen=True, kw_only=True)
class PairedT:
    """Student's paired t-test, the first method minus the second."""

    mean: float
    low: float
    high: float
    p: float
    """Probability of a difference at least this large if the methods were equal."""
    t: float
    count: int


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """The mean of values, one per question, with a percentile bootstrap.

    >>> estimate([1.0, 1.0]).low
    1.0
    """
    import numpy as np

    if not values:
        raise ValueError("a mean needs at least one value, got none")
    sums = np.array(values, dtype=float)
    dice = np.random.default_rng(seed)
    low, high = _interval(sums, np.ones(len(sums)), dice=dice, rounds=1000)
    return Estimate(mean=float(sums.mean()), low=low, high=high, count=len(sums))


def mean(values: Sequence[float], clusters: Sequence[str], *, seed: int = 0) -> Mean:
    """The mean of values, with a percentile bootstrap over their clusters."""
    import numpy as np

    sums, counts, over = _sums(values, clusters)
    low, high = _interval(sums, counts, dice=np.random.default_rng(seed), rounds=ROUNDS)
    return Mean(
        mean=float(sums.sum() / counts.sum()),
        low=low,
        high=high,
        count=len(values),
        clusters=len(set(clusters)),
        over=over,
    )


def difference(
    one: Mapping[str, float],
    other: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> Difference | None:
    """`one` minus `other`, paired by item; None if they share no item."""
    shared = [item for item in one if item in other]
    if not shared:
        return None
    import numpy as np

    dice = np.random.default_rng(seed)
    gaps = [one[item] - other[item] for item in shared]
    sums, counts, over = _sums(gaps, [clusters[item] for item in shared])
    low, high = _interval(sums, counts, dice=dice, rounds=ROUNDS)
    return Difference(
        difference=float(sums.sum() / counts.sum()),
        low=low,
        high=high,
        p=sign_flip(sums, dice),
        count=len(shared),
        clusters=len({clusters[item] for item in shared}),
        over=over,
    )


def sign_flip(gaps: Numbers, dice: np.random.Generator) -> float:
    """Two-sided p of the sum of paired differences under random sign flips. The observed signs
    count as one of the draws."""
    import numpy as np

    signs = dice.choice(np.array([-1.0, 1.0]), size=(FLIPS, len(gaps)))
    as_far = int((np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-12).sum())
    return (as_far + 1) / (FLIPS + 1)


def paired_t(one: Sequence[float], other: Sequence[float]) -> PairedT:
    """The paired, two-sided t-test of paper B, with the interval of the difference. If all
    differences are equal, p is 0, or 1 if they are 0."""
    import numpy as np
    from scipy import stats

    if not one or len(one) != len(other):
        raise ValueError(
            f"both methods must have the same questions, got {len(one)} and {len(other)}"
        )
    gaps = np.array(one, dtype=float) - np.array(other, dtype=float)
    middle, n = float(gaps.mean()), len(gaps)
    if n == 1 or not np.ptp(gaps):
        sure = n > 1 and middle != 0
        t = float(np.copysign(np.inf, middle)) if sure else 0.0
        return PairedT(mean=middle, low=middle, high=middle, p=float(not sure), t=t, count=n)
    test = stats.ttest_rel(one, other)
    low, high = test.confidence_interval(0.95)
    return PairedT(
        mean=middle,
        low=float(low),
        high=float(high),
        p=float(test.pvalue),
        t=float(test.statistic),
        count=n,
    )


def wilson(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, in percent; 0 to 100 if the count is 0.

    >>> [round(x, 1) for x in wilson(0, 70)]
    [0.0, 5.2]
    """
    from scipy import stats

    if not count:
        return 0.0, 100.0
    low, high = stats.binomtest(right, count).proportion_ci(0.95, method="wilson")
    return 100 * float(low), 100 * float(high)


def share(cases: Sequence[bool]) -> Estimate:
    """The share of true cases, with Wilson's interval: unlike a bootstrap it has a width even if
    all cases are alike.

    >>> round(share([True] * 20).low, 2)
    0.84
    """
    if not cases:
        raise ValueError("a share needs at least one case, got none")
    low, high = wilson(sum(cases), len(cases))
    return Estimate(mean=sum(cases) / len(cases), low=low / 100, high=high / 100, count=len(cases))


def auc(good: Sequence[float], bad: Sequence[float]) -> float:
    """How often a good value is above a bad one, ties counted half: 0.5 is chance. It is Mann and
    Whitney's U as a share.

    >>> auc([1, 2], [0, 1])
    0.875
    """
    from scipy import stats

    test = stats.mannwhitneyu(good, bad, method="asymptotic")
    return float(test.statistic) / (len(good) * len(bad))


def holm(chances: Sequence[float]) -> list[float]:
    """Corrected p of each test in a family, in the given order (Holm 1979). If corrected values
    below 0.05 are accepted, the chance of even one false positive is below 5 %.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [1.0] * len(chances), 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        highest = max(highest, min(1.0, chances[index] * (len(chances) - rank)))
        corrected[index] = highest
    return corrected


def _interval(
    sums: Numbers, counts: Numbers, *, dice: np.random.Generator, rounds: int
) -> tuple[float, float]:
    """The percentile interval of the mean, resampling units of several items each."""
    from scipy import stats

    if len(sums) == 1 or not sums.any():  # every resample would have the same mean
        value = float(sums[0] / counts[0])
        return value, value
    interval = stats.bootstrap(
        (sums, counts),
        lambda s, c, axis: s.sum(axis=axis) / c.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=rounds,
        batch=max(1, _AT_ONCE // len(sums)),
        method="percentile",
        rng=dice,
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _sums(values: Sequence[float], clusters: Sequence[str]) -> tuple[Numbers, Numbers, str]:
    """Sum and count of each resampled unit, and the kind of unit."""
    import numpy as np

    if not values:
        raise ValueError("a mean needs at least one item, got none")
    if len(set(clusters)) < FEW:
        return np.array(values, dtype=float), np.ones(len(values)), "items"
    names = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    places = [names[cluster] for cluster in clusters]
    sums = np.bincount(places, weights=values).astype(float)
    return sums, np.bincount(places).astype(float), "dialogues"
