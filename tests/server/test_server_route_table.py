"""The table of routes: what it says of errors is what a client may get."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from omoide.server.routes import ROUTES

if TYPE_CHECKING:
    from omoide.server.endpoint import RouteSpec

UPSTREAM = {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}


@pytest.mark.parametrize("row", ROUTES, ids=lambda row: f"{row.method} {row.path}")
def test_statuses_are_those_of_http(row: RouteSpec) -> None:
    """A success for the answer, errors for what fails; an upstream is away or too late."""
    status, fails = HTTPStatus(row.status), {HTTPStatus(n) for n in row.fails}
    assert 200 <= status < 300
    assert all(400 <= n < 600 for n in fails)
    assert fails & UPSTREAM in (set(), UPSTREAM)
    assert len(fails) == len(row.fails)
