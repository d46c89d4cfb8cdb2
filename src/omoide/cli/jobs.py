"""`omoide jobs`: jobs that are waiting, running or dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omoide.cli.groups import CommandGroup
from omoide.cli.job_views import LEFT, left_lines, reason
from omoide.cli.scope import options, scoped
from omoide.cli.show import ago, emit, plural, table
from omoide.domain import JobState
from omoide.errors import BadInput

if TYPE_CHECKING:
    from omoide.cli.scope import Scope
    from omoide.domain import Job
    from omoide.engine.memory import Memory


@click.group(cls=CommandGroup, invoke_without_command=True)
@options
@click.pass_context
def jobs(ctx: click.Context) -> None:
    """Show, retry and run background jobs. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@jobs.command(name="list")
@click.option(
    "--state",
    "states",
    type=click.Choice([state.value for state in JobState]),
    multiple=True,
    help="Only jobs in this state; may be repeated.",
)
@click.option("--all-users", is_flag=True, help="Jobs of all users, not just one.")
@scoped
def list_(scope: Scope, states: tuple[str, ...], all_users: bool) -> None:
    """List jobs, oldest first; without --state, those that are not done."""
    wanted = [JobState(s) for s in states] or LEFT
    user = None if all_users else scope.user
    listed = scope.run(lambda memory: memory.jobs(user, states=wanted))
    if scope.json:
        emit(listed)
        return
    if not listed:
        click.echo("No jobs to show.")
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
            reason(job, now),
        )
        for job in listed
    ]
    click.echo(table(head, rows, right=(0, 3, 5)))


@jobs.command()
@click.argument("ids", type=int, nargs=-1, metavar="[JOB]...")
@click.option("--session", type=click.IntRange(min=1), help="Digest this session again.")
@scoped
def retry(scope: Scope, ids: tuple[int, ...], session: int | None) -> None:
    """Queue dead jobs again: those given, or all of the user's."""
    if ids and session is not None:
        raise click.UsageError("give jobs or --session, not both")

    async def work(memory: Memory) -> list[Job]:
        now = scope.outside.clock.now()
        if session is not None:
            return list(await memory.digest(scope.user, session=session, at=now))
        dead = {job.id for job in await memory.jobs(scope.user, states=[JobState.DEAD])}
        if unknown := sorted(set(ids) - dead):
            raise BadInput(
                f"job {unknown[0]} is not among the dead jobs of {scope.user}: see omoide jobs list"
            )
        wanted: list[int | None] = [*sorted(set(ids))] or [None]
        return [job for id_ in wanted for job in await memory.retry(scope.user, job=id_, at=now)]

    queued = scope.run(work)
    if scope.json:
        emit([job.id for job in queued])
    elif queued:
        click.echo(
            f"{plural(len(queued), 'job')} queued: run by the next chat, or now by omoide jobs run."
        )
    else:
        click.echo("There are no dead jobs.")


@jobs.command()
@click.option("--all-users", is_flag=True, help="For all users, not just one.")
@scoped
def embed(scope: Scope, all_users: bool) -> None:
    """Queue jobs that embed everything without a vector: after you changed the embedder, moved
    vectors to Qdrant or lost them there, or migrated a database."""

    async def work(memory: Memory) -> int:
        users = await memory.users() if all_users else (scope.user,)
        for user in users:
            await memory.embed(user, at=scope.outside.clock.now())
        return len(users)

    queued = scope.run(work)
    if scope.json:
        emit({"users": queued})
    else:
        click.echo(f"Queued for {plural(queued, 'user')}: run by omoide work or omoide jobs run.")


@jobs.command()
@scoped
def run(scope: Scope) -> None:
    """Run all jobs that are due, and wait for them."""

    async def work(memory: Memory) -> tuple[int, tuple[Job, ...]]:
        await memory.end_idle()
        done = await memory.run_jobs()
        return done, await memory.jobs(states=LEFT)

    done, left = scope.run(work)
    if scope.json:
        emit({"tried": done, "left": left})
    else:
        click.echo(f"{plural(done, 'job')} tried, {len(left)} not done (omoide jobs list).")
        for line in left_lines(left, scope.outside.clock.now()):
            click.echo(line)
