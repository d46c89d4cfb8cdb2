"""Where the turns of a table stand, by their positions in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_DENSE, _SPARE = 4, 100_000
"""An array by position has at most this many places for each turn, and this many in any case."""


class RowsByPosition:
    """The rows of positions; -1 for turns that are newer or gone. An array by position is fastest;
    after many erasures, or a restored export with a position of its own making, it could be larger
    than memory, and they are looked up among the others."""

    def __init__(self, positions: Ints) -> None:
        import numpy as np

        end = int(positions.max(initial=0)) + 1
        self._sorted: Ints | None = None
        if end <= _DENSE * len(positions) + _SPARE:
            self._rows = np.full(end, -1, np.int64)
            self._rows[positions] = np.arange(len(positions))
        else:
            self._rows = np.argsort(positions, kind="stable")
            self._sorted = positions[self._rows]

    def __call__(self, positions: Ints) -> Ints:
        """The rows of these positions."""
        import numpy as np

        if self._sorted is None:
            return self._rows[np.where(positions < len(self._rows), positions, 0)]
        places = np.searchsorted(self._sorted, positions)
        places[places == len(self._sorted)] = 0
        return np.where(self._sorted[places] == positions, self._rows[places], -1)
