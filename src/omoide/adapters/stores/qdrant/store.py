"""A database whose vectors are in Qdrant, seen from its several sides."""

from __future__ import annotations

import asyncio
import secrets
import warnings
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from omoide.adapters.stores.sql.index import OUTSIDE
from omoide.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from omoide.adapters.stores.qdrant.points import Points
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.sides import SqlStore

TIMEOUT = 5
"""Seconds to wait for an answer."""
PORT = 6333
_SCHEMES = {"qdrant": "http", "qdrant+https": "https"}


def connect(url: str, *, key: str = "", timeout: int = TIMEOUT) -> Points:
    """The points of the server or cluster at `qdrant://host:port`, or `qdrant+https://…`. Nothing
    is asked yet. The key is in no message."""
    scheme, host, port = _address(url)
    try:
        from qdrant_client import QdrantClient

        from omoide.adapters.stores.qdrant.points import Points
    except ModuleNotFoundError as error:
        raise MissingExtra(f"Qdrant needs {error.name}: pip install 'omoide[qdrant]'") from error
    with warnings.catch_warnings():  # docs/postgres.md says that a key needs https
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        client = QdrantClient(
            url=f"{scheme}://{host}:{port}",
            port=port,
            api_key=key or None,
            timeout=timeout,
            check_compatibility=False,
        )
    return Points(client, where=f"Qdrant at {host}:{port}")


def _address(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    wrong = BadInput(
        "OMOIDE_VECTORS must be qdrant://HOST:PORT or qdrant+https://HOST:PORT, with the key in "
        "OMOIDE_VECTORS_KEY"
    )
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError as error:
        raise wrong from error
    scheme = _SCHEMES.get(parts.scheme)
    extra = parts.username or parts.password or parts.path.strip("/") or parts.query
    if scheme is None or not parts.hostname or extra:
        raise wrong
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return scheme, host, port


class QdrantStore:
    """`Store` of an SQL database, with the vectors in Qdrant. Make it with `join`; closing it
    closes both."""

    def __init__(self, store: SqlStore, points: Points, *, name: str) -> None:
        from omoide.adapters.stores.qdrant.index import FromPoints, QdrantIndex
        from omoide.adapters.stores.qdrant.place import Place
        from omoide.adapters.stores.qdrant.removing import Removing

        self._store = store
        self._points = points
        place = Place(database=name)
        removing = Removing(store.database, points, place)
        self.turns = store.turns
        self.summaries = store.summaries
        self.events = store.events
        self.memos = store.memos
        self.notes = store.notes
        self.jobs = store.jobs
        self.ledger = store.ledger
        self.archive = store.archive
        self.archive.elsewhere = removing
        self.index = QdrantIndex(
            store.database,
            FromPoints(store.nearness, points, place),
            store.outlines,
            points=points,
            place=place,
            removing=removing,
        )

    @classmethod
    async def join(cls, store: SqlStore, points: Points) -> QdrantStore:
        """From now on the vectors of this database are in Qdrant. What has none there yet gets one
        by the next EMBED job of its owner."""

        def work(connection: Connection) -> str | None:
            connection.execute(
                "INSERT INTO spaces (name, version, dimensions) VALUES (?, ?, 0) "
                "ON CONFLICT (name) DO NOTHING",
                (OUTSIDE, secrets.token_hex(6)),
            )
            return _name(connection)

        name = await store.database.read("", _name) or await store.database.write("", work)
        return cls(store, points, name=str(name))

    async def close(self) -> None:
        """See `Store.close`."""
        await asyncio.to_thread(self._points.close)
        await self._store.close()


async def joined(store: SqlStore) -> bool:
    """Whether vectors of a database are in Qdrant."""
    return await store.database.read("", _name) is not None


def _name(connection: Connection) -> str | None:
    row = connection.execute("SELECT version FROM spaces WHERE name = ?", (OUTSIDE,)).fetchone()
    return row[0] if row else None
