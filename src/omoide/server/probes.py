"""How the server stands: for whoever keeps it running."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide.errors import StoreError
from omoide.server.endpoint import Call, Endpoint
from omoide.server.keys import Scope
from omoide.server.problems import slug_of
from omoide.server.reads import shown

if TYPE_CHECKING:
    from omoide.server.endpoint import Desk

_TEXT = "text/plain"


async def healthz(call: Call) -> Response:
    """It runs."""
    del call
    return shown({"status": "ok"})


async def readyz(call: Call) -> Response:
    """It can serve: the database answers."""
    return await ready(call.desk)


async def ready(desk: Desk) -> Response:
    """200 if the database answers, else 503."""
    try:
        await desk.tenants.jobs()
    except StoreError as error:
        return shown({"status": "unavailable", "reason": slug_of(error)}, status=503)
    return shown({"status": "ok"})


async def metrics(call: Call) -> Response:
    """The figures."""
    text = call.desk.metrics.text(await call.desk.tenants.jobs())
    return Response(text, media_type="text/plain; version=0.0.4")


ROUTES = (
    Endpoint(
        method="GET",
        path="/healthz",
        handler=healthz,
        tag="operations",
        about="Whether it runs",
        needs=None,
        answer="Health",
        user=False,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        handler=readyz,
        tag="operations",
        about="Whether it can serve",
        needs=None,
        answer="Health",
        user=False,
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        handler=metrics,
        tag="operations",
        about="Figures for Prometheus",
        needs=frozenset({Scope.ADMIN}),
        answer=_TEXT,
        user=False,
    ),
)
