"""The stores that the contract is tried on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from omoide.adapters.stores.outside import JoinedStore
from omoide.adapters.stores.postgres import PostgresStore
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.adapters.stores.sqlite.opening import SqliteOpening
from omoide.documents import DocumentStore, MemoryDocuments
from tests.postgres import databases
from tests.qdrant import line_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from omoide.ports import Store

    Maker = Callable[[Path], Awaitable[Store]]


@cache
def empty_database() -> bytes:
    """A new database file with all its tables, which take longer to make than to copy."""
    return SqliteOpening._empty().serialize("main")


async def sqlite_file(folder: Path) -> SqliteStore:
    """A database file; the same one for the same folder."""
    path = folder / "omoide.db"
    if not path.exists():
        path.write_bytes(empty_database())
    return await SqliteStore.open(path)


async def sqlite_memory(folder: Path) -> Store:
    """A database in memory."""
    return await SqliteStore.open(":memory:")


PLACES: dict[Path, MemoryDocuments] = {}


async def documents(folder: Path) -> Store:
    """Documents in memory; the same ones for the same folder."""
    return DocumentStore(PLACES.setdefault(folder, MemoryDocuments()))


async def postgres(folder: Path) -> Store:
    """A database on a server; the same one for the same folder."""
    return await PostgresStore.open(databases().for_folder(folder), partitions=2)


async def sqlite_qdrant(folder: Path) -> Store:
    """A database file with its vectors in Qdrant; the same ones for the same folder."""
    return await JoinedStore.join(await sqlite_file(folder), line_of(folder).points())


async def postgres_qdrant(folder: Path) -> Store:
    """A database on a server, with its vectors in Qdrant."""
    store = await PostgresStore.open(databases().for_folder(folder), partitions=2)
    return await JoinedStore.join(store, line_of(folder).points())


MAKERS: dict[str, Maker] = {
    "sqlite-file": sqlite_file,
    "sqlite-memory": sqlite_memory,
    "documents": documents,
    "postgres": postgres,
    "sqlite-qdrant": sqlite_qdrant,
    "postgres-qdrant": postgres_qdrant,
}
SHARED: dict[str, Maker] = {
    "sqlite-file": sqlite_file,
    "documents": documents,
    "postgres": postgres,
    "sqlite-qdrant": sqlite_qdrant,
    "postgres-qdrant": postgres_qdrant,
}
"""Those that several processes can open."""
SQL = [name for name in MAKERS if name != "documents"]
"""Those that are databases."""
