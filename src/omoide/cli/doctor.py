"""`omoide doctor`: whether the memory works, and what to do if not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from omoide import bootstrap
from omoide.cli.scope import scoped
from omoide.cli.show import ago, emit, one_line, plural, warning
from omoide.domain import JobState
from omoide.engine.checking import unreadable
from omoide.errors import OmoideError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.cli.scope import Scope
    from omoide.engine.runtime import Runtime
    from omoide.ports.spool import SpoolStatus


SHOWN = 5
"""How many damaged places are named."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    what: str
    well: bool
    told: str


@click.command()
@scoped
def doctor(scope: Scope) -> None:
    """Say whether the memory works: its database, what waits to be stored, and its jobs.

    Reads everything that is stored once, to find what is damaged.
    Ends with status 1 if something needs a person.
    """
    checks = [*_database(scope), _waiting(scope)]
    if scope.json:
        emit(checks)
    else:
        for check in checks:
            line = f"{'·' if check.well else '!'} {check.what}: {check.told}"
            click.echo(line if check.well else warning(line))
    if not all(check.well for check in checks):
        raise click.exceptions.Exit(1)


def _database(scope: Scope) -> list[Check]:
    where = scope.settings.db
    place = repr(where).strip("<>") if isinstance(where, str) else str(where)

    async def look(runtime: Runtime) -> list[Check]:
        tenants = await runtime.tenants()
        dead = waiting = 0
        for tenant in tenants:
            jobs = await runtime.memory(tenant).jobs(states=[JobState.DEAD, JobState.WAITING])
            dead += sum(job.state is JobState.DEAD for job in jobs)
            waiting += sum(job.state is JobState.WAITING for job in jobs)
        told = f"{plural(waiting, 'job')} waiting"
        if dead:
            told += f", {dead:,} given up: omoide jobs list --all-users"
        answers = f"{place} answers, {plural(len(tenants), 'tenant')}"
        return [
            Check(what="database", well=True, told=answers),
            await _readable(runtime, tenants),
            Check(what="jobs", well=not dead, told=told),
        ]

    try:
        return scope.run_with(look, progress=None)
    except OmoideError as error:
        return [Check(what="database", well=False, told=one_line(str(error)))]


async def _readable(runtime: Runtime, tenants: Iterable[str]) -> Check:
    """Whether everything that is stored can be read."""
    damaged = [
        f"{part} of {user}" + (f" (tenant {tenant})" if tenant != runtime.settings.tenant else "")
        for tenant in tenants
        for user in await runtime.memory(tenant).users()
        for part in await unreadable(runtime.memory(tenant), user)
    ]
    what = "stored words"
    if not damaged:
        return Check(what=what, well=True, told="all can be read")
    shown = ", ".join(one_line(part) for part in damaged[:SHOWN])
    more = f" and {len(damaged) - SHOWN:,} more" if len(damaged) > SHOWN else ""
    told = f"damaged, cannot be read: {shown}{more}; restore a backup, they are not repaired"
    return Check(what=what, well=False, told=told)


def _waiting(scope: Scope) -> Check:
    """Looked at without the database, since that may be what fails."""
    spool = bootstrap.make_spool(scope.settings)
    what = "words that wait to be stored"
    if spool is None:
        none = "they cannot wait: the database is encrypted, or OMOIDE_SPOOL is none"
        return Check(what=what, well=True, told=none)
    try:
        status = asyncio.run(spool.status())
    except OmoideError as error:
        return Check(what=what, well=False, told=one_line(str(error)))
    told = _spool_line(status, scope.outside.clock.now())
    return Check(what=what, well=not (status.exchanges or status.refused), told=told)


def _spool_line(status: SpoolStatus, now: datetime) -> str:
    told = []
    if status.exchanges and status.oldest is not None:
        waiting = plural(status.exchanges, "exchange")
        told.append(
            f"{waiting} in {status.where}, the oldest {ago(status.oldest, now)}: a running omoide "
            "serve or omoide work stores them as soon as the database takes them"
        )
    if status.refused:
        refused = plural(status.refused, "exchange")
        told.append(
            f"{refused} could not be stored, kept in {status.where}: each omoide serve or "
            "omoide work tries once when it starts, so a newer version may store them"
        )
    return "; ".join(told) or "none"
