"""`omoide mcp`: the memory as tools for an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine.runtime import Runtime


@click.command()
@click.option("--http", is_flag=True, help="Listen for HTTP instead of speaking over stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8378, show_default=True, help="With --http."
)
@scoped
def mcp(scope: Scope, http: bool, host: str, port: int) -> None:
    """Give an agent this memory as tools (Model Context Protocol): remember, recall, memory, facts,
    timeline, correct, forget.

    Without options it uses stdin and stdout, as desktop agents expect. With --http it listens at
    http://127.0.0.1:8378/mcp. Once an API key exists (omoide keys create NAME), callers need one of
    the tenant with all scopes; with any other --host they always do.
    """
    try:
        from omoide.server.tools import make_tools
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"an MCP server needs {error.name}: pip install 'omoide[mcp]'"
        ) from error

    async def work(runtime: Runtime) -> None:
        tools = make_tools(runtime, user=scope.user)
        if not http:
            await tools.run_stdio_async()
            return
        from omoide.server.keys import ApiKeys
        from omoide.server.options import Options, check_address
        from omoide.server.tools_http import serve_tools

        keys = ApiKeys(bootstrap.key_rows(scope.settings))
        options = Options(host=host, port=port)
        check_address(options, keys)
        await serve_tools(tools, keys=keys, options=options, tenant=scope.settings.tenant)

    scope.run_with(work, create=True)
