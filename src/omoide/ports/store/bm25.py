"""BM25 (Robertson & Zaragoza 2009), shared so that every store ranks the same way.

One departure: the average length is a constant. A running average would differ between stores
and over time, and so would the order of the same items for the same query.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 25.0
"""Terms in a typical turn of a conversation."""
CEILING = K1 + 1
"""Upper bound of `weight`, however often a term occurs."""


def rarity(items: int, having: int) -> float:
    """Inverse document frequency of a term that `having` of the owner's `items` contain.

    >>> round(rarity(10, 1), 3), round(rarity(10, 10), 3)
    (1.992, 0.047)
    """
    return log(1 + (items - having + 0.5) / (having + 0.5))


@lru_cache(maxsize=8192)
def weight(frequency: int, length: int) -> float:
    """Weight of a term that occurs `frequency` times in an item of `length` terms.

    >>> weight(1, 25)
    1.0
    """
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / AVERAGE_LENGTH))
