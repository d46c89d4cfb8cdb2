"""`omoide serve`: the memory behind HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.server.tenants import Parts
    from omoide.settings import Settings


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0 takes any."
)
@click.option(
    "--upstream",
    metavar="URL[#MODEL]",
    help="Forward chats to this OpenAI-compatible endpoint; with a #MODEL that also writes the "
    "memory.  [default: the model of OMOIDE_MODEL]",
)
@click.option("--default-user", metavar="NAME", help="Whose memory where a request names nobody.")
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Let this web origin call.")
@click.option(
    "--rate", type=click.IntRange(min=0), default=600, show_default=True, help="A minute and key."
)
@click.option(
    "--max-body", type=click.IntRange(min=1), default=16, show_default=True, help="In MiB."
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Seconds that replies may still take when it is stopped.",
)
@click.option(
    "--work/--no-work",
    default=True,
    show_default=True,
    help="Also digest sessions, or leave that to `omoide work` elsewhere.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
)
@scoped
def serve(
    scope: Scope,
    host: str,
    port: int,
    upstream: str | None,
    default_user: str | None,
    cors: tuple[str, ...],
    rate: int,
    max_body: int,
    grace: float,
    work: bool,
    log_level: str,
) -> None:
    """Serve the memory: an OpenAI-compatible proxy under /v1, REST under /api, a page at /.

    Point any OpenAI client at http://127.0.0.1:8377/v1 and it remembers. Without API keys only
    this machine may call; for any other --host make one first: omoide keys create NAME.
    """
    try:
        from omoide.server import run as server
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the server needs {error.name}: pip install 'omoide[server]'"
        ) from error
    from omoide.server.keys import Keys
    from omoide.server.options import Options, check_address

    keys = Keys(bootstrap.key_rows(scope.settings))
    options = Options(
        host=host,
        port=port,
        default_user=default_user or (None if keys.any() else scope.user),
        cors=cors,
        rate=rate,
        max_body=max_body * 1024 * 1024,
        grace=grace,
        work=work,
    )
    check_address(options, keys)
    settings = _with_upstream(scope.settings, upstream)

    async def serving() -> None:
        parts = await _parts(scope, settings)
        where = server.upstream_of(upstream or settings.model, parts)
        await server.run(parts, upstream=where, keys=keys, options=options, log_level=log_level)

    asyncio.run(serving())


async def _parts(scope: Scope, settings: Settings) -> Parts:
    from omoide.server.tenants import Parts

    memory = await scope.outside.open(settings, create=True, progress=None)
    return Parts(
        settings=settings,
        store=memory.store,
        model=memory.model,
        iterator=memory.iterator,
        embedder=bootstrap.make_embedder(settings),
        clock=scope.outside.clock,
        worker=bootstrap.worker_name(),
    )


def _with_upstream(settings: Settings, upstream: str | None) -> Settings:
    """An upstream that names its model replies and writes the memory too."""
    return replace(settings, model=upstream) if upstream and "#" in upstream else settings
