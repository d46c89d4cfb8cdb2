"""`JobStore` and `Ledger` in documents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from omoide.domain import JobState

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import Job, JobTask, ModelCall, Owner


class DocumentJobs:
    """Jobs."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """See `JobStore.claim`. Reads every owner of the tenant; a dead worker is noticed only when
        its lease ends."""

        def take(seen: Job, record: Record) -> Job | None:
            if seen not in _free(record, now):
                return None
            job = replace(seen, state=JobState.RUNNING, attempts=seen.attempts + 1, worker=worker)
            record.jobs[record.jobs.index(seen)] = job
            record.until[seen.id] = now + lease
            return job

        while True:
            free: list[Job] = []
            for owner in await self._records.owners():
                if owner.tenant == tenant:
                    free += _free(await self._records.read(owner), now)
            if not free:
                return None
            for seen in sorted(free, key=lambda job: job.id):
                taken = await self._records.change(seen.owner, partial(take, seen))
                if taken is not None:
                    return taken

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """See `JobStore.extend`."""

        def work(record: Record, index: int) -> None:
            record.until[record.jobs[index].id] = until

        return job.state is JobState.RUNNING and await self._change(job, work)

    async def set_state(
        self, job: Job, *, state: JobState, error: str = "", due: datetime | None = None
    ) -> bool:
        """See `JobStore.set_state`."""
        if state is JobState.RUNNING:
            raise ValueError("a job is set running by claim, not by set_state")

        def work(record: Record, index: int) -> None:
            known = record.jobs[index]
            record.jobs[index] = replace(
                known, state=state, error=error, due=due or known.due, worker=""
            )
            record.until.pop(known.id, None)
            if state is JobState.DONE:
                record.jobs = [
                    other
                    for other in record.jobs
                    if (other.task, other.state) != (known.task, JobState.DONE)
                    or other.id >= known.id
                ]

        return await self._change(job, work)

    async def enqueue(
        self, owner: Owner, task: JobTask, *, session: int | None, at: datetime
    ) -> None:
        """See `JobStore.enqueue`."""

        def work(record: Record) -> None:
            if not any(
                (job.task, job.session) == (task, session)
                and job.state in (JobState.WAITING, JobState.RUNNING)
                for job in record.jobs
            ):
                record.queue(task, session=session, created=at, due=at)

        await self._records.change(owner, work)

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[JobState] = ()
    ) -> tuple[Job, ...]:
        """See `JobStore.list`."""
        jobs: list[Job] = []
        for other in await self._records.owners():
            if other.tenant == tenant and owner in (None, other):
                jobs += (await self._records.read(other)).jobs
        chosen = (job for job in jobs if not states or job.state in states)
        return tuple(sorted(chosen, key=lambda job: job.id))

    async def _change(self, job: Job, work: Callable[[Record, int], None]) -> bool:
        """Run `work` if the job is unchanged since it was read. Returns whether it was."""

        def change(record: Record) -> bool:
            for index, known in enumerate(record.jobs):
                if _lease(known) == _lease(job):
                    work(record, index)
                    return True
            return False

        return await self._records.change(job.owner, change)


def _lease(job: Job) -> tuple[int, JobState, int, str]:
    """What identifies one lease of a job."""
    return job.id, job.state, job.attempts, job.worker


def _free(record: Record, now: datetime) -> builtins.list[Job]:
    """The jobs that may be claimed."""
    running = {job.task for job in record.jobs if job.state is JobState.RUNNING}
    first = {
        job.task: job.id
        for job in sorted(record.jobs, key=lambda job: -job.id)
        if job.state is JobState.WAITING
    }
    return [
        job
        for job in record.jobs
        if (job.state is JobState.RUNNING and record.until[job.id] <= now)
        or (
            job.state is JobState.WAITING
            and job.due <= now
            and job.task not in running
            and first[job.task] == job.id
        )
    ]


class DocumentLedger:
    """The cost of model calls."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def add(self, owner: Owner, call: ModelCall) -> None:
        """See `Ledger.add`."""

        def work(record: Record) -> None:
            if record.stored:
                record.calls.append(call)

        await self._records.change(owner, work)

    async def calls(self, owner: Owner) -> tuple[ModelCall, ...]:
        """See `Ledger.calls`."""
        return tuple((await self._records.read(owner)).calls)
