"""A short copy of many vectors, from which nearly every cosine can be told.

The product of a query with all vectors of a large owner takes as long as the memory takes to read
them. So each vector is also kept as its 128 numbers along the directions in which the owner's
vectors are longest, which is read in a quarter of the time. With the multilingual embedder these
tell a cosine within a fifth of the standard deviation of all. What is not shortened yet is compared
as it is, so that a new vector needs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FROM = 50_000
"""Vectors from which they are shortened. The cosines of fewer are exact: to correct the estimates
takes 2 ms, which 20,000 vectors would gain."""
KEPT = 128
"""Numbers that are kept of each vector, if it has at least twice as many."""
AT_ONCE = 16384
"""Vectors that are shortened for one search, in about 25 ms, so that none waits for all of them."""
ENOUGH = 0.7
"""The share of the vectors' squared length that must be kept. Vectors without such directions are
left as they are."""
_SAMPLE = 8192
_ROUNDS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorSketch:
    """The first rows of an array of vectors, shortened. The array only grows, and so does this."""

    directions: Floats
    """The directions, as orthonormal columns; no column if the vectors have none that would do."""
    room: Floats
    """Space for shortened rows, of which the first `used` are valid."""
    used: int = 0

    def products(self, rows: Floats, query: Floats) -> Floats:
        """Nearly the product of each row with the query."""
        import numpy as np

        found = np.empty(len(rows), np.float32)
        np.matmul(self.room[: self.used], query @ self.directions, out=found[: self.used])
        np.matmul(rows[self.used :], query, out=found[self.used :])
        return found

    def extended(self, rows: Floats) -> VectorSketch:
        """With up to `AT_ONCE` more of the rows. Searches that use this one may go on."""
        import numpy as np

        end = min(self.used + AT_ONCE, len(rows))
        if end == self.used or not self.directions.size:
            return self
        room = self.room
        if len(room) < end:
            room = np.empty((len(rows) + len(rows) // 8, KEPT), np.float32)
            room[: self.used] = self.room[: self.used]
        np.matmul(rows[self.used : end], self.directions, out=room[self.used : end])
        return VectorSketch(directions=self.directions, room=room, used=end)


def new_sketch(rows: Floats) -> VectorSketch | None:
    """A sketch for the rows, which has none of them yet; None if they are few or short."""
    import numpy as np

    count, dimensions = rows.shape
    if count < FROM or dimensions < 2 * KEPT:
        return None
    sample = rows[:: max(count // _SAMPLE, 1)][:_SAMPLE]
    found_by, others = sample[::2], sample[1::2]
    directions = _longest(found_by)
    kept = np.square(others @ directions).sum(dtype=np.float64)
    if kept < ENOUGH * np.square(others).sum(dtype=np.float64):
        directions = directions[:, :0]
    return VectorSketch(directions=directions, room=np.empty((0, KEPT), np.float32))


def _longest(sample: Floats) -> Floats:
    """The directions along which the rows are longest, by subspace iteration: with long rows that
    is a fraction of the work of finding all directions."""
    import numpy as np

    directions = sample[:KEPT].T
    for _ in range(_ROUNDS):
        directions, _ = np.linalg.qr(sample.T @ (sample @ directions))
    return np.ascontiguousarray(directions)
