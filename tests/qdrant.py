"""Qdrant for tests: the client's local mode, since no server can be had from a package registry.

It is the same client and the same requests, served by Python in this process instead of by a
server. What it cannot show: payload indexes, durability, and how fast or how concurrent a server
is.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException

from omoide_qdrant.points import Points

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Line:
    """The way to a Qdrant: it can be cut, and outlives those who close it, as a server does."""

    def __init__(self) -> None:
        self.client = QdrantClient(":memory:")
        self.cut = False
        self.before: dict[str, Callable[[], None]] = {}
        """What happens before a call of a name, once."""
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        def call(*values: Any, **named: Any) -> Any:  # noqa: ANN401
            if name == "close":
                return None
            self.asked.append(name)
            if happening := self.before.pop(name, None):
                happening()
            if self.cut:
                raise ResponseHandlingException(ConnectionRefusedError("nobody is there"))
            return getattr(self.client, name)(*values, **named)

        return call

    def points(self) -> Points:
        """What a process has of it."""
        return Points(cast("QdrantClient", self), where="Qdrant here", alone=True)

    def all(self) -> list[Any]:
        """Every point of every collection, with payloads and vectors."""
        found: list[Any] = []
        for collection in self.client.get_collections().collections:
            after: Any = None
            while True:
                page, after = self.client.scroll(
                    collection.name, limit=100, offset=after, with_vectors=True
                )
                found += page
                if after is None:
                    break
        return found


@cache
def line_of(folder: Path) -> Line:
    """The Qdrant of a folder."""
    return Line()
