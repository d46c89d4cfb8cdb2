"""The turns, vectors and queries that every system in the comparison gets.

Sentences of words drawn by Zipf's law, in sessions of twenty turns, one turn in eleven naming a
day; random unit vectors instead of an embedder's. As with the multilingual embedder, 128 directions
hold four fifths of their squared length (80 %; of LoCoMo, MemDaily and BEAM 79 %). Queries have
five words of medium rarity and a frequent one. Needs only numpy, so that any interpreter can load
it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

START = datetime(2020, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=3650)
DIMENSIONS = 512
BATCH = 1000


def _vocabulary() -> list[str]:
    """Words by decreasing frequency."""
    dice = random.Random(1)  # noqa: S311 - reproducible, no secret
    return ["".join(dice.choices("bcdfglmnprst", k=3)) + f"a{i:x}" for i in range(20_000)]


WORDS = _vocabulary()
_LENGTHS = (np.arange(DIMENSIONS, dtype=np.float32) + 16) ** np.float32(-0.75)
_UP_TO = np.cumsum(1 / (np.arange(len(WORDS)) + 3))


@dataclass(frozen=True, kw_only=True)
class Line:
    """One turn to record."""

    id: str
    user: bool
    """Whether the user says it, or the assistant."""
    text: str
    time: datetime


def lines(first: int, count: int) -> list[Line]:
    """The turns from number `first` on, the same every time."""
    dice = np.random.default_rng(first + 2)
    lengths = dice.integers(4, 37, count)
    drawn = np.searchsorted(_UP_TO, dice.random(int(lengths.sum())) * _UP_TO[-1]).tolist()
    found, at = [], 0
    for i, length in enumerate(lengths.tolist(), first):
        words = [WORDS[w] for w in drawn[at : at + length]]
        at += length
        found.append(
            Line(
                id=f"{i:032x}",
                user=i % 2 == 0,
                text=f"{' '.join(words)}{' yesterday' if i % 11 == 0 else ''}.",
                time=START + timedelta(hours=2 * (i // 20), minutes=i % 20),
            )
        )
    return found


def vectors(seed: int, count: int) -> NDArray[np.float32]:
    """Random unit vectors."""
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), dtype=np.float32)
    rows *= _LENGTHS
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def queries(count: int) -> list[str]:
    """Distinct questions."""
    dice = random.Random(4)  # noqa: S311
    return [
        f"What about {' '.join(dice.sample(WORDS[30:3000], k=5))} yesterday?" for _ in range(count)
    ]
