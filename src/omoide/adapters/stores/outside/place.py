"""Names of a database's collections in a vector index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.adapters.stores.sql.index import OUTSIDE
from omoide.ports.vectors import VectorOwner

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.ports import Space


@dataclass(frozen=True, kw_only=True)
class Place:
    """The collections of one database: one per space."""

    database: str
    """Random name that identifies the database in the index."""

    def collection(self, space: int) -> str:
        """Name of the collection for a space of the ledger."""
        return f"omoide_{self.database}_{space}"

    def ledger(self, space: Space) -> Space:
        """The space as it is named in the ledger."""
        return replace(space, name=f"{space.name}{self.suffix}")

    @property
    def suffix(self) -> str:
        """Suffix of the names of the ledger's spaces."""
        return f"{OUTSIDE}/{self.database}"

    def owner_points(self, connection: Connection, owner: int, space: int) -> VectorOwner:
        """The vectors of an owner; the tenant is read from the owner's row."""
        row = connection.execute("SELECT tenant FROM owners WHERE id = ?", (owner,)).fetchone()
        tenant = row[0] if row else ""
        return VectorOwner(collection=self.collection(space), tenant=tenant, owner=owner)
