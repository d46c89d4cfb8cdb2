"""Vectors compared by pgvector in the database; omoide keeps none in memory.

Every vector of the owner, space and kind is compared, so the result is exact. That takes about a
millisecond for a thousand turns (docs/postgres.md). An approximate index over all owners would
return other owners' vectors first, and would make each insert many times slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.vectors import Compared, NearItem

if TYPE_CHECKING:
    from pgvector import Vector

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.vectors import Floats, VectorKey

# The cosine with a zero vector is NaN; count it as 0.
_COSINE = "CAST(coalesce(nullif(1 - (vector <=> ?4), 'NaN'), 0) AS real)"
_OWN = "FROM vectors WHERE owner = ?1 AND space = ?2 AND kind = ?3"
_COMPARED = f"SELECT item, {_COSINE} AS cosine {_OWN}"
NEAREST = f"{_COMPARED} ORDER BY cosine DESC, item DESC LIMIT ?5"
COSINES = f"""
SELECT string_agg(CAST(item AS text), ' '), string_agg(CAST(cosine AS text), ' ')
FROM ({_COMPARED}) AS compared
"""  # noqa: S608


class Pgvector:
    """`VectorComparer` that uses pgvector."""

    def written(self, vector: Floats) -> Vector:
        """See `VectorComparer.written`."""
        from pgvector import Vector

        return Vector(vector)

    def read(self, value: Vector) -> Floats:
        """See `VectorComparer.read`."""
        return value.to_numpy()

    def nearest(
        self, connection: Connection, key: VectorKey, query: Floats, *, k: int
    ) -> list[NearItem]:
        """See `VectorComparer.nearest`."""
        rows = connection.execute(NEAREST, (*self._parameters(key, query), max(k, 0)))
        return [NearItem(item=item, cosine=cosine) for item, cosine in rows]

    def cosines(self, connection: Connection, key: VectorKey, query: Floats) -> Compared:
        """See `VectorComparer.cosines`."""
        import numpy as np

        [(items, cosines)] = connection.execute(COSINES, self._parameters(key, query))
        return Compared(
            items=np.fromstring(items or "", np.int64, sep=" "),
            cosines=np.fromstring(cosines or "", np.float32, sep=" "),
        )

    def clear(self, owner: int) -> None:
        """See `VectorComparer.clear`: nothing is cached."""

    def _parameters(self, key: VectorKey, query: Floats) -> tuple[int, int, int, Vector]:
        return key.owner, key.space, key.kind, self.written(query.reshape(-1))
