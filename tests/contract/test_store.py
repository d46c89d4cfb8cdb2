"""Every store of ours keeps the shipped contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.testing.contracts.store import StoreContract
from tests.contract import stores

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.ports import Store


class TestSqliteFile(StoreContract):
    """SQLite in a file."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.sqlite_file(folder)


@pytest.mark.heavy
class TestSqliteMemory(StoreContract):
    """SQLite in memory, as most other tests use it."""

    shared = False

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.sqlite_memory(folder)


class TestDocuments(StoreContract):
    """Documents, one an owner."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.documents(folder)


class TestPostgres(StoreContract):
    """PostgreSQL."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.postgres(folder)


@pytest.mark.heavy
class TestSqliteQdrant(StoreContract):
    """SQLite with its vectors in Qdrant."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.sqlite_qdrant(folder)


class TestPostgresQdrant(StoreContract):
    """PostgreSQL with its vectors in Qdrant."""

    async def open(self, folder: Path) -> Store:
        """See `StoreSuite.open`."""
        return await stores.postgres_qdrant(folder)
