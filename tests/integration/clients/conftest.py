"""The line that the tests of clients speak over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .lines import connected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from .lines import Line


@pytest.fixture
async def line(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Line]:
    """The client that a test is run with, connected."""
    async with connected(tmp_path, request.param) as line:
        yield line
