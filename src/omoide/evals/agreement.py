"""How far two labellers agree: a machine and a person, or two people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(frozen=True, kw_only=True)
class Found:
    """How well one label is found."""

    precision: float
    recall: float
    count: int
    """How often the second labeller gave it."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Of the first labeller with the second, who is held to be right."""

    accuracy: float
    kappa: float
    """Cohen's: 0 for what chance would give, 1 for full agreement."""
    count: int
    labels: dict[str, Found]


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """Accuracy, Cohen's kappa, and precision and recall of each label.

    >>> agreement(["a", "a", "b", "b"], ["a", "b", "b", "b"]).kappa
    0.5
    """
    if not first or len(first) != len(second):
        raise ValueError(f"the same items were wanted, got {len(first)} and {len(second)}")
    n = len(first)
    pairs = Counter(zip(first, second, strict=True))
    ours, theirs = Counter(first), Counter(second)
    names = sorted({*ours, *theirs}, key=str)
    accuracy = sum(pairs[name, name] for name in names) / n
    chance = sum(ours[name] * theirs[name] for name in names) / n**2
    return Agreement(
        accuracy=accuracy,
        kappa=(accuracy - chance) / (1 - chance) if chance < 1 else 1.0,
        count=n,
        labels={
            str(name): Found(
                precision=pairs[name, name] / ours[name] if ours[name] else 0.0,
                recall=pairs[name, name] / theirs[name] if theirs[name] else 0.0,
                count=theirs[name],
            )
            for name in names
        },
    )


def auc(good: Sequence[float], bad: Sequence[float]) -> float:
    """How often a good one is above a bad one, ties counted half: 0.5 is chance.

    >>> auc([1, 2], [0, 1])
    0.875
    """
    import numpy as np

    ordered = np.sort(np.array(bad))
    below = np.searchsorted(ordered, good, "left") + np.searchsorted(ordered, good, "right")
    return float(below.sum() / (2 * len(good) * len(bad)))
