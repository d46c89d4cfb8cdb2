"""Plain BM25 over the turns of a pool, for checking that a question finds its turn again.

Small and without language packs, so that it runs beside a GPU with numpy alone: words for scripts
with spaces, pairs of characters for the others.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

K1, B = 1.2, 0.75
_WORD = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+|[^\W_]+")
_DENSE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


def terms(text: str) -> list[str]:
    """Words, or pairs of characters where words are not set apart.

    >>> terms("I bake. 犬が好き")
    ['i', 'bake', '犬が', 'が好', '好き']
    """
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _DENSE.match(word) and len(word) > 1:
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


class Bm25:
    """The turns of one pool."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], np.float32)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._size = len(texts)
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
        places: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for term, times in count.items():
                places.setdefault(term, []).append((place, times))
        for term, found in places.items():
            rows = np.array([place for place, _ in found])
            often = np.array([n for _, n in found], np.float32)
            rarity = log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            self._postings[term] = rows, rarity * often * (K1 + 1) / (often + norm[rows])

    def scores(self, query: str) -> NDArray[np.float32]:
        """One number a turn."""
        total = np.zeros(self._size, np.float32)
        for term in set(terms(query)):
            if term in self._postings:
                rows, weights = self._postings[term]
                total[rows] += weights
        return total


def rank(scores: NDArray[np.float32], place: int) -> int:
    """How many turns score at least as high as the one at `place`, itself included.

    >>> rank(np.array([0.1, 0.9, 0.5], np.float32), 2)
    2
    """
    return int((scores >= scores[place]).sum())
