"""`omoide serve`: the memory over HTTP."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.cli.work import AT_ONCE
from omoide.errors import MissingExtra

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine.runtime import Runtime
    from omoide.settings import Settings


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8377,
    show_default=True,
    help="0 for any free port.",
)
@click.option(
    "--upstream",
    metavar="URL[#MODEL]",
    help="Forward chats to this OpenAI-compatible endpoint, or to one of another protocol: "
    "responses+URL (OpenAI's Responses), anthropic+URL, ollama+URL; with #MODEL it also writes the "
    "memory.  [default: the model of OMOIDE_MODEL]",
)
@click.option(
    "--default-user",
    metavar="NAME",
    help="The user of requests that name none.  [default: such requests are refused]",
)
@click.option(
    "--user-from-key",
    is_flag=True,
    help="A request that names no user is of the user with the name of its API key.",
)
@click.option(
    "--store/--no-store",
    default=True,
    show_default=True,
    help="Store responses and threads whose clients ask for it, to be continued by id.",
)
@click.option("--cors", multiple=True, metavar="ORIGIN", help="Allow this web origin; repeatable.")
@click.option(
    "--rate",
    type=click.IntRange(min=0),
    default=600,
    show_default=True,
    help="Most requests per minute and key.",
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Largest request body, in MiB.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Seconds to let replies finish when it is stopped.",
)
@click.option(
    "--work/--no-work",
    default=True,
    show_default=True,
    help="Also run jobs, or leave them to `omoide work` elsewhere.",
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
    user_from_key: bool,
    store: bool,
    cors: tuple[str, ...],
    rate: int,
    max_body: int,
    grace: float,
    work: bool,
    log_level: str,
) -> None:
    """Serve the memory: OpenAI's, Anthropic's and Ollama's protocols, REST under /api, a page at /.

    Point a client of theirs at http://127.0.0.1:8377 (OpenAI's: /v1) and it remembers. Without API
    keys only this machine may call; for any other --host create one first: omoide keys create NAME.
    A request has to name its user, unless --default-user, --user or OMOIDE_USER does.
    """
    try:
        from omoide.server import run as server
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the server needs {error.name}: pip install 'omoide[server]'"
        ) from error
    from omoide.server.greeting import Greeting
    from omoide.server.keys import ApiKeys
    from omoide.server.options import Options, check_address

    keys = ApiKeys(bootstrap.key_rows(scope.settings))
    settings = _with_upstream(scope.settings, upstream)
    options = Options(
        host=host,
        port=port,
        default_user=default_user or (scope.user if scope.named and not keys.any() else None),
        user_from_key=user_from_key,
        store=store,
        cors=cors,
        rate=rate,
        max_body=max_body * 1024 * 1024,
        grace=grace,
        work=work,
        at_once=AT_ONCE if settings.remote else 1,
    )
    check_address(options, keys)

    async def serving(runtime: Runtime) -> None:
        where = server.upstream_of(upstream or settings.model, runtime)
        greeting = Greeting(
            settings=settings,
            options=options,
            upstream=upstream or settings.model,
            keyed=keys.any(),
        )
        await server.run(
            runtime,
            upstream=where,
            keys=keys,
            options=options,
            log_level=log_level,
            greeting=greeting if sys.stderr.isatty() and not scope.json else None,
        )

    scope.run_with(serving, create=True, progress=None, settings=settings)


def _with_upstream(settings: Settings, upstream: str | None) -> Settings:
    """With an upstream that names its model, that model also writes the memory."""
    return replace(settings, model=upstream) if upstream and "#" in upstream else settings
