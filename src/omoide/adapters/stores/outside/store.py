"""A store whose vectors are in a separate index."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING

from omoide import plugins
from omoide.adapters.stores.outside.index import JoinedIndex, OutsideNearness
from omoide.adapters.stores.outside.place import Place
from omoide.adapters.stores.outside.removing import VectorRemoval
from omoide.adapters.stores.outside.resting import Resting
from omoide.adapters.stores.sql.index import OUTSIDE, external_name
from omoide.plugins import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.store import SqlStore
    from omoide.ports.vectors import VectorIndex
    from omoide.settings import Settings


class JoinedStore:
    """`Store` of an SQL database with the vectors in a `VectorIndex`. Create it with `join`;
    closing it closes both."""

    def __init__(self, store: SqlStore, vectors: VectorIndex, *, name: str) -> None:
        self._store = store
        self._vectors = vectors
        place = Place(database=name)
        removing = VectorRemoval(store.database, vectors, place)
        self.turns = store.turns
        self.summaries = store.summaries
        self.events = store.events
        self.memos = store.memos
        self.facts = store.facts
        self.notes = store.notes
        self.jobs = store.jobs
        self.ledger = store.ledger
        self.archive = store.archive
        self.archive.elsewhere = removing
        self.index = JoinedIndex(
            store.database,
            OutsideNearness(store.comparer, vectors, place),
            store.turn_tables,
            vectors=vectors,
            place=place,
            removing=removing,
        )

    @classmethod
    async def join(
        cls,
        store: SqlStore,
        vectors: VectorIndex,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> JoinedStore:
        """Keep the vectors of this database in the index from now on. Items without a vector there
        get one from their owner's next EMBED job."""

        def work(connection: Connection) -> str | None:
            connection.execute(
                "INSERT INTO spaces (name, version, dimensions) VALUES (?, ?, 0) "
                "ON CONFLICT (name) DO NOTHING",
                (OUTSIDE, secrets.token_hex(6)),
            )
            return external_name(connection)

        name = await store.database.read("", external_name) or await store.database.write("", work)
        return cls(store, Resting(vectors, now=now), name=str(name))

    async def close(self) -> None:
        """See `Store.close`."""
        try:
            await asyncio.to_thread(self._vectors.close)
        finally:
            await self._store.close()


async def join_vectors(store: SqlStore, settings: Settings) -> JoinedStore:
    """The store with its vectors at `settings.vectors`, through the plug-in for that URL scheme."""
    url = settings.vectors
    vectors: VectorIndex = plugins.load(Group.VECTORS, plugins.scheme(url))(url, settings)
    return await JoinedStore.join(store, vectors)
