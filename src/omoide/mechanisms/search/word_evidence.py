"""The evidence of words: BM25 of each turn, of its neighbours and of its session.

It works on the places where a term of the query occurs, of all terms at once: a call of numpy costs
more than its work on a few places, and a loop over the terms would make ten times as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from omoide.mechanisms.search.table_shape import K1, KERNEL, SESSION_K1, SHIFTS, shape_of
from omoide.ports.store import Postings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.mechanisms.search.question import ParsedQuery
    from omoide.mechanisms.search.table_shape import TableShape
    from omoide.ports.store import SearchData

    Floats = NDArray[np.float32]

MOST_CELLS = 500_000
"""Turns times terms up to which terms are counted at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordEvidence:
    """What the words of a query tell about each turn."""

    words: Floats
    """BM25 of each turn."""
    near: Floats
    """What neighbours add to it."""
    session: Floats
    """BM25 of the turn's session, as a share of the query's maximum."""
    rarities: tuple[tuple[tuple[str, ...], float], ...]
    """Of the query's terms as they count; they add up to that maximum."""


def weigh_words(data: SearchData, question: ParsedQuery, strength: float) -> WordEvidence:
    """The evidence of the query's terms. Neighbours count by `strength`."""
    import numpy as np

    count, shape = len(data.table.ids), shape_of(data.table)
    rarities: list[tuple[tuple[str, ...], float]] = []
    found: list[tuple[float, Postings]] = []
    for terms in question.counted if count else ():
        postings = postings_of(data, terms)
        having = len(postings.rows) if postings else 0
        rarity = log(1 + (count - having + 0.5) / (having + 0.5))
        if having or not terms[0].startswith("~"):  # an unknown folded form says nothing
            rarities.append((terms, rarity))
        if postings is not None:
            found.append((rarity, postings))
    words, best = np.zeros(count, np.float32), np.zeros(count, np.float32)
    sessions = np.zeros(len(shape.size))
    step = max(MOST_CELLS // max(count, 1), 1)
    for first in range(0, len(found), step):
        gains = _Gains(found[first : first + step], shape)
        np.add.at(words, gains.rows, gains.gain)
        best = gains.best(strength, best)
        sessions = gains.sessions(sessions)
    possible = sum(rarity for _, rarity in rarities)
    shares = (sessions / (possible or 1)).astype(np.float32)
    return WordEvidence(
        words=words,
        near=np.maximum(best - words, 0),
        session=np.repeat(shares, shape.turns),
        rarities=tuple(rarities),
    )


def postings_of(data: SearchData, terms: Sequence[str]) -> Postings | None:
    """Where one of the terms occurs, and how often any of them does; None if none does."""
    import numpy as np

    found = [postings for term in terms if (postings := data.postings.get(term)) is not None]
    if len(found) < 2:
        return found[0] if found else None
    rows, place = np.unique(np.concatenate([p.rows for p in found]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([p.counts for p in found]))
    return Postings(rows=rows, counts=counts.astype(found[0].counts.dtype))


class _Gains:
    """All places where one of some terms occurs, and what it adds to the score there."""

    def __init__(self, found: Sequence[tuple[float, Postings]], shape: TableShape) -> None:
        import numpy as np

        sizes = [len(postings.rows) for _, postings in found]
        self._shape = shape
        self._rarity = np.array([rarity for rarity, _ in found])
        self._term = np.repeat(np.arange(len(found)), sizes)
        self.rows = np.concatenate([postings.rows for _, postings in found])
        self._times = times = np.concatenate([postings.counts for _, postings in found])
        scale = (self._rarity * (K1 + 1)).astype(np.float32)[self._term]
        self.gain: Floats = scale * times / (times + shape.norm[self.rows])

    def best(self, strength: float, before: Floats) -> Floats:
        """For each turn the sum over all terms of the best gain: its own in full, or a neighbour's
        in part. `before` is the sum over earlier terms."""
        import numpy as np

        # One row per term, with room for neighbours before the first turn and after the last.
        count, room = len(before), len(KERNEL)
        cells = np.zeros((1 + len(self._rarity), count + 2 * room), np.float32)
        cells[0, room : room + count] = before
        flat, here = cells.ravel(), self.rows + room
        own = (1 + self._term) * (count + 2 * room) + here
        flat[own] = self.gain
        shifts, session = np.array(SHIFTS)[:, None], self._shape.padded
        shares = np.array([[strength * KERNEL[abs(shift) - 1]] for shift in SHIFTS], np.float32)
        parts = shares * self.gain
        parts *= session.take(here + shifts) == session.take(here)
        np.maximum.at(flat, (own + shifts).ravel(), parts.ravel())
        best: Floats = np.add.reduce(cells[:, room : room + count], axis=0)
        return best

    def sessions(self, before: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each session. `before` is its score by earlier terms."""
        import numpy as np

        sessions, terms = len(before), len(self._rarity)
        places = self._term * sessions + self._shape.group.take(self.rows)
        inside = np.bincount(places, self._times, sessions * terms).reshape(terms, sessions)
        gain = (self._rarity * (SESSION_K1 + 1))[:, None] * inside
        gain /= inside + self._shape.session_norm
        total: NDArray[np.float64] = np.add.reduce((before, *gain), axis=0)
        return total
