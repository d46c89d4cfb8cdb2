"""The contract of `JobStore`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.domain import JobState, JobTask
from omoide.testing.contracts.making import ANN, ANN_ELSEWHERE, BOB, HOUR, MINUTE, START
from omoide.testing.contracts.store.base import StoreSuite

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Job, Owner
    from omoide.ports import Store


async def queue(
    store: Store, owner: Owner, *sessions: int, task: JobTask = JobTask.DIGEST, at: datetime = START
) -> None:
    """Queue a job for each session."""
    for session in sessions:
        await store.jobs.enqueue(owner, task, session=session, at=at)


async def claim(
    store: Store, *, worker: str = "one", now: datetime = START, tenant: str = "acme"
) -> Job | None:
    """Claim a job for ten minutes."""
    return await store.jobs.claim(tenant, worker=worker, now=now, lease=10 * MINUTE)


async def taken(store: Store, *, worker: str = "one", now: datetime = START) -> Job:
    """Claim a job that must exist."""
    job = await claim(store, worker=worker, now=now)
    assert job is not None
    return job


class JobsContract(StoreSuite):
    """The contract of `JobStore`."""

    async def test_claim_takes_the_oldest_that_is_due(self, store: Store) -> None:
        """The oldest due job is claimed; its attempt and worker are recorded."""
        await queue(store, ANN, 1, at=START + HOUR)
        await queue(store, BOB, 4)
        job = await taken(store, worker="w")
        assert (job.owner, job.task, job.session) == (BOB, JobTask.DIGEST, 4)
        assert (job.state, job.attempts, job.worker, job.error) == (JobState.RUNNING, 1, "w", "")
        assert (job.created, job.due) == (START, START)
        assert await claim(store) is None
        assert (await taken(store, now=START + HOUR)).owner == ANN

    async def test_claim_stays_in_its_tenant(self, store: Store) -> None:
        """A worker of one tenant never gets another's jobs."""
        await queue(store, ANN_ELSEWHERE, 1)
        assert await claim(store) is None
        assert await claim(store, tenant="other") is not None

    async def test_one_at_a_time_in_order(self, store: Store) -> None:
        """Jobs of one owner and task run one after another; other tasks and owners do not wait."""
        await queue(store, ANN, 1, 2)
        await queue(store, ANN, 1, task=JobTask.EMBED)
        await queue(store, BOB, 1)
        first = await taken(store)
        others = [await taken(store, worker="two"), await taken(store, worker="three")]
        assert [(j.owner, j.task) for j in others] == [(ANN, JobTask.EMBED), (BOB, JobTask.DIGEST)]
        assert await claim(store, worker="four") is None
        assert await store.jobs.set_state(first, state=JobState.DONE)
        assert (await taken(store)).session == 2

    async def test_retry_holds_back_the_later(self, store: Store) -> None:
        """A job waiting for a retry blocks the later ones of its owner and task."""
        await queue(store, ANN, 1, 2)
        job = await taken(store)
        assert await store.jobs.set_state(
            job, state=JobState.WAITING, error="no model", due=START + HOUR
        )
        assert await claim(store) is None
        again = await taken(store, now=START + HOUR)
        assert (again.session, again.attempts, again.error) == (1, 2, "no model")

    async def test_dead_does_not_hold_back(self, store: Store) -> None:
        """A dead job does not block the later ones."""
        await queue(store, ANN, 1, 2)
        assert await store.jobs.set_state(await taken(store), state=JobState.DEAD, error="hopeless")
        assert (await taken(store)).session == 2
        [dead] = await store.jobs.list("acme", states=[JobState.DEAD])
        assert (dead.session, dead.error, dead.worker) == (1, "hopeless", "")

    async def test_lease_that_ran_out(self, store: Store) -> None:
        """A job whose lease expired is claimed again, and its first worker can no longer change
        it."""
        await queue(store, ANN, 1)
        first = await taken(store)
        assert await claim(store, worker="two", now=START + 9 * MINUTE) is None
        second = await taken(store, worker="two", now=START + 10 * MINUTE)
        assert (second.id, second.attempts, second.worker) == (first.id, 2, "two")
        assert not await store.jobs.extend(first, until=START + HOUR)
        assert not await store.jobs.set_state(first, state=JobState.DONE)
        assert await store.jobs.set_state(second, state=JobState.DONE)

    async def test_late_but_unchallenged(self, store: Store) -> None:
        """A worker whose lease expired may still finish the job if no other has claimed it."""
        await queue(store, ANN, 1)
        job = await taken(store)
        assert await store.jobs.set_state(job, state=JobState.DONE)

    async def test_same_worker_takes_again(self, store: Store) -> None:
        """A worker that claims the same job again invalidates its own older lease."""
        await queue(store, ANN, 1)
        first = await taken(store)
        second = await taken(store, now=START + HOUR)
        assert not await store.jobs.set_state(first, state=JobState.DEAD)
        assert await store.jobs.extend(second, until=START + 2 * HOUR)

    async def test_extend_holds_longer(self, store: Store) -> None:
        """An extended job cannot be claimed until the new time."""
        await queue(store, ANN, 1)
        job = await taken(store)
        assert await store.jobs.extend(job, until=START + HOUR)
        assert await claim(store, worker="two", now=START + 59 * MINUTE) is None
        assert await claim(store, worker="two", now=START + HOUR) is not None

    async def test_settled_job_cannot_be_extended(self, store: Store) -> None:
        """A job that is not running has no lease to extend."""
        await queue(store, ANN, 1)
        job = await taken(store)
        await store.jobs.set_state(job, state=JobState.DONE)
        [done] = await store.jobs.list("acme")
        assert not await store.jobs.extend(job, until=START + HOUR)
        assert not await store.jobs.extend(done, until=START + HOUR)

    async def test_person_revives_a_dead_job(self, store: Store) -> None:
        """A DEAD job can be set back to WAITING, once; it never runs in parallel with a later
        one."""
        await queue(store, ANN, 1, 2)
        await store.jobs.set_state(await taken(store), state=JobState.DEAD)
        [dead] = await store.jobs.list("acme", states=[JobState.DEAD])
        second = await taken(store)
        assert await store.jobs.set_state(dead, state=JobState.WAITING, due=START)
        assert not await store.jobs.set_state(dead, state=JobState.WAITING, due=START)
        assert await claim(store) is None
        retaken = await taken(store, worker="two", now=START + HOUR)
        assert retaken.id == second.id
        await store.jobs.set_state(retaken, state=JobState.DONE)
        assert (await taken(store)).session == 1

    async def test_enqueue_the_same_once(self, store: Store) -> None:
        """The same job is not queued while one waits or runs, but can be once it is done."""
        await queue(store, ANN, 1, 1)
        job = await taken(store)
        await queue(store, ANN, 1)
        assert len(await store.jobs.list("acme")) == 1
        await store.jobs.set_state(job, state=JobState.DONE)
        await queue(store, ANN, 1)
        await store.jobs.enqueue(ANN, JobTask.EMBED, session=None, at=START)
        await store.jobs.enqueue(ANN, JobTask.EMBED, session=None, at=START)
        await queue(store, BOB, 1)
        jobs = await store.jobs.list("acme")
        assert [(j.owner, j.task, j.session, j.state) for j in jobs] == [
            (ANN, JobTask.DIGEST, 1, JobState.DONE),
            (ANN, JobTask.DIGEST, 1, JobState.WAITING),
            (ANN, JobTask.EMBED, None, JobState.WAITING),
            (BOB, JobTask.DIGEST, 1, JobState.WAITING),
        ]

    async def test_list_chooses(self, store: Store) -> None:
        """Jobs are listed oldest first, by tenant, owner and state."""
        for owner in (ANN, BOB, ANN_ELSEWHERE):
            await queue(store, owner, 1, 2)
        await store.jobs.set_state(await taken(store), state=JobState.DONE)
        await taken(store)

        async def listed(**choice: object) -> list[tuple[Owner, int | None]]:
            jobs = await store.jobs.list("acme", **choice)  # type: ignore[arg-type]
            return [(job.owner, job.session) for job in jobs]

        assert await listed() == [(ANN, 1), (ANN, 2), (BOB, 1), (BOB, 2)]
        assert await listed(owner=BOB) == [(BOB, 1), (BOB, 2)]
        assert await listed(owner=ANN_ELSEWHERE) == []
        assert await listed(states=[JobState.DONE, JobState.RUNNING]) == [(ANN, 1), (ANN, 2)]
        assert await listed(owner=ANN, states=[JobState.WAITING]) == []
        assert len(await store.jobs.list("other")) == 2

    async def test_many_workers_share_nothing(self, stores: tuple[Store, Store]) -> None:
        """With many concurrent workers, each job goes to exactly one."""
        one, two = stores
        for number in range(12):
            await queue(one, ANN, number, task=JobTask.DIGEST)
        for number in range(12):
            await one.jobs.enqueue(BOB, JobTask.EMBED, session=number, at=START)
        done: list[tuple[Owner, int | None]] = []

        async def work(store: Store, name: str) -> None:
            while job := await claim(store, worker=name):
                done.append((job.owner, job.session))
                assert await store.jobs.set_state(job, state=JobState.DONE)

        for _ in range(30):  # a worker stops when both queues are blocked
            await asyncio.gather(*(work(s, f"w{i}") for i, s in enumerate([one, two, one, two])))
        assert [n for owner, n in done if owner == ANN] == list(range(12))
        assert [n for owner, n in done if owner == BOB] == list(range(12))

    async def test_only_the_newest_finished_job_is_kept(self, store: Store) -> None:
        """Finished jobs do not accumulate."""
        await queue(store, ANN, 1, 2, 3)
        for _ in range(3):
            assert await store.jobs.set_state(await taken(store), state=JobState.DONE)
        assert [job.session for job in await store.jobs.list("acme")] == [3]
