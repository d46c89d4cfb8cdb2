"""The MCP tools over HTTP, protected by the same API keys as the other routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvicorn
from starlette.datastructures import Headers

from omoide.errors import OmoideError
from omoide.server.access import EVERYTHING, Access
from omoide.server.connections import protocol
from omoide.server.problems import HttpProblem, answer, problem_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette import types

    from omoide.server.keys import ApiKeys
    from omoide.server.options import Options


class KeyRequired:
    """Middleware that requires a key of one tenant. The key needs every scope, since one of the
    tools erases."""

    def __init__(self, app: types.ASGIApp, access: Access, *, tenant: str) -> None:
        self._app = app
        self._access = access
        self._tenant = tenant

    async def __call__(self, scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        """Pass the request on, or answer with the reason it was refused."""
        if scope["type"] == "http":
            try:
                await self._admit(Headers(scope=scope))
            except (HttpProblem, OmoideError) as error:
                problem = error if isinstance(error, HttpProblem) else problem_of(error)
                await answer(problem, path=scope["path"])(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _admit(self, headers: Headers) -> None:
        if (await self._access.admit(headers, EVERYTHING)).tenant != self._tenant:
            raise HttpProblem(403, "forbidden", "this API key belongs to another tenant")


def guarded_app(tools: MCPServer, *, keys: ApiKeys, options: Options, tenant: str) -> types.ASGIApp:
    """The ASGI application of the tools, with authentication."""
    app = tools.streamable_http_app(host=options.host, max_request_body_size=options.max_body)
    return KeyRequired(app, Access(keys, options, tenant=tenant), tenant=tenant)


async def serve_tools(tools: MCPServer, *, keys: ApiKeys, options: Options, tenant: str) -> None:
    """Serve until stopped."""
    config = uvicorn.Config(
        guarded_app(tools, keys=keys, options=options, tenant=tenant),
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        http=protocol(options.receive),
    )
    await uvicorn.Server(config).serve()
