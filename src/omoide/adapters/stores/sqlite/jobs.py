"""Durable work. A claim is one transaction on the one file, so two workers never share a job.

What tells a hold on a job from any other is the worker together with the attempt: the same worker
may lose a job and take it again, and its older hold is void then.
"""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sqlite.rows import array, micros, moment, owner_id, settled_owner_id
from omoide.domain import Job, Owner, State, Task

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    import apsw

    from omoide.adapters.stores.sqlite.connection import Database

AT_ONCE = 0
"""Due since 1970: for work that follows from words, whose own times may lie in the future."""

_COLUMNS = (
    "jobs.id, owners.tenant, owners.user, task, session, state, attempts, created, due, error, "
    "worker"
)
_NEXT = """
SELECT id, state, until, worker FROM jobs
WHERE tenant = ? AND state IN ('waiting', 'running') AND (state = 'running' OR due <= ?
AND NOT EXISTS (
    SELECT 1 FROM jobs AS other
    WHERE other.owner = jobs.owner AND other.task = jobs.task
    AND other.state IN ('waiting', 'running') AND (other.state = 'running' OR other.id < jobs.id)
))
ORDER BY id
"""
"""Jobs that nothing is before, and those that run: one of these may have been abandoned."""


_PRUNE = """
DELETE FROM jobs WHERE id IN (
    SELECT older.id FROM jobs AS newest JOIN jobs AS older
    ON older.owner = newest.owner AND older.task = newest.task
    AND older.state = 'done' AND older.id < newest.id
    WHERE newest.id = ? AND newest.state = 'done')
"""


class SqliteJobs:
    """`Jobs` on SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """See `Jobs.claim`. Counts an attempt."""

        def work(connection: apsw.Connection) -> Job | None:
            moment_now = micros(now)
            candidates = connection.execute(_NEXT, (tenant, moment_now))
            free = (
                number
                for number, state, until, holder in candidates
                if state == State.WAITING or until <= moment_now or is_gone(holder)
            )
            chosen = next(free, None)
            candidates.close()
            if chosen is None:
                return None
            connection.execute(
                "UPDATE jobs SET state = 'running', attempts = attempts + 1, worker = ?, until = ? "
                "WHERE id = ?",
                (worker, micros(now + lease), chosen),
            )
            [job] = _jobs(connection, "jobs.id = ?", [chosen])
            return job

        return await self._database.write(work)

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """See `Jobs.extend`."""
        if job.state is not State.RUNNING:
            return False
        return await self._change(job, "until = ?", [micros(until)])

    async def settle(
        self, job: Job, *, state: State, error: str = "", due: datetime | None = None
    ) -> bool:
        """See `Jobs.settle`. It acts if the job is still as `job` says: in that state, at that
        attempt, held by that worker or by none. So a person may put a DEAD job back to WAITING."""
        if state is State.RUNNING:
            raise ValueError("a job is set running by claim, not by settle")
        return await self._change(
            job,
            "state = ?, error = ?, due = coalesce(?, due), worker = '', until = NULL",
            [state.value, error, None if due is None else micros(due)],
        )

    async def enqueue(self, owner: Owner, task: Task, *, session: int | None, at: datetime) -> None:
        """See `Jobs.enqueue`."""

        def work(connection: apsw.Connection) -> None:
            number = settled_owner_id(connection, owner)
            if not connection.execute(
                "SELECT 1 FROM jobs WHERE owner = ? AND task = ? AND session IS ? "
                "AND state IN ('waiting', 'running')",
                (number, task.value, session),
            ).fetchone():
                insert_job(connection, owner=number, task=task, session=session, created=micros(at))

        await self._database.write(work)

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[State] = ()
    ) -> tuple[Job, ...]:
        """See `Jobs.list`. An owner of another tenant has none here."""

        def work(connection: apsw.Connection) -> tuple[Job, ...]:
            where, values = "owners.tenant = ?", [tenant]
            if states:
                where += " AND state IN (SELECT value FROM json_each(?))"
                values.append(array([state.value for state in states]))
            if owner is not None:
                where += " AND owner = ?"
                return _jobs(connection, where, [*values, owner_id(connection, owner)])
            return _jobs(connection, where, [*values])

        return await self._database.read(work)

    async def _change(self, job: Job, setting: str, values: builtins.list[Any]) -> bool:
        def work(connection: apsw.Connection) -> bool:
            connection.execute(
                f"UPDATE jobs SET {setting} "  # noqa: S608
                "WHERE id = ? AND state = ? AND attempts = ? AND worker = ?",
                (*values, job.id, job.state.value, job.attempts, job.worker),
            )
            changed = connection.changes() > 0
            connection.execute(_PRUNE, (job.id,))
            return changed

        return await self._database.write(work)


def insert_job(
    connection: apsw.Connection,
    *,
    owner: int,
    task: Task,
    session: int | None,
    created: int,
    due: int | None = None,
) -> None:
    """Queue a job, due when it was created unless said otherwise."""
    connection.execute(
        "INSERT INTO jobs (owner, tenant, task, session, state, created, due) "
        "SELECT id, tenant, ?, ?, 'waiting', ?, ? FROM owners WHERE id = ?",
        (task.value, session, created, created if due is None else due, owner),
    )


def queue_embedding(connection: apsw.Connection, *, owner: int, created: int) -> None:
    """Queue the making of vectors, unless that is waiting to be done."""
    waiting = connection.execute(
        "SELECT 1 FROM jobs WHERE owner = ? AND task = 'embed' "
        "AND state IN ('waiting', 'running') AND state = 'waiting'",
        (owner,),
    ).fetchone()
    if not waiting:
        insert_job(
            connection, owner=owner, task=Task.EMBED, session=None, created=created, due=AT_ONCE
        )


def _jobs(connection: apsw.Connection, where: str, values: Sequence[Any]) -> tuple[Job, ...]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM jobs JOIN owners ON owners.id = owner "  # noqa: S608
        f"WHERE {where} ORDER BY jobs.id",
        values,
    )
    return tuple(
        Job(
            id=row[0],
            owner=Owner(tenant=row[1], user=row[2]),
            task=Task(row[3]),
            session=row[4],
            state=State(row[5]),
            attempts=row[6],
            created=moment(row[7]),
            due=moment(row[8]),
            error=row[9],
            worker=row[10],
        )
        for row in rows
    )


def worker_name() -> str:
    """A name for this process that no other has, and that tells whether it still runs."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_started(pid)}:{secrets.token_hex(4)}"


def is_gone(worker: str) -> bool:
    """Whether that worker is known to run no more: of this host, and not among its processes.

    Anything in doubt counts as running; its lease will tell.
    """
    match worker.split(":"):
        case [host, pid, started, _] if host == _host() and pid.isdecimal() and os.name == "posix":
            try:
                os.kill(int(pid), 0)
            except (ProcessLookupError, OverflowError):
                return True
            except PermissionError:
                pass  # it runs, as another user
            return started != _started(int(pid))
        case _:
            return False


def _host() -> str:
    """This machine and, in containers, this set of process numbers."""
    space = ""
    with suppress(OSError):
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return f"{socket.gethostname().replace(':', '-')}/{space}"


def _started(pid: int) -> str:
    """When the process began, in the kernel's ticks; empty where that cannot be known."""
    with suppress(OSError, IndexError):
        # The name in parentheses may itself hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
