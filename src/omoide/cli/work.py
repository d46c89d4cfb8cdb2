"""`omoide work`: a process that does the work behind the memory, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.cli.show import emit, many
from omoide.composition import compose
from omoide.settings import Settings
from omoide.shift import Shift

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.engine import Memory


@click.command()
@click.option("--once", is_flag=True, help="Do what is due, and end.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.01),
    default=2.0,
    show_default=True,
    help="Seconds after which to look for more.",
)
@scoped
def work(scope: Scope, once: bool, every: float) -> None:
    """Digest and embed for all tenants of the database, or for the one of --tenant.

    Any number may run over one database, on any number of machines, beside any number of servers
    (`omoide serve --no-work`).
    """
    logging.basicConfig(level=logging.WARNING, format="omoide: %(message)s")
    given = click.get_current_context().meta
    named = given.get("omoide.tenant") or _unless_default(scope.settings.tenant)

    async def working(first: Memory) -> int:
        settings = scope.settings
        embedder = bootstrap.make_embedder(settings)
        name = bootstrap.worker_name()

        def memory(tenant: str) -> Memory:
            return compose(
                replace(settings, tenant=tenant),
                store=first.store,
                model=first.model,
                iterator=first.iterator,
                embedder=embedder,
                clock=scope.outside.clock,
                worker=name,
            )

        async def tenants() -> tuple[str, ...]:
            return (named,) if named else await first.store.archive.tenants()

        shift = Shift(tenants=tenants, memory=memory)
        if once:
            return await shift.once()
        task = asyncio.ensure_future(shift.run(every=every))
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # not on every system
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return 0

    done = scope.run(working, create=True)
    if scope.json:
        emit({"tried": done})
    elif once:
        click.echo(f"{many(done, 'job')} tried.")


def _unless_default(tenant: str) -> str | None:
    return tenant if tenant != Settings().tenant else None
