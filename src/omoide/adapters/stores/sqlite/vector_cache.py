"""A cache of vectors, kept in memory between searches: one matrix per owner, space and kind.

A matrix is updated by loading the rows that were added since, by any process, and reloaded when
vectors were removed or replaced. The least recently used matrices are evicted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.vectors import NearItem

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.vectors import Floats, Numbers, VectorKey

# All vectors of a kind are read through the index on kind and item. New ones are few, so they are
# read in order of arrival and filtered by kind.
ALL = (
    "SELECT item, vector FROM vectors INDEXED BY vectors_item "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)
SINCE = (
    "SELECT item, vector FROM vectors NOT INDEXED "
    "WHERE owner = ? AND space = ? AND kind = ? AND serial > ?"
)


_BLOCK = 1024
"""Vectors transposed at a time: as many as fit a CPU cache."""


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

        items, scores = self.cosines(connection, key, query)
        if not len(items) or k < 1:
            return []
        least = np.partition(scores, -k)[-k] if k < len(scores) else scores.min()
        chosen = np.flatnonzero(scores >= least)
        best = chosen[np.lexsort((-items[chosen], -scores[chosen]))][:k]
        return [NearItem(item=int(items[i]), cosine=float(scores[i])) for i in best]

    def cosines(
        self, connection: Connection, key: VectorKey, query: Floats
    ) -> tuple[Numbers, Floats]:
        """See `VectorComparer.cosines`."""
        with self._lock:
            matrix = self._matrices.setdefault(key, _Matrix(key=key))
            self._matrices.move_to_end(key)
        with matrix.lock:
            matrix.refresh(connection)
            items, columns = matrix.items[: matrix.used], matrix.columns[:, : matrix.used]
        self._make_room()
        return items, _normal(query.reshape(1, -1))[0] @ columns

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


@dataclass
class _Matrix:
    """Normalised vectors as columns, with spare capacity; only the first `used` are valid. This
    layout makes the product with a query a fifth faster."""

    key: VectorKey
    lock: threading.Lock = field(default_factory=threading.Lock)
    epoch: int = -1
    serial: int = 0
    used: int = 0
    items: Numbers = field(init=False)
    columns: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._reserve(0)

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.columns.nbytes + self.items.nbytes

    def refresh(self, connection: Connection) -> None:
        """Load what changed since the last call."""
        [(epoch, serial)] = connection.execute(
            "SELECT coalesce((SELECT epoch FROM counts WHERE owner = ?1 AND kind = ?2), 0), "
            "vectors FROM owners WHERE id = ?1",
            (self.key.owner, self.key.kind),
        )
        if epoch != self.epoch:
            self.epoch, self.serial, self.used = epoch, 0, 0
            self._reserve(0)
        if serial > self.serial:
            self._load(connection)
            self.serial = serial

    def _load(self, connection: Connection) -> None:
        import numpy as np

        loaded = connection.execute(
            SINCE if self.serial else ALL,
            (self.key.owner, self.key.space, self.key.kind, self.serial),
        ).fetchall()
        if not loaded:
            return
        numbers, blobs = zip(*loaded, strict=True)
        end = self.used + len(numbers)
        if end > len(self.items):
            self._reserve(end + end // 8)
        for start in range(0, len(blobs), _BLOCK):
            block = np.frombuffer(b"".join(blobs[start : start + _BLOCK]), dtype="<f4")
            rows = _normal(block.reshape(-1, self.key.dimensions))
            self.columns[:, self.used + start : self.used + start + len(rows)] = rows.T
        self.items[self.used : end] = numbers
        self.used = end

    def _reserve(self, count: int) -> None:
        """Move to new arrays with space for `count` vectors: a search may still be reading the
        old."""
        import numpy as np

        columns = np.empty((self.key.dimensions, count), dtype=np.float32)
        items = np.empty(count, dtype=np.int64)
        if self.used:
            columns[:, : self.used] = self.columns[:, : self.used]
            items[: self.used] = self.items[: self.used]
        self.columns, self.items = columns, items


def _normal(rows: Floats) -> Floats:
    """Normalise rows to length 1. Zero rows stay zero, so that their cosines are 0."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1), dtype=np.float32)
