"""Routes for operators: health, readiness, metrics."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response

from omoide.domain import JobState
from omoide.errors import StoreError
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.keys import Scope
from omoide.server.problems import slug_of
from omoide.server.read_routes import json_response

if TYPE_CHECKING:
    from omoide.server.endpoint import HandlerContext

_TEXT = "text/plain"
GLANCE = 0.5
"""Seconds that a probe waits to learn how many exchanges wait: who asks often waits for one."""


async def healthz(call: RouteCall) -> Response:
    """Liveness: the process answers; and how many exchanges wait to be stored."""
    return json_response({"status": "ok", **await _waiting(call.context, within=GLANCE)})


async def _waiting(context: HandlerContext, *, within: float | None = None) -> dict[str, int]:
    spool = context.runtime.spool
    if spool is None:
        return {}
    try:
        async with asyncio.timeout(within):
            status = await spool.status()
    except (StoreError, TimeoutError):
        return {}  # liveness does not depend on it
    return {"waiting": status.exchanges, "refused": status.refused}


async def readyz(call: RouteCall) -> Response:
    """Readiness: the database answers."""
    return await ready(call.context)


async def ready(context: HandlerContext) -> Response:
    """200 if the database answers, else 503."""
    waiting = await _waiting(context, within=GLANCE)
    try:
        await jobs(context)
    except StoreError as error:
        body = {"status": "unavailable", "reason": slug_of(error), **waiting}
        return json_response(body, status=503)
    return json_response({"status": "ok", **waiting})


async def jobs(context: HandlerContext) -> dict[str, int]:
    """Number of unfinished jobs by state, and how many of them are past due."""
    runtime = context.runtime
    now = runtime.clock.now()
    counts = {"waiting": 0, "running": 0, "dead": 0, "behind": 0}
    for tenant in runtime.known:
        unfinished = [state for state in JobState if state is not JobState.DONE]
        for job in await runtime.memory(tenant).jobs(states=unfinished):
            counts[job.state.value] += 1
            counts["behind"] += job.state is JobState.WAITING and job.due <= now
    return counts


async def metrics(call: RouteCall) -> Response:
    """Metrics for Prometheus."""
    waiting = await _waiting(call.context)
    text = call.context.metrics.text(await jobs(call.context), **waiting)
    return Response(text, media_type="text/plain; version=0.0.4")


ROUTES = (
    RouteSpec(
        method="GET",
        path="/healthz",
        handler=healthz,
        tag="operations",
        about="Liveness",
        needs=None,
        answer="Health",
        user=False,
    ),
    RouteSpec(
        method="GET",
        path="/readyz",
        handler=readyz,
        tag="operations",
        about="Readiness",
        needs=None,
        answer="Health",
        user=False,
    ),
    RouteSpec(
        method="GET",
        path="/metrics",
        handler=metrics,
        tag="operations",
        about="Metrics for Prometheus",
        needs=frozenset({Scope.ADMIN}),
        answer=_TEXT,
        user=False,
    ),
)
