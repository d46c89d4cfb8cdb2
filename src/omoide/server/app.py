"""The ASGI application: routes, request logs, metrics and background work."""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from omoide.errors import OmoideError
from omoide.server.access import Access
from omoide.server.dispatch import Dispatcher
from omoide.server.endpoint import HandlerContext
from omoide.server.idempotency import ReplayCache
from omoide.server.latest_replies import LatestReplies
from omoide.server.metrics import Metrics
from omoide.server.options import check_origins
from omoide.server.page import pages
from omoide.server.problems import OLLAMA_PATHS, HttpProblem, answer
from omoide.server.routes import ROUTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from omoide.engine.runtime import Runtime
    from omoide.server.endpoint import RouteSpec
    from omoide.server.keys import ApiKeys
    from omoide.server.options import Options
    from omoide.server.upstream import Upstream

log = logging.getLogger(__name__)

EXPOSED_HEADERS = (
    "X-Omoide-Recalled",
    "X-Omoide-Memory-Version",
    "X-Omoide-Memory-Tokens",
    "X-Omoide-Changed",
    "X-Omoide-Session",
    "X-Omoide-Status",
    "X-Omoide-Stored",
    "X-Request-Id",
)
"""Response headers that a web page on another origin may read."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """The parts of a server. `run` does the background work and closes them at the end."""

    runtime: Runtime
    upstream: Upstream
    keys: ApiKeys
    options: Options
    metrics: Metrics

    @classmethod
    def of(cls, runtime: Runtime, *, upstream: Upstream, keys: ApiKeys, options: Options) -> Server:
        """A server over this runtime, which it closes at the end."""
        metrics = Metrics()
        runtime.observers.append(metrics.call)
        return cls(runtime=runtime, upstream=upstream, keys=keys, options=options, metrics=metrics)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Do background work; on exit, finish pending writes and close."""
        runtime, options = self.runtime, self.options
        names = {key.tenant for key in await self.keys.current()} or {runtime.settings.tenant}
        for name in sorted(names):  # other tenants start with their first request
            runtime.memory(name)
        try:
            async with AsyncExitStack() as stack:
                await self._store_what_waits()
                if options.work:
                    working = runtime.working(
                        pause=options.pause, idle_every=options.idle_every, at_once=options.at_once
                    )
                    await stack.enter_async_context(working)
                else:
                    await stack.enter_async_context(runtime.replaying())
                yield
        finally:
            try:
                async with asyncio.timeout(options.grace):
                    await runtime.exchanges.settled()
            except TimeoutError:
                log.warning("stopped with writes still pending: the grace time ran out")
            try:
                await self.upstream.close()
            finally:
                await runtime.close_parts()

    async def _store_what_waits(self) -> None:
        """Store what a former process could not, before anything new is said; and make sure that
        words can wait in this one."""
        runtime = self.runtime
        if runtime.spool is None:
            return
        try:
            async with asyncio.timeout(self.options.patience):
                await runtime.spool.prepare()
                await runtime.exchanges.waiting.replay()
        except (OmoideError, TimeoutError) as error:  # it is tried again in the background
            log.warning("words still wait to be stored: %s", type(error).__name__)


def make_app(server: Server) -> Starlette:
    """The ASGI application."""
    options, replays, latest_replies = server.options, ReplayCache(), LatestReplies()
    check_origins(options, server.keys)
    access = Access(server.keys, options, tenant=server.runtime.settings.tenant)

    def forget(tenant: str, user: str) -> None:
        replays.forget(tenant, user)
        latest_replies.forget(tenant, user)

    context = HandlerContext(
        runtime=server.runtime,
        upstream=server.upstream,
        metrics=server.metrics,
        patience=options.patience,
        default_user=options.default_user,
        store=options.store,
        forget=forget,
        latest_replies=latest_replies,
    )
    dispatcher = Dispatcher(context, access, options, replays)
    by_path: dict[str, list[RouteSpec]] = {}
    for row in ROUTES:
        by_path.setdefault(row.path, []).append(row)
    routes = [
        Route(path, dispatcher.at(rows), methods=[row.method for row in rows])
        for path, rows in by_path.items()
    ]
    routes += pages()
    middleware = [Middleware(RequestLogging, metrics=server.metrics, known=frozenset(by_path))]
    if options.cors:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=options.cors,
                allow_methods=["GET", "POST", "PATCH", "DELETE"],
                allow_headers=["*"],
                expose_headers=EXPOSED_HEADERS,
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


class RequestLogging:
    """The outermost middleware. Gives each request an id, counts and logs it without its query or
    body, and turns an uncaught exception into a 500 that reveals nothing internal."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, known: frozenset[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, log_fields = monotonic(), 0, dict[str, str]()
        request = secrets.token_hex(8)

        async def observe(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                for name, value in message["headers"]:
                    if name == b"x-omoide-status":
                        log_fields["memory"] = value.decode("latin-1")
                extra = (b"x-request-id", request.encode())
                message = {**message, "headers": [*message["headers"], extra]}
            await send(message)

        try:
            await self._app(scope, receive, observe)
        except Exception:  # a process boundary: one request must not end the server
            log.exception("unexpected error", extra={"request": request})
            if not status:
                problem = HttpProblem(500, "internal-error", f"internal error; request {request}")
                await answer(problem, path=scope["path"])(scope, receive, observe)
        finally:
            state = scope.get("state", {})
            route = state.get("route") or (
                scope["path"] if scope["path"] in self._known else "other"
            )
            self._metrics.request(scope["method"], route, status)
            caller = state.get("caller")
            log.info(
                "request",
                extra={
                    "request": request,
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "ms": round((monotonic() - began) * 1000, 1),
                    **({"tenant": caller.tenant, "key": caller.key} if caller else {}),
                    **log_fields,
                },
            )


async def _plain_failure(request: Request, error: Exception) -> Response:
    """The router's 404 and 405, in the format of the route's protocol."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    path = request.url.path
    if error.status_code == 405:
        slug, detail = "method-not-allowed", f"{request.method} is not served at {path[:200]}"
    else:
        slug, detail = "not-found", f"nothing is served at {path[:200]}"
    served = ", ".join(_served(path))
    problem = HttpProblem(
        error.status_code, slug, f"{detail}; served are: {served}", headers=error.headers
    )
    return answer(problem, path=path)


def _served(path: str) -> list[str]:
    """What is served, for someone who asked for a path that is not: of Ollama's protocol if it is
    one of Ollama's, else of the same first folder, if it has any."""
    if path in OLLAMA_PATHS:
        return [f"{row.method} {row.path}" for row in ROUTES if row.tag == "ollama"]
    rows = [(row.path, f"{row.method} {row.path}") for row in ROUTES]
    folder = f"/{path.split('/')[1]}/"
    near = [name for where, name in rows if where.startswith(folder)]
    return near or [name for _, name in rows]
