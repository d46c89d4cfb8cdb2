"""Durable work. Two workers never share a job: whoever takes one holds its owner meanwhile, and
takes it only if it is still as it was seen.

What tells a hold on a job from any other is the worker together with the attempt: the same worker
may lose a job and take it again, and its older hold is void then.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.rows import (
    held_owner_id,
    micros,
    moment,
    owner_id,
    settled_owner_id,
)
from omoide.adapters.stores.sql.workers import is_gone
from omoide.domain import Job, Owner, State, Task

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.adapters.stores.sql.connection import Connection, Database

AT_ONCE = 0
"""Due since 1970: for work that follows from words, whose own times may lie in the future."""

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
"""Whether a waiting job has to wait for another."""
_RUNNING = """
SELECT id, owner, state, attempts, worker, until FROM jobs
WHERE tenant = ? AND state IN ('waiting', 'running') AND state = 'running'
"""
_NEXT = f"""
SELECT id, owner, state, attempts, worker, until FROM jobs
WHERE tenant = ? AND state IN ('waiting', 'running') AND state = 'waiting' AND due <= ?
AND NOT {_BEFORE} ORDER BY id LIMIT 8
"""  # noqa: S608
"""The first few that nothing is before: others may be quicker to take one."""
_HOLD = "SELECT id FROM owners WHERE id = ? /* FOR NO KEY UPDATE */"
_TAKE = f"""
UPDATE jobs SET state = 'running', attempts = attempts + 1, worker = ?, until = ?
WHERE id = ? AND state = ? AND attempts = ? AND worker = ?
AND (state = 'running' OR NOT {_BEFORE})
"""  # noqa: S608


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """A job that may be taken, as it was seen."""

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
    """`Jobs` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """See `Jobs.claim`. Counts an attempt."""
        at = micros(now)

        def look(connection: Connection) -> list[_Seen]:
            held = connection.execute(_RUNNING, (tenant,)).fetchall()
            free = [row for row in held if row[5] <= at or is_gone(row[4])]
            free += connection.execute(_NEXT, (tenant, at)).fetchall()
            return [
                _Seen(id=row[0], owner=row[1], state=row[2], attempts=row[3], worker=row[4])
                for row in sorted(free)
            ]

        def take(connection: Connection, seen: _Seen) -> Job | None:
            connection.execute(_HOLD, (seen.owner,)).fetchall()
            as_seen = (seen.id, seen.state, seen.attempts, seen.worker)
            connection.execute(_TAKE, (worker, micros(now + lease), *as_seen))
            if not connection.changes():
                return None
            [job] = _jobs(connection, "jobs.id = ?", [seen.id])
            return job

        while candidates := await self._database.read(tenant, look):
            for seen in candidates:
                if job := await self._database.write(tenant, partial(take, seen=seen)):
                    return job
        return None

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

        def work(connection: Connection) -> None:
            number = settled_owner_id(connection, owner)
            if not connection.execute(
                "SELECT 1 FROM jobs WHERE owner = ? AND task = ? "
                "AND session IS NOT DISTINCT FROM CAST(? AS integer) "
                "AND state IN ('waiting', 'running')",
                (number, task.value, session),
            ).fetchone():
                insert_job(connection, owner=number, task=task, session=session, created=micros(at))

        await self._database.write(owner.tenant, work)

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[State] = ()
    ) -> tuple[Job, ...]:
        """See `Jobs.list`. An owner of another tenant has none here."""

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
            held_owner_id(connection, job.owner)
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
    task: Task,
    session: int | None,
    created: int,
    due: int | None = None,
) -> None:
    """Queue a job, due when it was created unless said otherwise."""
    connection.execute(
        "INSERT INTO jobs (owner, tenant, task, session, state, created, due) "
        "SELECT id, tenant, ?, CAST(? AS integer), 'waiting', ?, ? FROM owners WHERE id = ?",
        (task.value, session, created, created if due is None else due, owner),
    )


def queue_embedding(connection: Connection, *, owner: int, created: int) -> None:
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
