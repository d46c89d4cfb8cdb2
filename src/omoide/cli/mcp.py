"""`omoide mcp`: the memory as tools of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine import Memory


@click.command()
@click.option("--http", is_flag=True, help="Listen for HTTP instead of speaking over stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8378, show_default=True, help="With --http."
)
@scoped
def mcp(scope: Scope, http: bool, host: str, port: int) -> None:
    """Give an agent this memory: remember, recall, memory, forget (Model Context Protocol).

    Without options it speaks over stdin and stdout, as desktop agents start it. With --http it
    listens at http://127.0.0.1:8378/mcp; callers then need an API key of the tenant with every
    scope as soon as one exists (omoide keys create NAME), and for any other --host always.
    """
    try:
        from omoide.server.tools import make_tools
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"an MCP server needs {error.name}: pip install 'omoide[mcp]'"
        ) from error

    async def work(memory: Memory) -> None:
        tools = make_tools(memory, user=scope.user)
        if not http:
            await tools.run_stdio_async()
            return
        from omoide.server.keys import Keys
        from omoide.server.options import Options, check_address
        from omoide.server.tools_http import serve_tools

        keys = Keys(bootstrap.key_rows(scope.settings))
        options = Options(host=host, port=port)
        check_address(options, keys)
        await serve_tools(tools, keys=keys, options=options, tenant=memory.tenant)

    scope.run(work, create=True)
