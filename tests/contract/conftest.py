"""Our databases, on which more than the shipped contract is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.stores import MAKERS, SQL
from tests.lanes import some

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from omoide.ports import Store


@pytest.fixture(params=some(SQL, ["sqlite-file"]))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    made = await MAKERS[request.param](tmp_path)
    yield made
    await made.close()
