"""`omoide work`: a process that only runs background jobs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import TYPE_CHECKING

import click

from omoide.cli.job_views import LEFT, due_line, left_lines
from omoide.cli.scope import scoped
from omoide.cli.show import emit, plural
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.cli.scope import Scope
    from omoide.domain import Job
    from omoide.engine.runtime import Runtime


AT_ONCE = 4
"""Jobs at a time, if the model is behind an endpoint and needs no CPU here."""


@click.command()
@click.option("--once", is_flag=True, help="Run the jobs that are due, then exit.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.01),
    default=2.0,
    show_default=True,
    help="Seconds between checks for new jobs.",
)
@scoped
def work(scope: Scope, once: bool, every: float) -> None:
    """Run the jobs (digest, embed) of all tenants of the database, or of --tenant.

    Any number of workers may share one database, on any number of machines, beside any number of
    servers (`omoide serve --no-work`).
    """
    logging.basicConfig(level=logging.WARNING, format="omoide: %(message)s")
    option = click.get_current_context().meta.get("omoide.tenant")
    named = option or _unless_default(scope.settings.tenant)

    async def left(runtime: Runtime, tenants: Sequence[str]) -> list[Job]:
        return [job for name in tenants for job in await runtime.memory(name).jobs(states=LEFT)]

    async def working(runtime: Runtime) -> tuple[int, list[Job]]:
        async def tenants() -> tuple[str, ...]:
            return (named,) if named else await runtime.tenants()

        if once:
            await runtime.exchanges.waiting.replay()
            names = await tenants()
            for name in names:
                await runtime.end_idle(name)
            line = due_line(await left(runtime, names), scope.outside.clock.now())
            if line and not scope.json:
                click.echo(line, err=True)
            done = await runtime.run_jobs(*names)
            return done, await left(runtime, names)
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # not on every system
                asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        at_once = AT_ONCE if scope.settings.remote else 1
        async with runtime.working(tenants=tenants, every=every, at_once=at_once):
            await stopped.wait()
        return 0, []

    done, undone = scope.run_with(working, create=True)
    if scope.json:
        emit({"tried": done, "left": undone})
    elif once:
        click.echo(f"{plural(done, 'job')} tried.")
        for line in left_lines(undone, scope.outside.clock.now()):
            click.echo(line)


def _unless_default(tenant: str) -> str | None:
    return tenant if tenant != Settings().tenant else None
