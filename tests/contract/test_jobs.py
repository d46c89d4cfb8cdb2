"""The contract of `Jobs`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite import worker_name
from omoide.domain import State, Task
from tests.contract.making import ANN, ANN_ELSEWHERE, BOB, HOUR, MINUTE, START

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Job, Owner
    from omoide.ports import Store


async def queue(
    store: Store, owner: Owner, *sessions: int, task: Task = Task.DIGEST, at: datetime = START
) -> None:
    """Queue a job for each session."""
    for session in sessions:
        await store.jobs.enqueue(owner, task, session=session, at=at)


async def claim(
    store: Store, *, worker: str = "one", now: datetime = START, tenant: str = "acme"
) -> Job | None:
    """Take a job for ten minutes."""
    return await store.jobs.claim(tenant, worker=worker, now=now, lease=10 * MINUTE)


async def taken(store: Store, *, worker: str = "one", now: datetime = START) -> Job:
    """Take a job that must be there."""
    job = await claim(store, worker=worker, now=now)
    assert job is not None
    return job


async def test_claim_takes_the_oldest_that_is_due(store: Store) -> None:
    """The oldest job whose time has come is taken, its attempt counted, its worker named."""
    await queue(store, ANN, 1, at=START + HOUR)
    await queue(store, BOB, 4)
    job = await taken(store, worker="w")
    assert (job.owner, job.task, job.session) == (BOB, Task.DIGEST, 4)
    assert (job.state, job.attempts, job.worker, job.error) == (State.RUNNING, 1, "w", "")
    assert (job.created, job.due) == (START, START)
    assert await claim(store) is None
    assert (await taken(store, now=START + HOUR)).owner == ANN


async def test_claim_stays_in_its_tenant(store: Store) -> None:
    """A worker of one tenant never gets another's work."""
    await queue(store, ANN_ELSEWHERE, 1)
    assert await claim(store) is None
    assert await claim(store, tenant="other") is not None


async def test_one_at_a_time_in_order(store: Store) -> None:
    """Jobs of one owner and task follow one another; other tasks and owners do not wait."""
    await queue(store, ANN, 1, 2)
    await queue(store, ANN, 1, task=Task.EMBED)
    await queue(store, BOB, 1)
    first = await taken(store)
    others = [await taken(store, worker="two"), await taken(store, worker="three")]
    assert [(j.owner, j.task) for j in others] == [(ANN, Task.EMBED), (BOB, Task.DIGEST)]
    assert await claim(store, worker="four") is None
    assert await store.jobs.settle(first, state=State.DONE)
    assert (await taken(store)).session == 2


async def test_retry_holds_back_the_later(store: Store) -> None:
    """A job waiting for its next try holds back the later ones of its owner and task."""
    await queue(store, ANN, 1, 2)
    job = await taken(store)
    assert await store.jobs.settle(job, state=State.WAITING, error="no model", due=START + HOUR)
    assert await claim(store) is None
    again = await taken(store, now=START + HOUR)
    assert (again.session, again.attempts, again.error) == (1, 2, "no model")


async def test_dead_does_not_hold_back(store: Store) -> None:
    """A job that was given up lets the later ones pass."""
    await queue(store, ANN, 1, 2)
    assert await store.jobs.settle(await taken(store), state=State.DEAD, error="hopeless")
    assert (await taken(store)).session == 2
    [dead] = await store.jobs.list("acme", states=[State.DEAD])
    assert (dead.session, dead.error, dead.worker) == (1, "hopeless", "")


async def test_lease_that_ran_out(store: Store) -> None:
    """A job whose lease ran out is taken again, and its first worker can do nothing more."""
    await queue(store, ANN, 1)
    first = await taken(store)
    assert await claim(store, worker="two", now=START + 9 * MINUTE) is None
    second = await taken(store, worker="two", now=START + 10 * MINUTE)
    assert (second.id, second.attempts, second.worker) == (first.id, 2, "two")
    assert not await store.jobs.extend(first, until=START + HOUR)
    assert not await store.jobs.settle(first, state=State.DONE)
    assert await store.jobs.settle(second, state=State.DONE)


async def test_late_but_unchallenged(store: Store) -> None:
    """A worker whose lease ran out may still settle while nobody else has taken the job."""
    await queue(store, ANN, 1)
    job = await taken(store)
    assert await store.jobs.settle(job, state=State.DONE)


async def test_same_worker_takes_again(store: Store) -> None:
    """A worker that takes the same job again voids its own older hold."""
    await queue(store, ANN, 1)
    first = await taken(store)
    second = await taken(store, now=START + HOUR)
    assert not await store.jobs.settle(first, state=State.DEAD)
    assert await store.jobs.extend(second, until=START + 2 * HOUR)


async def test_extend_holds_longer(store: Store) -> None:
    """An extended job is not taken until the new time."""
    await queue(store, ANN, 1)
    job = await taken(store)
    assert await store.jobs.extend(job, until=START + HOUR)
    assert await claim(store, worker="two", now=START + 59 * MINUTE) is None
    assert await claim(store, worker="two", now=START + HOUR) is not None


async def test_settled_job_cannot_be_extended(store: Store) -> None:
    """A job that is not running has no lease to extend."""
    await queue(store, ANN, 1)
    job = await taken(store)
    await store.jobs.settle(job, state=State.DONE)
    [done] = await store.jobs.list("acme")
    assert not await store.jobs.extend(job, until=START + HOUR)
    assert not await store.jobs.extend(done, until=START + HOUR)


async def test_gone_worker_holds_nothing(store: Store) -> None:
    """A worker of this host that no longer runs loses its job at once; a living one keeps it."""
    await queue(store, ANN, 1)
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()
    host, _, started, mark = worker_name().split(":")
    await taken(store, worker=f"{host}:{process.pid}:{started}:{mark}")
    mine = await taken(store, worker=worker_name())
    assert mine.attempts == 2
    assert await claim(store, worker="two") is None


async def test_reused_process_number(store: Store) -> None:
    """A process number that another program has since been given does not count as the worker."""
    await queue(store, ANN, 1)
    host, pid, _, mark = worker_name().split(":")
    await taken(store, worker=f"{host}:{pid}:12:{mark}")
    assert await claim(store, worker="two") is not None


async def test_worker_of_another_host_is_trusted(store: Store) -> None:
    """Of a worker elsewhere nothing is known, so its lease counts."""
    await queue(store, ANN, 1)
    _, _, started, mark = worker_name().split(":")
    await taken(store, worker=f"elsewhere:999999999:{started}:{mark}")
    assert await claim(store, worker="two") is None


async def test_person_revives_a_dead_job(store: Store) -> None:
    """A DEAD job may be put back to WAITING, once; it never runs beside a later one."""
    await queue(store, ANN, 1, 2)
    await store.jobs.settle(await taken(store), state=State.DEAD)
    [dead] = await store.jobs.list("acme", states=[State.DEAD])
    second = await taken(store)
    assert await store.jobs.settle(dead, state=State.WAITING, due=START)
    assert not await store.jobs.settle(dead, state=State.WAITING, due=START)
    assert await claim(store) is None
    retaken = await taken(store, worker="two", now=START + HOUR)
    assert retaken.id == second.id
    await store.jobs.settle(retaken, state=State.DONE)
    assert (await taken(store)).session == 1


async def test_enqueue_the_same_once(store: Store) -> None:
    """The same job is not queued while one waits or runs, but may be after it is done."""
    await queue(store, ANN, 1, 1)
    job = await taken(store)
    await queue(store, ANN, 1)
    assert len(await store.jobs.list("acme")) == 1
    await store.jobs.settle(job, state=State.DONE)
    await queue(store, ANN, 1)
    await store.jobs.enqueue(ANN, Task.EMBED, session=None, at=START)
    await store.jobs.enqueue(ANN, Task.EMBED, session=None, at=START)
    await queue(store, BOB, 1)
    jobs = await store.jobs.list("acme")
    assert [(j.owner, j.task, j.session, j.state) for j in jobs] == [
        (ANN, Task.DIGEST, 1, State.DONE),
        (ANN, Task.DIGEST, 1, State.WAITING),
        (ANN, Task.EMBED, None, State.WAITING),
        (BOB, Task.DIGEST, 1, State.WAITING),
    ]


async def test_list_chooses(store: Store) -> None:
    """Jobs are listed oldest first, by tenant, owner and state."""
    for owner in (ANN, BOB, ANN_ELSEWHERE):
        await queue(store, owner, 1, 2)
    await store.jobs.settle(await taken(store), state=State.DONE)
    await taken(store)

    async def listed(**choice: object) -> list[tuple[Owner, int | None]]:
        jobs = await store.jobs.list("acme", **choice)  # type: ignore[arg-type]
        return [(job.owner, job.session) for job in jobs]

    assert await listed() == [(ANN, 1), (ANN, 2), (BOB, 1), (BOB, 2)]
    assert await listed(owner=BOB) == [(BOB, 1), (BOB, 2)]
    assert await listed(owner=ANN_ELSEWHERE) == []
    assert await listed(states=[State.DONE, State.RUNNING]) == [(ANN, 1), (ANN, 2)]
    assert await listed(owner=ANN, states=[State.WAITING]) == []
    assert len(await store.jobs.list("other")) == 2


async def test_many_workers_share_nothing(stores: tuple[Store, Store]) -> None:
    """However many workers ask at once, each job is given to one of them."""
    one, two = stores
    for number in range(12):
        await queue(one, ANN, number, task=Task.DIGEST)
    for number in range(12):
        await one.jobs.enqueue(BOB, Task.EMBED, session=number, at=START)
    done: list[tuple[Owner, int | None]] = []

    async def work(store: Store, name: str) -> None:
        while job := await claim(store, worker=name):
            done.append((job.owner, job.session))
            assert await store.jobs.settle(job, state=State.DONE)

    for _ in range(30):  # one who finds both queues held comes back
        await asyncio.gather(*(work(s, f"w{i}") for i, s in enumerate([one, two, one, two])))
    assert [n for owner, n in done if owner == ANN] == list(range(12))
    assert [n for owner, n in done if owner == BOB] == list(range(12))


async def test_only_the_newest_finished_job_is_kept(store: Store) -> None:
    """A database does not fill up with work that is done."""
    await queue(store, ANN, 1, 2, 3)
    for _ in range(3):
        assert await store.jobs.settle(await taken(store), state=State.DONE)
    assert [job.session for job in await store.jobs.list("acme")] == [3]
