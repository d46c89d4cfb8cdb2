"""The job queue. Two workers never get the same job: a claim locks the owner's row, and succeeds
only if the job is unchanged since it was read.

A lease is identified by worker and attempt: the same worker may lose a job and claim it again, and
then its older lease is void.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.external import is_vanishing_owner
from omoide.adapters.stores.sql.rows import (
    ensured_owner_id,
    from_micros,
    lock_owner,
    locked_owner_id,
    owner_id,
    to_micros,
)
from omoide.adapters.stores.sql.workers import is_gone
from omoide.domain import Job, JobState, JobTask, Owner

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.adapters.stores.sql.connection import Connection, Database

AT_ONCE = 0
"""Due since 1970: for jobs that follow from turns, whose own times may lie in the future."""

_COLUMNS = (
    'jobs.id, owners.tenant, owners."user", task, session, state, attempts, created, due, error, '
    "worker"
)
_BEFORE = """
EXISTS (
    SELECT 1 FROM jobs AS other
    WHERE other.owner = jobs.owner AND other.task = jobs.task
    AND other.state IN ('waiting', 'running') AND (other.state = 'running' OR other.id < jobs.id)
)
"""
"""Whether a waiting job is blocked by another."""
_RUNNING = """
SELECT id, owner, state, attempts, worker, until FROM jobs
WHERE tenant = ? AND state IN ('waiting', 'running') AND state = 'running'
"""
_NEXT = f"""
SELECT id, owner, state, attempts, worker, until FROM jobs
WHERE tenant = ? AND state IN ('waiting', 'running') AND state = 'waiting' AND due <= ?
AND NOT {_BEFORE} ORDER BY id LIMIT 8
"""  # noqa: S608
"""The first few unblocked jobs: other workers may claim some of them first."""
_CLAIM = f"""
UPDATE jobs SET state = 'running', attempts = attempts + 1, worker = ?, until = ?
WHERE id = ? AND state = ? AND attempts = ? AND worker = ?
AND (state = 'running' OR NOT {_BEFORE})
"""  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A job that may be claimed, as it was read."""

    id: int
    owner: int
    state: str
    attempts: int
    worker: str


_PRUNE = """
DELETE FROM jobs WHERE id IN (
    SELECT older.id FROM jobs AS newest JOIN jobs AS older
    ON older.owner = newest.owner AND older.task = newest.task
    AND older.state = 'done' AND older.id < newest.id
    WHERE newest.id = ? AND newest.state = 'done')
"""


class SqlJobs:
    """`JobStore` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """See `JobStore.claim`. Counts an attempt."""
        at = to_micros(now)

        def look(connection: Connection) -> list[_Candidate]:
            running = connection.execute(_RUNNING, (tenant,)).fetchall()
            free = [row for row in running if row[5] <= at or is_gone(row[4])]
            free += connection.execute(_NEXT, (tenant, at)).fetchall()
            return [
                _Candidate(id=row[0], owner=row[1], state=row[2], attempts=row[3], worker=row[4])
                for row in sorted(free)
            ]

        def take(connection: Connection, seen: _Candidate) -> Job | None:
            lock_owner(connection, seen.owner)
            as_seen = (seen.id, seen.state, seen.attempts, seen.worker)
            connection.execute(_CLAIM, (worker, to_micros(now + lease), *as_seen))
            if not connection.changes():
                return None
            [job] = _jobs(connection, "jobs.id = ?", [seen.id])
            # A job of an owner who is being erased is never run; it goes with the other rows.
            return None if is_vanishing_owner(job.owner.user) else job

        while candidates := await self._database.read(tenant, look):
            for seen in candidates:
                if job := await self._database.write(tenant, partial(take, seen=seen)):
                    return job
        return None

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """See `JobStore.extend`."""
        if job.state is not JobState.RUNNING:
            return False
        return await self._change(job, "until = ?", [to_micros(until)])

    async def set_state(
        self, job: Job, *, state: JobState, error: str = "", due: datetime | None = None
    ) -> bool:
        """See `JobStore.set_state`. Succeeds only if state, attempt and worker are still as in
        `job`. So a person can set a DEAD job back to WAITING."""
        if state is JobState.RUNNING:
            raise ValueError("set_state cannot start a job: use claim")
        return await self._change(
            job,
            "state = ?, error = ?, due = coalesce(?, due), worker = '', until = NULL",
            [state.value, error, None if due is None else to_micros(due)],
        )

    async def enqueue(
        self, owner: Owner, task: JobTask, *, session: int | None, at: datetime
    ) -> None:
        """See `JobStore.enqueue`."""

        def work(connection: Connection) -> None:
            number = ensured_owner_id(connection, owner)
            if not connection.execute(
                "SELECT 1 FROM jobs WHERE owner = ? AND task = ? "
                "AND session IS NOT DISTINCT FROM CAST(? AS integer) "
                "AND state IN ('waiting', 'running')",
                (number, task.value, session),
            ).fetchone():
                insert_job(
                    connection, owner=number, task=task, session=session, created=to_micros(at)
                )

        await self._database.write(owner.tenant, work)

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[JobState] = ()
    ) -> tuple[Job, ...]:
        """See `JobStore.list`. Empty for an owner of another tenant."""

        def work(connection: Connection) -> tuple[Job, ...]:
            where, values = "owners.tenant = ?", list[object]([tenant])
            if states:
                where += " AND state IN (SELECT value FROM json_each(?))"
                values.append([state.value for state in states])
            if owner is not None:
                where += " AND owner = ?"
                values.append(owner_id(connection, owner))
            return _jobs(connection, where, values)

        return await self._database.read(tenant, work)

    async def _change(self, job: Job, setting: str, values: builtins.list[Any]) -> bool:
        def work(connection: Connection) -> bool:
            locked_owner_id(connection, job.owner)
            connection.execute(
                f"UPDATE jobs SET {setting} "  # noqa: S608
                "WHERE id = ? AND state = ? AND attempts = ? AND worker = ?",
                (*values, job.id, job.state.value, job.attempts, job.worker),
            )
            changed = connection.changes() > 0
            connection.execute(_PRUNE, (job.id,))
            return changed

        return await self._database.write(job.owner.tenant, work)


def insert_job(
    connection: Connection,
    *,
    owner: int,
    task: JobTask,
    session: int | None,
    created: int,
    due: int | None = None,
) -> None:
    """Queue a job, by default due at its creation time."""
    connection.execute(
        "INSERT INTO jobs (owner, tenant, task, session, state, created, due) "
        "SELECT id, tenant, ?, CAST(? AS integer), 'waiting', ?, ? FROM owners WHERE id = ?",
        (task.value, session, created, created if due is None else due, owner),
    )


def queue_embedding(connection: Connection, *, owner: int, created: int) -> None:
    """Queue an EMBED job unless one is waiting."""
    waiting = connection.execute(
        "SELECT 1 FROM jobs WHERE owner = ? AND task = 'embed' "
        "AND state IN ('waiting', 'running') AND state = 'waiting'",
        (owner,),
    ).fetchone()
    if not waiting:
        insert_job(
            connection, owner=owner, task=JobTask.EMBED, session=None, created=created, due=AT_ONCE
        )


def _jobs(connection: Connection, where: str, values: Sequence[Any]) -> tuple[Job, ...]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM jobs JOIN owners ON owners.id = owner "  # noqa: S608
        f"WHERE {where} ORDER BY jobs.id",
        values,
    )
    return tuple(
        Job(
            id=row[0],
            owner=Owner(tenant=row[1], user=row[2]),
            task=JobTask(row[3]),
            session=row[4],
            state=JobState(row[5]),
            attempts=row[6],
            created=from_micros(row[7]),
            due=from_micros(row[8]),
            error=row[9],
            worker=row[10],
        )
        for row in rows
    )
