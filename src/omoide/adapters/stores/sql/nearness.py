"""How vectors are kept and compared: the one thing that databases do each in their own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omoide.adapters.stores.sql.connection import Connection

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Key:
    """Whose vectors, of which embedder, and of what."""

    owner: int
    space: int
    kind: int
    dimensions: int


@dataclass(frozen=True, kw_only=True)
class Near:
    """An item's number and the cosine of its vector with the query."""

    item: int
    cosine: float


class Nearness(Protocol):
    """Compares vectors, within the caller's transaction."""

    def written(self, vector: Floats) -> object:
        """A vector as it is bound to the column `vector`."""

    def read(self, value: Any) -> Floats:  # noqa: ANN401 - as the database gives it
        """A vector out of that column."""

    def nearest(self, connection: Connection, key: Key, query: Floats, *, k: int) -> list[Near]:
        """The `k` nearest by cosine, best first and newer before older. A vector of length 0 is
        near to nothing."""

    def cosines(self, connection: Connection, key: Key, query: Floats) -> tuple[Numbers, Floats]:
        """The numbers of all items that have a vector, and its cosine with the query."""

    def clear(self) -> None:
        """Let go of whatever is in memory, so that nothing of what was erased stays there."""
