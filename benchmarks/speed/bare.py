"""The baseline of the comparison: bm25s and numpy in memory, fused by rank, and nothing else.

    python bare.py TURNS

No file, no sessions, no users: the cost of the two searches alone. bm25s cannot add a
turn, so recording one means indexing all of them again.
"""

from __future__ import annotations

import sys

import numpy as np
from corpus import DIMENSIONS, lines, queries, vectors
from measure import Stopwatch, report, resident_mb

DEPTH, FUSION, BEST, QUERIES = 50, 60, 10, 60


def main() -> None:
    """Index and search."""
    import bm25s

    turns = int(sys.argv[1])
    texts = [line.text for line in lines(0, turns)]
    rows = np.empty((turns, DIMENSIONS), np.float32)
    for first in range(0, turns, 1000):
        rows[first : first + 1000] = vectors(first, min(1000, turns - first))
    indexing, again = Stopwatch(), Stopwatch()
    with indexing:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    for i, query in enumerate(queries(QUERIES)):
        vector = vectors(i, 1)[0]
        with again:
            words = bm25s.tokenize([query], show_progress=False)
            by_words = index.retrieve(words, k=DEPTH, show_progress=False).documents[0]
            cosines = rows @ vector
            by_meaning = np.argpartition(cosines, turns - DEPTH)[-DEPTH:]
            by_meaning = by_meaning[np.argsort(-cosines[by_meaning])]
            scores: dict[int, float] = {}
            for ranking in (by_words, by_meaning):
                for rank, place in enumerate(ranking.tolist()):
                    scores[place] = scores.get(place, 0.0) + 1 / (FUSION + rank)
            best = sorted(scores, key=lambda place: -scores[place])[:BEST]
            found = [texts[place] for place in best]
    assert len(found) == BEST
    report(
        {
            "recall": again.figures(),
            "index_cpu": indexing.cpu[0] / turns,
            "resident_mb": resident_mb(),
        }
    )


if __name__ == "__main__":
    main()
