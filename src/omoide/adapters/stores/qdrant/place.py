"""Where a database's vectors are in Qdrant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.adapters.stores.qdrant.points import Whose
from omoide.adapters.stores.sql.index import OUTSIDE

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.ports import Space


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which collections are this database's: one a space."""

    database: str
    """A name that the database has for itself."""

    def collection(self, space: int) -> str:
        """The collection of a space of the ledger."""
        return f"omoide_{self.database}_{space}"

    def ledger(self, space: Space) -> Space:
        """The space as the ledger calls it."""
        return replace(space, name=f"{space.name}{self.suffix}")

    @property
    def suffix(self) -> str:
        """How the names of the ledger's spaces end."""
        return f"{OUTSIDE}/{self.database}"

    def whose(self, connection: Connection, owner: int, space: int) -> Whose:
        """The points of an owner, with the tenant out of the owner's own row."""
        row = connection.execute("SELECT tenant FROM owners WHERE id = ?", (owner,)).fetchone()
        tenant = row[0] if row else ""
        return Whose(collection=self.collection(space), tenant=tenant, owner=owner)
