"""BM25 (Robertson & Zaragoza 2009), written once so that every store ranks alike.

One departure: the average length is a constant. A running average would differ between stores
and from one moment to the next, and with it the order of the same items for the same words.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 25.0
"""Terms in a usual turn of a conversation."""
CEILING = K1 + 1
"""What `weight` stays below, however often a term occurs."""


def rarity(items: int, having: int) -> float:
    """How much finding a term says, if `having` of the owner's `items` contain it.

    >>> round(rarity(10, 1), 3), round(rarity(10, 10), 3)
    (1.992, 0.047)
    """
    return log(1 + (items - having + 0.5) / (having + 0.5))


@lru_cache(maxsize=8192)
def weight(frequency: int, length: int) -> float:
    """How much a term counts that occurs `frequency` times in an item of `length` terms.

    >>> weight(1, 25)
    1.0
    """
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / AVERAGE_LENGTH))
