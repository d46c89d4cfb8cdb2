"""The application: the table of routes behind the door, with logs, figures and background work."""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from omoide.server.access import Access
from omoide.server.door import Door
from omoide.server.endpoint import Desk
from omoide.server.idempotency import Replays
from omoide.server.lately import Lately
from omoide.server.metrics import Metrics
from omoide.server.page import pages
from omoide.server.problems import Problem, answer
from omoide.server.routes import ROUTES
from omoide.server.tenants import Tenants

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from omoide.server.endpoint import Endpoint
    from omoide.server.keys import Keys
    from omoide.server.options import Options
    from omoide.server.tenants import Parts
    from omoide.server.upstream import Upstream

log = logging.getLogger(__name__)

TOLD = (
    "X-Omoide-Recalled",
    "X-Omoide-Memory-Version",
    "X-Omoide-Memory-Tokens",
    "X-Omoide-Session",
    "X-Omoide-Status",
    "X-Request-Id",
)
"""Headers of an answer that a web page may read."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """Everything a server is made of. `run` does the background work and closes it in the end."""

    parts: Parts
    upstream: Upstream
    keys: Keys
    options: Options
    tenants: Tenants
    metrics: Metrics

    @classmethod
    def of(cls, parts: Parts, *, upstream: Upstream, keys: Keys, options: Options) -> Server:
        """A server of these parts."""
        metrics = Metrics()
        tenants = Tenants(parts, options=options, metrics=metrics)
        return cls(
            parts=parts,
            upstream=upstream,
            keys=keys,
            options=options,
            tenants=tenants,
            metrics=metrics,
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Work in the background; on leaving, finish what is being written and close."""
        names = {key.tenant for key in self.keys.list()} or {self.parts.settings.tenant}
        self.tenants.start(sorted(names))
        try:
            yield
        finally:
            try:
                async with asyncio.timeout(self.options.grace):
                    await self.tenants.stop()
            except TimeoutError:
                log.warning("stopped while something was still being written")
            await self.upstream.close()
            await self.parts.close()


def make_app(server: Server) -> Starlette:
    """The ASGI application."""
    options, replays, lately = server.options, Replays(), Lately()
    access = Access(server.keys, options, tenant=server.parts.settings.tenant)

    def forget(tenant: str, user: str) -> None:
        replays.forget(tenant, user)
        lately.forget(tenant, user)

    desk = Desk(
        tenants=server.tenants,
        upstream=server.upstream,
        metrics=server.metrics,
        default_user=options.default_user,
        forget=forget,
        lately=lately,
    )
    door = Door(desk, access, options, replays)
    by_path: dict[str, list[Endpoint]] = {}
    for row in ROUTES:
        by_path.setdefault(row.path, []).append(row)
    routes = [
        Route(path, door.at(rows), methods=[row.method for row in rows])
        for path, rows in by_path.items()
    ]
    routes += pages()
    middleware = [Middleware(Observed, metrics=server.metrics, known=frozenset(by_path))]
    if options.cors:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=options.cors,
                allow_methods=["GET", "POST"],
                allow_headers=["*"],
                expose_headers=TOLD,
            )
        )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        async with server.run():
            yield

    return Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=lifespan,
        exception_handlers={HTTPException: _plain_failure},
    )


class Observed:
    """The outermost layer: numbers requests, counts and logs them, without query or words; and
    turns what nobody caught into a 500 that says nothing of the inside."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, known: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, told = monotonic(), 0, dict[str, str]()
        request = secrets.token_hex(8)

        async def observe(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                for name, value in message["headers"]:
                    if name == b"x-omoide-status":
                        told["memory"] = value.decode("latin-1")
                extra = (b"x-request-id", request.encode())
                message = {**message, "headers": [*message["headers"], extra]}
            await send(message)

        try:
            await self._app(scope, receive, observe)
        except Exception:
            log.exception("unexpected error", extra={"request": request})
            if not status:
                problem = Problem(500, "internal-error", f"an error of ours; request {request}")
                await answer(problem, path=scope["path"])(scope, receive, observe)
        finally:
            route = scope["path"] if scope["path"] in self._known else "other"
            self._metrics.request(scope["method"], route, status)
            caller = scope.get("state", {}).get("caller")
            log.info(
                "request",
                extra={
                    "request": request,
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "ms": round((monotonic() - began) * 1000, 1),
                    **({"tenant": caller.tenant, "key": caller.key} if caller else {}),
                    **told,
                },
            )


async def _plain_failure(request: Request, error: Exception) -> Response:
    """404 and 405 of the router, in the words of the route's protocol."""
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    slug = "method-not-allowed" if error.status_code == 405 else "not-found"
    problem = Problem(error.status_code, slug, error.detail, headers=error.headers)
    return answer(problem, path=request.url.path)
