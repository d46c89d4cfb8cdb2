"""Qdrant keeps the shipped contract of a vector index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.testing.contracts.vectors import VectorsContract
from tests.qdrant import line_of

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.ports.vectors import VectorIndex


class TestQdrant(VectorsContract):
    """The client's local mode."""

    def open(self, folder: Path) -> VectorIndex:
        """See `VectorsContract.open`."""
        return line_of(folder).points()
