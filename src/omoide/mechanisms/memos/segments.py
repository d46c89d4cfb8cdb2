"""Topic segmentation of a dialogue without a model.

Kernel change-point detection: the turns are split so that each segment is as similar within as
possible, with a penalty for every cut (exact, by dynamic programming over the similarity matrix).
The similarity of two turns is the cosine of their vectors plus their weighted shared words. Each
turn is blurred with its neighbours, so that "Yes, on Sunday." belongs to what it answers. Without
an embedder only the words count. `benchmarks/segmentation.py` chose the numbers and compares with
TextTiling (Hearst 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.claims.overlap import rarity
from omoide.language import content_terms
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import Turn
    from omoide.ports import Embedder, Vectors

    Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SegmentationSettings:
    """The penalty of a cut, and how turns are compared."""

    price: float
    """Penalty of one cut, in units of the dissimilarity of a turn and its segment."""
    words: float
    """Weight of shared words relative to the cosine."""
    blur: float
    """Weight of each neighbour relative to the turn itself."""
    shortest: int = 2
    """Minimum number of turns in a segment."""
    longest: int = 40
    """Maximum number of turns in a segment: a memo must stay readable."""


WITH_VECTORS = {"use-multilingual": SegmentationSettings(price=2.6, words=0.25, blur=0.5)}
"""By name of the embedder's space, since the scale of cosines differs between embedders."""
BY_WORDS = SegmentationSettings(price=2.0, words=1.0, blur=0.25)
"""Used without an embedder, or with one that was not measured."""


async def segments(
    turns: Sequence[Turn], *, embedder: Embedder | None
) -> tuple[tuple[Turn, ...], ...]:
    """Split the turns into segments of one topic each, in order, without leaving any out."""
    if len(turns) < 4:
        return (tuple(turns),) if turns else ()
    texts = [spoken(turn) for turn in turns]
    measured = WITH_VECTORS.get(embedder.space.name) if embedder else None
    vectors = await embedder.embed(texts) if embedder is not None and measured else None
    chosen = measured or BY_WORDS
    split: list[tuple[Turn, ...]] = []
    for start in range(0, len(turns), WINDOW):
        part = slice(start, start + WINDOW)
        ends = boundaries(
            texts[part], vectors=None if vectors is None else vectors[part], cuts=chosen
        )
        edges = [0, *ends, len(texts[part])]
        split += [tuple(turns[start + a : start + b]) for a, b in pairwise(edges)]
    return tuple(split)


WINDOW = 400
"""Number of turns processed together: the cost is quadratic in it."""


def boundaries(
    texts: Sequence[str], *, vectors: Vectors | None, cuts: SegmentationSettings
) -> list[int]:
    """The indices, other than 0, at which a segment begins."""
    if len(texts) < 2 * cuts.shortest:
        return []
    alike = _similarity(texts, vectors, cuts)
    return _cheapest(alike, cuts)


def _similarity(
    texts: Sequence[str], vectors: Vectors | None, cuts: SegmentationSettings
) -> Matrix:
    """The similarity of every two turns; the sum of word and vector similarity."""
    import numpy as np

    turn_terms = [content_terms(text) for text in texts]
    weight = rarity(turn_terms)
    column = {term: i for i, term in enumerate(weight)}
    count = np.zeros((len(texts), max(len(column), 1)))
    for row, its_terms in enumerate(turn_terms):
        for term in its_terms:
            count[row, column[term]] = weight[term]
    rows = [_blurred(count, cuts.blur)]
    if vectors is not None:
        rows = [
            _blurred(vectors.astype(np.float64), cuts.blur),
            rows[0] * cuts.words**0.5,
        ]
    alike: Matrix = sum((row @ row.T for row in rows), start=np.zeros((len(texts),) * 2))
    return alike


def _blurred(rows: Matrix, blur: float) -> Matrix:
    """Each row mixed with a share of its neighbours, normalised to length 1."""
    import numpy as np

    mixed = rows.copy()
    mixed[1:] += blur * rows[:-1]
    mixed[:-1] += blur * rows[1:]
    unit: Matrix = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-9)
    return unit


def _cheapest(alike: Matrix, cuts: SegmentationSettings) -> list[int]:
    """The cuts of least cost: the dissimilarity within the segments plus the price of each cut."""
    import numpy as np

    size = len(alike)
    total = np.zeros((size + 1, size + 1))
    total[1:, 1:] = alike.cumsum(0).cumsum(1)
    own = np.concatenate([[0.0], np.cumsum(np.diag(alike))])
    best = np.full(size + 1, np.inf)
    best[0] = -cuts.price
    previous = np.zeros(size + 1, dtype=int)
    for end in range(cuts.shortest, size + 1):
        starts = np.arange(max(0, end - cuts.longest), end - cuts.shortest + 1)
        block = total[end, end] - total[starts, end] - total[end, starts] + total[starts, starts]
        cost = best[starts] + own[end] - own[starts] - block / (end - starts) + cuts.price
        least = int(np.argmin(cost))
        best[end], previous[end] = cost[least], starts[least]
    ends: list[int] = []
    end = size
    while (end := int(previous[end])) > 0:
        ends.append(end)
    return ends[::-1]
