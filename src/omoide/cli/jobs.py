"""`omoide jobs`: the work that is still to be done, and what was given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.scope import options, scoped
from omoide.cli.show import ago, emit, many, table
from omoide.domain import Owner, State, Task
from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.domain import Job
    from omoide.engine import Memory


@click.group()
@options
def jobs() -> None:
    """Show, retry and do the work behind the memory."""


@jobs.command(name="list")
@click.option(
    "--state",
    "states",
    type=click.Choice([state.value for state in State]),
    multiple=True,
    help="Only jobs in this state; may be repeated.",
)
@click.option("--all-users", is_flag=True, help="Of every user, not of one.")
@scoped
def list_(scope: Scope, states: tuple[str, ...], all_users: bool) -> None:
    """List jobs, oldest first; without --state, those that are not done."""
    wanted = [State(s) for s in states] or [s for s in State if s is not State.DONE]
    user = None if all_users else scope.user
    found = scope.run(lambda memory: memory.jobs(user, states=wanted))
    if scope.json:
        emit(found)
        return
    if not found:
        click.echo("No work is waiting.")
        return
    now = scope.outside.clock.now()
    head = ("job", "user", "task", "session", "state", "tries", "created", "reason")
    rows = [
        (
            str(job.id),
            job.owner.user,
            job.task.value,
            str(job.session or ""),
            job.state.value,
            str(job.attempts),
            ago(job.created, now),
            job.error,
        )
        for job in found
    ]
    click.echo(table(head, rows, right=(0, 3, 5)))


@jobs.command()
@click.argument("ids", type=int, nargs=-1, metavar="[JOB]...")
@click.option("--session", type=click.IntRange(min=1), help="Digest this session again.")
@scoped
def retry(scope: Scope, ids: tuple[int, ...], session: int | None) -> None:
    """Give jobs another try: those named, or all that were given up."""

    async def work(memory: Memory) -> list[Job]:
        now = scope.outside.clock.now()
        if session is not None and not ids:
            owner = Owner(tenant=memory.tenant, user=scope.user)
            if session not in {s.number for s in await memory.sessions(scope.user)}:
                raise BadInput(f"{scope.user} has no session {session}")
            await memory.store.jobs.enqueue(owner, Task.DIGEST, session=session, at=now)
            waiting = await memory.jobs(scope.user, states=[State.WAITING])
            return [j for j in waiting if j.session == session and j.task is Task.DIGEST]
        dead = {job.id for job in await memory.jobs(scope.user, states=[State.DEAD])}
        if unknown := sorted(set(ids) - dead):
            raise BadInput(
                f"job {unknown[0]} is not among the given-up jobs of {scope.user}: "
                "see omoide jobs list"
            )
        wanted: list[int | None] = [*sorted(set(ids))] or [None]
        return [job for one in wanted for job in await memory.retry(scope.user, job=one, at=now)]

    queued = scope.run(work)
    if scope.json:
        emit([job.id for job in queued])
    elif queued:
        click.echo(
            f"{many(len(queued), 'job')} queued: done by the next chat, or now by omoide jobs run."
        )
    else:
        click.echo("No job was given up.")


@jobs.command()
@click.option("--all-users", is_flag=True, help="Of every user, not of one.")
@scoped
def embed(scope: Scope, all_users: bool) -> None:
    """Queue the making of vectors for what has none: after another embedder was set, vectors
    were moved to Qdrant or lost there, or a database was migrated."""

    async def work(memory: Memory) -> int:
        users = await memory.users() if all_users else (scope.user,)
        known = set(await memory.users())
        for user in users:
            if user not in known:
                raise BadInput(f"nothing is stored of {user}: there is nothing to embed")
            owner = Owner(tenant=memory.tenant, user=user)
            now = scope.outside.clock.now()
            await memory.store.jobs.enqueue(owner, Task.EMBED, session=None, at=now)
        return len(users)

    queued = scope.run(work)
    if scope.json:
        emit({"users": queued})
    else:
        click.echo(f"Queued for {many(queued, 'user')}: done by omoide work or omoide jobs run.")


@jobs.command()
@scoped
def run(scope: Scope) -> None:
    """Do all work that is due, and wait for it."""

    async def work(memory: Memory) -> tuple[int, tuple[Job, ...]]:
        await memory.end_idle()
        done = await memory.settle()
        return done, await memory.jobs(states=[State.WAITING, State.RUNNING, State.DEAD])

    done, left = scope.run(work)
    if scope.json:
        emit({"tried": done, "left": left})
    else:
        click.echo(f"{many(done, 'job')} tried, {len(left)} not done (omoide jobs list).")
