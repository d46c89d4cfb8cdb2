"""The port for a vector index outside the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class VectorOwner:
    """The vectors of one owner in one collection. Owners are given by number, so that no user's
    name leaves the database."""

    collection: str
    """One for each database and embedder; its vectors have the same dimensions. Letters, digits and
    `_`."""
    tenant: str
    owner: int


@dataclass(frozen=True, order=True)
class VectorItem:
    """The turn, event or memo that a vector belongs to, by the numbers that the database
    assigned."""

    kind: int
    """From 1 to 127."""
    number: int
    """From 1, below 2 ** 56."""


class VectorIndex(Protocol):
    """Stores vectors by owner and item, and finds the nearest. The texts stay in a database, which
    knows what the index should hold; `omoide` reconciles every index with it.

    All methods block and are called from many threads. They raise `VectorsUnavailable` if the index
    cannot be reached or fails, and `EmbedderMismatch` if it holds vectors of other dimensions. A
    collection that was never written to is empty, not missing. Nothing of another owner or tenant
    is ever found, counted or removed.
    """

    @property
    def name(self) -> str:
        """Its name for messages, such as `Qdrant at host:6333`; contains no key."""

    def put(self, owner: VectorOwner, items: Sequence[VectorItem], vectors: Floats) -> None:
        """Store one vector per item, replacing existing ones; durable on return. Creates the
        collection if needed."""

    def nearest(
        self, owner: VectorOwner, kind: int, query: Floats, *, limit: int
    ) -> tuple[Numbers, Floats]:
        """The numbers of the nearest items of a kind and their cosines with the query, best first.
        Exact: compares every vector of the owner."""

    def count(self, owner: VectorOwner) -> int:
        """How many vectors of the owner there are, of all kinds."""

    def items(self, owner: VectorOwner) -> frozenset[VectorItem]:
        """All items that have a vector."""

    def remove(self, owner: VectorOwner, items: Sequence[VectorItem] | None = None) -> None:
        """Remove the vectors of these items, or all of the owner's; gone on return. Unknown items
        are ignored."""

    def close(self) -> None:
        """Release all resources. Calling it again does nothing."""
