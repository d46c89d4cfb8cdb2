"""A worker keeps the lease of its job for as long as the job takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from omoide.domain import Job, JobState, JobTask, Owner
from omoide.engine.worker import Worker
from omoide.errors import StoreLocked
from tests.virtual_time import START, LoopClock, run

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.ports import JobStore

LEASE = timedelta(minutes=2)
JOB = Job(
    id=1,
    owner=Owner(tenant="t", user="ana"),
    task=JobTask.DIGEST,
    session=1,
    state=JobState.WAITING,
    attempts=0,
    created=START,
    due=START,
)


class OneJob:
    """A queue with one job, which notes when nobody held it though it was not done."""

    def __init__(self, *, away: set[int]) -> None:
        self._clock = LoopClock()
        self._away = away
        """Which extensions fail, counted from 1, because the database is out of reach."""
        self._until = START
        self.extensions = 0
        self.lapses: list[timedelta] = []
        self.state = JobState.WAITING

    def _look(self) -> None:
        """Note for how long the lease was over, if it was."""
        if (late := self._clock.now() - self._until) > timedelta(0):
            self.lapses.append(late)

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """The job, once."""
        if self.state is not JobState.WAITING:
            return None
        self.state, self._until = JobState.RUNNING, now + lease
        return replace(JOB, worker=worker, attempts=1)

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """Hold it for longer, if the database can be reached."""
        self.extensions += 1
        if self.extensions in self._away:
            raise StoreLocked("the server is away")
        self._look()
        self._until = until
        return True

    async def set_state(self, job: Job, *, state: JobState, error: str = "", **_: object) -> bool:
        """Note what became of it."""
        self._look()
        self.state = state
        return True


@pytest.mark.parametrize("away", [set(), {1}, {2, 5}], ids=["reached", "once", "twice"])
def test_a_lease_never_lapses_while_the_job_runs(away: set[int]) -> None:
    """Each extension comes before the last one is over, also where the database was away for a
    moment, so nobody else takes the job up. Three in the time of a lease are enough."""

    async def main() -> OneJob:
        jobs = OneJob(away=away)

        async def work(_: Job) -> None:
            await asyncio.sleep(LEASE.total_seconds() * 5)

        worker = Worker(
            jobs=cast("JobStore", jobs),
            name="w",
            clock=LoopClock(),
            tasks={JobTask.DIGEST: work},
            lease=LEASE,
        )
        assert await worker.drain("t") == 1
        return jobs

    jobs = run(main())
    assert jobs.lapses == []
    assert 5 < jobs.extensions <= 3 * 5
    assert jobs.state is JobState.DONE


def test_a_lapse_would_be_seen() -> None:
    """The queue of these tests notes a lease that is extended too late."""

    async def main() -> list[timedelta]:
        jobs = OneJob(away=set())
        job = await jobs.claim("t", worker="w", now=START, lease=LEASE)
        assert job is not None
        await asyncio.sleep(LEASE.total_seconds() + 1)
        await jobs.extend(job, until=START + 2 * LEASE)
        return jobs.lapses

    assert run(main()) == [timedelta(seconds=1)]


def test_a_worker_that_nobody_wakes_looks_every_five_seconds() -> None:
    """Another process may have queued a job, so nobody has to wake the worker."""
    looked: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def tenants() -> tuple[str, ...]:
            looked.append(loop.time())
            return ()

        jobs = cast("JobStore", OneJob(away=set()))
        worker = Worker(jobs=jobs, name="w", clock=LoopClock(), tasks={}, lease=LEASE)
        running = asyncio.ensure_future(worker.run(tenants))
        await asyncio.sleep(11)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run(main())
    assert looked == pytest.approx([0, 5, 10])


class Failing(OneJob):
    """A queue whose job cannot be written as done, and which takes its time to say that there is
    no other."""

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """The job, then nothing after a second."""
        if self.state is not JobState.WAITING:
            await asyncio.sleep(1)
        return await super().claim(tenant, worker=worker, now=now, lease=lease)

    async def set_state(self, job: Job, *, state: JobState, error: str = "", **_: object) -> bool:
        """It cannot be reached."""
        raise StoreLocked("the server is away")


def test_a_job_that_fails_while_the_next_is_claimed_is_told() -> None:
    """Whoever waits for all jobs learns that the database failed, not that all is done."""

    async def at_once(job: Job) -> None:
        del job

    async def drained() -> None:
        jobs = cast("JobStore", Failing(away=set()))
        worker = Worker(jobs=jobs, name="w", clock=LoopClock(), tasks={JobTask.DIGEST: at_once})
        worker.at_once = 2
        with pytest.raises(StoreLocked):
            await worker.drain("t")

    run(drained())
