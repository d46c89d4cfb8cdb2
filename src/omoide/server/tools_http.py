"""The tools over HTTP, behind the same keys as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvicorn
from starlette.datastructures import Headers

from omoide.server.access import EVERYTHING, Access
from omoide.server.problems import Problem, answer

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette import types

    from omoide.server.keys import Keys
    from omoide.server.options import Options


class Guarded:
    """Lets in whom `Access` lets in, for one tenant only. A key needs every scope, since one of
    the tools erases."""

    def __init__(self, app: types.ASGIApp, access: Access, *, tenant: str) -> None:
        self._app = app
        self._access = access
        self._tenant = tenant

    async def __call__(self, scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        """Pass one request through, or say why not."""
        if scope["type"] == "http":
            try:
                self._admit(Headers(scope=scope))
            except Problem as problem:
                await answer(problem, path=scope["path"])(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admit(self, headers: Headers) -> None:
        if self._access.admit(headers, EVERYTHING).tenant != self._tenant:
            raise Problem(403, "forbidden", "this key belongs to another tenant")


def guarded_app(tools: MCPServer, *, keys: Keys, options: Options, tenant: str) -> types.ASGIApp:
    """The ASGI application of the tools."""
    app = tools.streamable_http_app(host=options.host, max_request_body_size=options.max_body)
    return Guarded(app, Access(keys, options, tenant=tenant), tenant=tenant)


async def serve_tools(tools: MCPServer, *, keys: Keys, options: Options, tenant: str) -> None:
    """Listen until told to stop."""
    config = uvicorn.Config(
        guarded_app(tools, keys=keys, options=options, tenant=tenant),
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
    )
    await uvicorn.Server(config).serve()
