"""The stores that the contract is tried on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.qdrant import QdrantStore
from omoide.adapters.stores.sqlite import SqliteStore
from tests.postgres import databases
from tests.qdrant import line_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from omoide.ports import Store

    Maker = Callable[[Path], Awaitable[Store]]


async def sqlite_file(folder: Path) -> Store:
    """A database file; the same one for the same folder."""
    return await SqliteStore.open(folder / "deeper" / "omoide.db")


async def sqlite_memory(folder: Path) -> Store:
    """A database in memory."""
    return await SqliteStore.open(":memory:")


async def postgres(folder: Path) -> Store:
    """A database on a server; the same one for the same folder."""
    return await PostgresStore.open(databases().for_folder(folder), partitions=2)


async def sqlite_qdrant(folder: Path) -> Store:
    """A database file with its vectors in Qdrant; the same ones for the same folder."""
    store = await SqliteStore.open(folder / "omoide.db")
    return await QdrantStore.join(store, line_of(folder).points())


async def postgres_qdrant(folder: Path) -> Store:
    """A database on a server, with its vectors in Qdrant."""
    store = await PostgresStore.open(databases().for_folder(folder), partitions=2)
    return await QdrantStore.join(store, line_of(folder).points())


MAKERS: dict[str, Maker] = {
    "sqlite-file": sqlite_file,
    "sqlite-memory": sqlite_memory,
    "postgres": postgres,
    "sqlite-qdrant": sqlite_qdrant,
    "postgres-qdrant": postgres_qdrant,
}
SHARED: dict[str, Maker] = {
    "sqlite-file": sqlite_file,
    "postgres": postgres,
    "sqlite-qdrant": sqlite_qdrant,
    "postgres-qdrant": postgres_qdrant,
}
"""Those that several processes can open."""


@pytest.fixture(params=list(MAKERS))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    made = await MAKERS[request.param](tmp_path)
    yield made
    await made.close()


@pytest.fixture(params=list(SHARED))
async def stores(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Store, Store]]:
    """One empty database, opened twice as two processes would."""
    one = await SHARED[request.param](tmp_path)
    two = await SHARED[request.param](tmp_path)
    yield one, two
    await one.close()
    await two.close()
