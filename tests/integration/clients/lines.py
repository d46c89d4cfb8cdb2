"""A client, the server and the endpoint behind it; and which test shows which feature."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from omoide.server.options import Options
from omoide.testing.endpoint import FakeEndpoint
from tests.server.serving import Bench, listening, serving

from .drivers import DRIVERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from pathlib import Path

    from .drivers import Driver

    Test = TypeVar("Test", bound=Callable[..., Any])

SHOWN: dict[str, set[type[Driver]]] = {}
"""The features, and the clients that a test shows each with."""


def shows(feature: str, *, only: Iterable[type[Driver]] | None = None) -> Callable[[Test], Test]:
    """A test of a feature, run with each client that has it; the table in `docs/clients.md` says
    so."""
    drivers = tuple(DRIVERS if only is None else only)
    SHOWN.setdefault(feature, set()).update(drivers)
    return pytest.mark.parametrize("line", drivers, indirect=True, ids=title)


def title(driver: type[Driver]) -> str:
    """A client and its protocol."""
    return f"{driver.client} {driver.protocol}"


@dataclass
class Line:
    """A client, the server, and the endpoint behind it."""

    driver: Any
    bench: Bench
    endpoint: FakeEndpoint
    url: str

    async def settled(self, *texts: str) -> bool:
        """Whether these, and no others, are what is recorded of ana, once all is written."""
        return await self.bench.settled(*texts)

    @property
    def sent(self) -> Any:  # noqa: ANN401 - any JSON
        """The body that the endpoint got last."""
        return self.endpoint.requests[-1].body


@asynccontextmanager
async def connected(
    folder: Path,
    driver: type[Driver],
    *,
    options: Options | None = None,
    keyed: bool = False,
    embedded: bool = False,
) -> AsyncIterator[Line]:
    """All of it, running."""
    options = options or Options(patience=600.0)
    async with (
        FakeEndpoint() as endpoint,
        serving(folder, url=endpoint.url, options=options, embedded=embedded) as bench,
        listening(bench.app) as url,
    ):
        key = bench.key()["Authorization"].removeprefix("Bearer ") if keyed else None
        make: Any = driver
        made = make(url, key)
        try:
            yield Line(driver=made, bench=bench, endpoint=endpoint, url=url)
        finally:
            await made.close()
