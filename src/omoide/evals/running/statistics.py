"""Means with intervals and paired tests, by resampling whole dialogues.

Items of one dialogue share a memory, so they are not independent: the dialogues are drawn, with
all their items. Where there are fewer than `FEW` dialogues the items are drawn instead, and the
result says so: such an interval is about the questions of these dialogues, not about others.
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
FEW = 8


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float
    count: int
    clusters: int
    over: str
    """`dialogues` or `items`: what was resampled."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much higher one method is than another on the items both have."""

    difference: float
    low: float
    high: float
    p: float
    """Of a two-sided permutation test that flips the sign of whole dialogues (or items)."""
    count: int
    clusters: int
    over: str


def mean(values: Sequence[float], clusters: Sequence[str], *, seed: int = 0) -> Mean:
    """The mean of the values, by the percentile bootstrap over their clusters."""
    import numpy as np

    sums, counts, over = _sums(values, clusters)
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, len(sums), (ROUNDS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Mean(
        mean=float(sums.sum() / counts.sum()),
        low=float(low),
        high=float(high),
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
    """`one` less `other` by item, or None if they share no item."""
    import numpy as np

    shared = [item for item in one if item in other]
    if not shared:
        return None
    gaps = [one[item] - other[item] for item in shared]
    sums, counts, over = _sums(gaps, [clusters[item] for item in shared])
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, len(sums), (ROUNDS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    signs = dice.choice(np.array([-1.0, 1.0]), size=(ROUNDS * 5, len(sums)))
    flipped = np.abs(signs @ sums)
    as_far = int((flipped >= abs(sums.sum()) - 1e-12).sum())
    return Difference(
        difference=float(sums.sum() / counts.sum()),
        low=float(low),
        high=float(high),
        p=(as_far + 1) / (len(flipped) + 1),
        count=len(shared),
        clusters=len({clusters[item] for item in shared}),
        over=over,
    )


def holm(chances: Sequence[float]) -> list[float]:
    """Each p for a family of tests, in the order given: below 0.05 for all of a family, the chance
    that even one of them is a fluke is below 5 % (Holm 1979).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    held, highest = [1.0] * len(chances), 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        highest = max(highest, min(1.0, chances[place] * (len(chances) - rank)))
        held[place] = highest
    return held


def _sums(values: Sequence[float], clusters: Sequence[str]) -> tuple[Numbers, Numbers, str]:
    """Sum and count of each unit that is resampled."""
    import numpy as np

    if not values:
        raise ValueError("a mean of no items was wanted")
    if len(set(clusters)) < FEW:
        return np.array(values, dtype=float), np.ones(len(values)), "items"
    places = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    sums, counts = np.zeros(len(places)), np.zeros(len(places))
    for value, cluster in zip(values, clusters, strict=True):
        sums[places[cluster]] += value
        counts[places[cluster]] += 1
    return sums, counts, "dialogues"
