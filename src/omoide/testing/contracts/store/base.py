"""The base class of the store suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.ports import Store


class StoreSuite:
    """Tests over a store that a subclass opens."""

    pytestmark = pytest.mark.asyncio
    shared = True
    """Whether several processes can open the same database. If not, tests that need this are
    skipped."""

    async def open(self, folder: Path) -> Store:
        """Open a store in `folder`: empty at first, and the same one for the same folder if it is
        shared. For a store on a server, create a database named after the folder."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        """An empty store."""
        store = await self.open(tmp_path)
        yield store
        await store.close()

    @pytest_asyncio.fixture
    async def stores(self, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        """One empty database, opened twice, as by two processes."""
        if not self.shared:
            pytest.skip("only one process can open it")
        one, two = await self.open(tmp_path), await self.open(tmp_path)
        yield one, two
        await one.close()
        await two.close()
