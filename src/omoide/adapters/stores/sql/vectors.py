"""The interface to store and compare vectors, which differs between databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from omoide.adapters.stores.sql.connection import Connection

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class VectorKey:
    """Identifies the vectors of one owner, space and kind."""

    owner: int
    space: int
    kind: int
    dimensions: int


@dataclass(frozen=True, kw_only=True)
class NearItem:
    """An item's number and the cosine of its vector with the query."""

    item: int
    cosine: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """All items that have a vector, compared with a query."""

    items: Numbers
    cosines: Floats
    exact: Callable[[Numbers], Floats] | None = None
    """If the cosines are estimates: the true ones of some of the items, by their places above."""


class VectorComparer(Protocol):
    """Compares vectors in the caller's transaction."""

    def written(self, vector: Floats) -> object:
        """Encode a vector for the column `vector`."""

    def read(self, value: Any) -> Floats:  # noqa: ANN401 - as the database gives it
        """Decode a vector from that column."""

    def nearest(
        self, connection: Connection, key: VectorKey, query: Floats, *, k: int
    ) -> list[NearItem]:
        """The `k` nearest items by cosine, best first, newer first if equal. The cosine of a zero
        vector is 0."""

    def cosines(self, connection: Connection, key: VectorKey, query: Floats) -> Compared:
        """The numbers of all items that have a vector, and their cosines with the query."""

    def clear(self, owner: int) -> None:
        """Clear the owner's caches, so that no erased data stays in memory."""
