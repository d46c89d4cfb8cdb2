"""Agreement of two labellers: a machine and a person, or two people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(frozen=True, kw_only=True)
class LabelAgreement:
    """Precision and recall of one label."""

    precision: float
    recall: float
    count: int
    """How often the second labeller gave it."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of the first labeller with the second, who is taken as right."""

    accuracy: float
    kappa: float
    """Cohen's kappa: 0 is chance, 1 is full agreement."""
    count: int
    labels: dict[str, LabelAgreement]


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """Accuracy, Cohen's kappa, and precision and recall of each label.

    >>> agreement(["a", "a", "b", "b"], ["a", "b", "b", "b"]).kappa
    0.5
    """
    if not first or len(first) != len(second):
        raise ValueError(
            f"both labellers must have labelled the same items, got {len(first)} and {len(second)}"
        )
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
            str(name): LabelAgreement(
                precision=pairs[name, name] / ours[name] if ours[name] else 0.0,
                recall=pairs[name, name] / theirs[name] if theirs[name] else 0.0,
                count=theirs[name],
            )
            for name in names
        },
    )
