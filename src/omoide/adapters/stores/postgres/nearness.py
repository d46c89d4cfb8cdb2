"""Vectors compared by pgvector, where they lie: servers keep none in memory.

Every vector of the owner, space and kind is looked at, so the result is exact. That takes about a
millisecond for a thousand turns (docs/postgres.md); an approximate index over all owners together
would find other people's neighbours first, and makes each insert many times slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.nearness import Near

if TYPE_CHECKING:
    from pgvector import Vector

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.nearness import Floats, Key, Numbers

# The cosine with a vector of length 0 is not a number; it is near to nothing.
_COSINE = "CAST(coalesce(nullif(1 - (vector <=> ?4), 'NaN'), 0) AS real)"
_OWN = "FROM vectors WHERE owner = ?1 AND space = ?2 AND kind = ?3"
_COMPARED = f"SELECT item, {_COSINE} AS cosine {_OWN}"
NEAREST = f"{_COMPARED} ORDER BY cosine DESC, item DESC LIMIT ?5"
COSINES = f"""
SELECT string_agg(CAST(item AS text), ' '), string_agg(CAST(cosine AS text), ' ')
FROM ({_COMPARED}) AS compared
"""  # noqa: S608


class Pgvector:
    """`Nearness` by the server's own comparing."""

    def written(self, vector: Floats) -> Vector:
        """See `Nearness.written`."""
        from pgvector import Vector

        return Vector(vector)

    def read(self, value: Vector) -> Floats:
        """See `Nearness.read`."""
        return value.to_numpy()

    def nearest(self, connection: Connection, key: Key, query: Floats, *, k: int) -> list[Near]:
        """See `Nearness.nearest`."""
        rows = connection.execute(NEAREST, (*self._asked(key, query), max(k, 0)))
        return [Near(item=item, cosine=cosine) for item, cosine in rows]

    def cosines(self, connection: Connection, key: Key, query: Floats) -> tuple[Numbers, Floats]:
        """See `Nearness.cosines`."""
        import numpy as np

        [(items, cosines)] = connection.execute(COSINES, self._asked(key, query))
        return (
            np.fromstring(items or "", np.int64, sep=" "),
            np.fromstring(cosines or "", np.float32, sep=" "),
        )

    def clear(self) -> None:
        """See `Nearness.clear`: there is nothing."""

    def _asked(self, key: Key, query: Floats) -> tuple[int, int, int, Vector]:
        return key.owner, key.space, key.kind, self.written(query.reshape(-1))
