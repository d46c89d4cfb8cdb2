"""Where one topic ends and the next begins, found without a model.

Kernel change-point detection: the turns are cut where that makes each stretch most alike within,
a price being paid for every cut (exact, by dynamic programming over the matrix of likenesses).
Two turns are alike by the cosine of their vectors and by the weighted words they share; each is
seen together with its neighbours, so that "Yes, on Sunday." belongs to what it answers. Without an
embedder the words decide alone. `benchmarks/segmentation.py` chose the numbers and compares with
TextTiling (Hearst 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide.memory.overlap import rarity
from omoide.memory.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import Turn
    from omoide.ports import Embedder, Vectors

    Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """What a cut costs and how turns are compared."""

    price: float
    """Of one cut, in units of the unlikeness of a turn with its stretch."""
    words: float
    """Weight of shared words beside the cosine."""
    blur: float
    """Weight of each neighbour beside a turn itself."""
    shortest: int = 2
    """Fewest turns of a stretch."""
    longest: int = 40
    """Most turns of a stretch: a memo must stay readable."""


WITH_VECTORS = {"use-multilingual": Cuts(price=2.6, words=0.25, blur=0.5)}
"""By the name of an embedder's space: what a cosine is worth differs between embedders."""
BY_WORDS = Cuts(price=2.0, words=1.0, blur=0.25)
"""Where there is no embedder, or none that was measured."""


async def segments(
    turns: Sequence[Turn], *, embedder: Embedder | None, cuts: Cuts | None = None
) -> tuple[tuple[Turn, ...], ...]:
    """The turns in stretches of one topic each, in order, nothing left out."""
    if len(turns) < 4:
        return (tuple(turns),) if turns else ()
    texts = [spoken(turn) for turn in turns]
    measured = cuts or (WITH_VECTORS.get(embedder.space.name) if embedder else None)
    vectors = await embedder.embed(texts) if embedder is not None and measured else None
    chosen = measured or BY_WORDS
    found: list[tuple[Turn, ...]] = []
    for start in range(0, len(turns), WINDOW):
        part = slice(start, start + WINDOW)
        ends = boundaries(
            texts[part], vectors=None if vectors is None else vectors[part], cuts=chosen
        )
        edges = [0, *ends, len(texts[part])]
        found += [tuple(turns[start + a : start + b]) for a, b in pairwise(edges)]
    return tuple(found)


WINDOW = 400
"""Turns that are looked at together: the work grows with its square."""


def boundaries(texts: Sequence[str], *, vectors: Vectors | None, cuts: Cuts) -> list[int]:
    """The places, other than the first, at which a stretch begins."""
    if len(texts) < 2 * cuts.shortest:
        return []
    alike = _likeness(texts, vectors, cuts)
    return _cheapest(alike, cuts)


def _likeness(texts: Sequence[str], vectors: Vectors | None, cuts: Cuts) -> Matrix:
    """How alike any two turns are, 1 for a turn with itself."""
    import numpy as np

    heard = [content_terms(text) for text in texts]
    weight = rarity(heard)
    place = {term: i for i, term in enumerate(weight)}
    count = np.zeros((len(texts), max(len(place), 1)))
    for row, its_terms in enumerate(heard):
        for term in its_terms:
            count[row, place[term]] = weight[term]
    rows = [_blurred(count, cuts.blur)]
    if vectors is not None:
        rows = [
            _blurred(vectors.astype(np.float64), cuts.blur),
            rows[0] * cuts.words**0.5,
        ]
    alike: Matrix = sum((row @ row.T for row in rows), start=np.zeros((len(texts),) * 2))
    return alike


def _blurred(rows: Matrix, blur: float) -> Matrix:
    """Each row with a share of its neighbours, at length 1."""
    import numpy as np

    mixed = rows.copy()
    mixed[1:] += blur * rows[:-1]
    mixed[:-1] += blur * rows[1:]
    unit: Matrix = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-9)
    return unit


def _cheapest(alike: Matrix, cuts: Cuts) -> list[int]:
    """The cuts of least cost: unlikeness within the stretches plus the price of each."""
    import numpy as np

    size = len(alike)
    total = np.zeros((size + 1, size + 1))
    total[1:, 1:] = alike.cumsum(0).cumsum(1)
    own = np.concatenate([[0.0], np.cumsum(np.diag(alike))])
    best = np.full(size + 1, np.inf)
    best[0] = -cuts.price
    came = np.zeros(size + 1, dtype=int)
    for end in range(cuts.shortest, size + 1):
        starts = np.arange(max(0, end - cuts.longest), end - cuts.shortest + 1)
        block = total[end, end] - total[starts, end] - total[end, starts] + total[starts, starts]
        cost = best[starts] + own[end] - own[starts] - block / (end - starts) + cuts.price
        least = int(np.argmin(cost))
        best[end], came[end] = cost[least], starts[least]
    ends: list[int] = []
    end = size
    while (end := int(came[end])) > 0:
        ends.append(end)
    return ends[::-1]
