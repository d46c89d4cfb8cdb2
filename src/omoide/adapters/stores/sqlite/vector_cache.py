"""A cache of vectors, kept in memory between searches: one matrix per owner, space and kind.

A matrix is updated by loading the rows that were added since, by any process, and reloaded when
vectors were removed or replaced. The least recently used matrices are evicted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.items import TURNS
from omoide.adapters.stores.sql.vectors import Compared, NearItem
from omoide.adapters.stores.sqlite.vector_sketch import AT_ONCE, new_sketch

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.vectors import Floats, Numbers, VectorKey
    from omoide.adapters.stores.sqlite.vector_sketch import VectorSketch

# All vectors of a kind are read through the index on kind and item; those of turns, which most
# are, in order of arrival, which takes two thirds of the time. New ones are few, so they are read
# and counted in order of arrival and filtered by kind: the index does not know which are new.
COUNT = (
    "SELECT count(*) FROM vectors INDEXED BY vectors_item "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)
COUNT_SINCE = (
    "SELECT count(*) FROM vectors NOT INDEXED "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)
ALL = (
    "SELECT item, vector FROM vectors INDEXED BY vectors_item "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)
SINCE = (
    "SELECT item, vector FROM vectors NOT INDEXED "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)


_BLOCK = 1024
"""Vectors normalised at a time: as many as fit a CPU cache."""


class VectorCache:
    """`VectorComparer` with matrices in memory, at most `limit` bytes in total. The last used
    matrix stays even if it is larger, or each search would reload it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._matrices: OrderedDict[VectorKey, _Matrix] = OrderedDict()

    def written(self, vector: Floats) -> bytes:
        """See `VectorComparer.written`: float32, little-endian."""
        return vector.astype("<f4").tobytes()

    def read(self, value: bytes) -> Floats:
        """See `VectorComparer.read`."""
        import numpy as np

        return np.frombuffer(value, "<f4")

    def nearest(
        self, connection: Connection, key: VectorKey, query: Floats, *, k: int
    ) -> list[NearItem]:
        """See `VectorComparer.nearest`."""
        import numpy as np

        vectors = self._vectors(connection, key)
        items, scores = vectors.items, vectors.cosines(_unit(query))
        if not len(items) or k < 1:
            return []
        least = np.partition(scores, -k)[-k] if k < len(scores) else scores.min()
        chosen = np.flatnonzero(scores >= least)
        best = chosen[np.lexsort((-items[chosen], -scores[chosen]))][:k]
        return [NearItem(item=int(items[i]), cosine=float(scores[i])) for i in best]

    def cosines(self, connection: Connection, key: VectorKey, query: Floats) -> Compared:
        """See `VectorComparer.cosines`. Those of very many vectors are estimated."""
        vectors, query = self._vectors(connection, key, sketched=True), _unit(query)
        if vectors.sketch is None or not vectors.sketch.used:
            return Compared(items=vectors.items, cosines=vectors.cosines(query))
        return Compared(
            items=vectors.items,
            cosines=vectors.sketch.products(vectors.rows, query) * vectors.scales,
            exact=lambda rows: (vectors.rows[rows] @ query) * vectors.scales[rows],
        )

    def _vectors(
        self, connection: Connection, key: VectorKey, *, sketched: bool = False
    ) -> _Vectors:
        """The vectors as of the caller's transaction, or a little later."""
        with self._lock:
            matrix = self._matrices.setdefault(key, _Matrix(key=key))
            self._matrices.move_to_end(key)
        with matrix.lock:
            before = matrix.used
            matrix.refresh(connection)
            if sketched and matrix.used - before < AT_ONCE:  # not while all of them are read
                matrix.shorten()
            vectors = matrix.vectors
        self._make_room()
        return vectors

    def clear(self, owner: int) -> None:
        """Drop the owner's matrices, so that no vector of erased text stays in memory."""
        with self._lock:
            for key in [key for key in self._matrices if key.owner == owner]:
                del self._matrices[key]

    def _make_room(self) -> None:
        with self._lock:
            size = sum(matrix.size for matrix in self._matrices.values())
            while size > self._limit and len(self._matrices) > bool(self._limit):
                _, oldest = self._matrices.popitem(last=False)
                size -= oldest.size


@dataclass(frozen=True, kw_only=True, eq=False)
class _Vectors:
    """What one search reads of a matrix, which may grow meanwhile."""

    items: Numbers
    rows: Floats
    scales: Floats
    sketch: VectorSketch | None

    def cosines(self, query: Floats) -> Floats:
        """The cosine of each vector with a query of length 1."""
        cosines: Floats = self.rows @ query
        cosines *= self.scales
        return cosines


@dataclass
class _Matrix:
    """Vectors as rows, with spare capacity; only the first `used` are valid. They are as they were
    stored, since to normalise or transpose them takes longer than to read them: the products with a
    query are normalised instead, by `scales`."""

    key: VectorKey
    lock: threading.Lock = field(default_factory=threading.Lock)
    epoch: int = -1
    serial: int = 0
    used: int = 0
    items: Numbers = field(init=False)
    rows: Floats = field(init=False)
    scales: Floats = field(init=False)
    """One by the length of each vector."""
    sketch: VectorSketch | None = None

    def __post_init__(self) -> None:
        self._reserve(0)

    @property
    def size(self) -> int:
        """Size in bytes."""
        short = self.sketch.room.nbytes if self.sketch else 0
        return self.rows.nbytes + self.items.nbytes + self.scales.nbytes + short

    @property
    def vectors(self) -> _Vectors:
        """Those that are there now."""
        used = self.used
        return _Vectors(
            items=self.items[:used],
            rows=self.rows[:used],
            scales=self.scales[:used],
            sketch=self.sketch,
        )

    def shorten(self) -> None:
        """Shorten more of the vectors, if there are very many."""
        rows = self.rows[: self.used]
        self.sketch = new_sketch(rows) if self.sketch is None else self.sketch
        if self.sketch is not None:
            self.sketch = self.sketch.extended(rows)

    def refresh(self, connection: Connection) -> None:
        """Load what changed since the last call."""
        [(epoch, serial)] = connection.execute(
            "SELECT coalesce((SELECT epoch FROM counts WHERE owner = ?1 AND kind = ?2), 0), "
            "vectors FROM owners WHERE id = ?1",
            (self.key.owner, self.key.kind),
        )
        if epoch != self.epoch:
            self.epoch, self.serial, self.used, self.sketch = epoch, 0, 0, None
            self._reserve(0)
        if serial > self.serial:
            self._load(connection)
            self.serial = serial

    def _load(self, connection: Connection) -> None:
        which = (self.key.owner, self.key.space, self.key.kind, self.serial)
        [(count,)] = connection.execute(COUNT_SINCE if self.serial else COUNT, which)
        if not count:
            return
        if (end := self.used + count) > len(self.items):
            self._reserve(end + end // 8)
        in_order = self.serial or self.key.kind == TURNS.kind
        size = 4 * self.key.dimensions
        start, at = self.used, self.used * size
        room = self.rows.data.cast("B")
        numbers = []
        # Each vector is copied at once: to collect many first takes twice as long.
        for item, vector in connection.execute(SINCE if in_order else ALL, which):
            numbers.append(item)
            room[at : (at := at + size)] = vector
        self.used += len(numbers)
        self.items[start : self.used] = numbers
        for first in range(start, self.used, _BLOCK):
            block = slice(first, min(first + _BLOCK, self.used))
            self.scales[block] = _scales(self.rows[block])

    def _reserve(self, count: int) -> None:
        """Move to new arrays with space for `count` vectors: a search may still be reading the
        old."""
        import numpy as np

        rows = np.empty((count, self.key.dimensions), dtype="<f4")  # as they are stored
        items = np.empty(count, dtype=np.int64)
        scales = np.empty(count, dtype=np.float32)
        if self.used:
            rows[: self.used] = self.rows[: self.used]
            items[: self.used] = self.items[: self.used]
            scales[: self.used] = self.scales[: self.used]
        self.rows, self.items, self.scales = rows, items, scales


def _unit(query: Floats) -> Floats:
    """The query with length 1."""
    unit: Floats = query.ravel() * _scales(query.reshape(1, -1))[0]
    return unit


def _scales(rows: Floats) -> Floats:
    """One by the length of each row. 0 for a row of zeros, so that its cosines are 0."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    scales: Floats = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return scales
