"""A circuit breaker for a vector index that cannot be reached."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omoide.errors import VectorsUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omoide.ports.vectors import Floats, Numbers, VectorIndex, VectorItem, VectorOwner

log = logging.getLogger(__name__)

PAUSE = 5.0
"""Seconds for which searches do not use an index that has just failed."""


class Resting:
    """`VectorIndex` that wraps another. After a failure, which is logged once, searches fail at
    once for `PAUSE` seconds instead of waiting for a timeout each time. Other calls are always
    tried."""

    def __init__(self, inner: VectorIndex, *, now: Callable[[], float]) -> None:
        self._inner = inner
        self._now = now
        self._rests_until = float("-inf")

    @property
    def name(self) -> str:
        """See `VectorIndex.name`."""
        return self._inner.name

    def put(self, owner: VectorOwner, items: Sequence[VectorItem], vectors: Floats) -> None:
        """See `VectorIndex.put`."""
        with self._asking():
            self._inner.put(owner, items, vectors)

    def nearest(
        self, owner: VectorOwner, kind: int, query: Floats, *, limit: int
    ) -> tuple[Numbers, Floats]:
        """See `VectorIndex.nearest`."""
        if self._now() < self._rests_until:
            raise VectorsUnavailable(f"{self.name} could not be reached in the last {PAUSE:g} s")
        with self._asking():
            return self._inner.nearest(owner, kind, query, limit=limit)

    def count(self, owner: VectorOwner) -> int:
        """See `VectorIndex.count`."""
        with self._asking():
            return self._inner.count(owner)

    def items(self, owner: VectorOwner) -> frozenset[VectorItem]:
        """See `VectorIndex.items`."""
        with self._asking():
            return self._inner.items(owner)

    def remove(self, owner: VectorOwner, items: Sequence[VectorItem] | None = None) -> None:
        """See `VectorIndex.remove`."""
        with self._asking():
            self._inner.remove(owner, items)

    def close(self) -> None:
        """See `VectorIndex.close`."""
        self._inner.close()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
            self._rests_until = float("-inf")
        except VectorsUnavailable as error:
            if self._now() >= self._rests_until:
                log.warning("recall uses words only for now: %s", error)
            self._rests_until = self._now() + PAUSE
            raise
