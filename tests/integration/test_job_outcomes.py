"""What becomes of a job: retried with growing waits, given up, given back, kept for people."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omoide.domain import JobState, JobTask, Owner
from omoide.domain.jobs import reported_tokens
from omoide.engine.worker import TRIES, Worker
from omoide.errors import BadReply, ModelUnavailable, NoModel, StaleVersion, StoreLocked
from omoide.testing import FrozenClock
from omoide.testing.contracts.making import ANN, START, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from omoide.domain import Job
    from omoide.ports import Store

from omoide.adapters.stores.sqlite import SqliteStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A store with one DIGEST job."""
    store = await SqliteStore.open(tmp_path / "db")
    await store.turns.append(ANN, [say("hello")], session="k", idle=timedelta(hours=1))
    await store.turns.end(ANN, at=START)
    yield store
    await store.close()


def worker(store: Store, clock: FrozenClock, digest: Callable[[Job], Awaitable[None]]) -> Worker:
    """A worker that digests like this, and embeds nothing."""

    async def nothing(job: Job) -> None:
        del job

    tasks = dict.fromkeys(JobTask, nothing) | {JobTask.DIGEST: digest}
    return Worker(jobs=store.jobs, name="w", clock=clock, tasks=tasks)


async def digest_job(store: Store) -> Job:
    """The DIGEST job as it stands."""
    [job] = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
    return job


@pytest.mark.parametrize(
    "error", [ModelUnavailable("away"), StaleVersion("too late"), StoreLocked("busy"), OSError("?")]
)
async def test_a_job_is_tried_eight_times_with_doubling_waits(
    store: Store, error: Exception
) -> None:
    """Then it is dead. Another process may have been faster (a stale version): that is no reason to
    give up at once."""
    clock, tries = FrozenClock(START), 0

    async def fails(job: Job) -> None:
        nonlocal tries
        tries += 1
        raise error

    serving = worker(store, clock, fails)
    waits = []
    for _ in range(TRIES - 1):
        await serving.drain("acme")
        job = await digest_job(store)
        assert job.state is JobState.WAITING
        waits.append((job.due - clock.now()).total_seconds())
        await serving.drain("acme")  # not due yet: not tried
        clock.time = job.due
    assert waits == [2.0**n for n in range(1, TRIES)]
    await serving.drain("acme")
    job = await digest_job(store)
    assert (job.state, job.attempts, tries) == (JobState.DEAD, TRIES, TRIES)
    assert str(error) in job.error
    clock.advance(timedelta(days=1))
    await serving.drain("acme")
    assert tries == TRIES


async def test_a_job_that_a_person_retries_is_tried_as_often_again(store: Store) -> None:
    """Also if the model is away for another moment."""
    clock, tries = FrozenClock(START), 0

    async def fails(job: Job) -> None:
        nonlocal tries
        tries += 1
        raise ModelUnavailable("away")

    serving = worker(store, clock, fails)
    for given in (1, 2):
        for _ in range(TRIES + 1):
            await serving.drain("acme")
            clock.advance(timedelta(hours=1))
        job = await digest_job(store)
        assert (job.state, tries) == (JobState.DEAD, given * TRIES)
        await store.jobs.set_state(job, state=JobState.WAITING, due=clock.now())


async def test_a_job_that_lacks_a_model_waits_for_it_without_end(store: Store) -> None:
    """It is never given up, and looked at again at least every quarter of an hour."""
    clock = FrozenClock(START)

    async def fails(job: Job) -> None:
        raise NoModel("none is installed")

    serving = worker(store, clock, fails)
    waits = []
    for _ in range(3 * TRIES):
        await serving.drain("acme")
        job = await digest_job(store)
        assert job.state is JobState.WAITING
        waits.append(job.due - clock.now())
        clock.time = job.due
    assert waits == sorted(waits)
    assert waits[-1] == timedelta(minutes=15)


async def test_a_job_that_is_cancelled_is_free_for_others_at_once(store: Store) -> None:
    """Whoever stops in the middle of a job gives it back, without waiting for the lease to end."""
    clock, begun = FrozenClock(START), asyncio.Event()

    async def slow(job: Job) -> None:
        del job
        begun.set()
        await asyncio.Event().wait()

    stopping = asyncio.ensure_future(worker(store, clock, slow).drain("acme"))
    await begun.wait()
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    job = await digest_job(store)
    assert job.state is JobState.WAITING
    assert job.due <= clock.now()
    claimed = await store.jobs.claim(
        "acme", worker="another", now=clock.now(), lease=timedelta(minutes=1)
    )
    assert claimed is not None
    assert claimed.task is JobTask.DIGEST


async def test_a_dead_job_stays_after_later_ones_succeed(store: Store) -> None:
    """It waits for a person: nobody could retry it if it vanished."""
    clock, outcomes = FrozenClock(START), [BadReply("not JSON")]

    async def once_bad(job: Job) -> None:
        del job
        if outcomes:
            raise outcomes.pop()

    serving = worker(store, clock, once_bad)
    await serving.drain("acme")
    assert (await digest_job(store)).state is JobState.DEAD
    for number in (2, 3):
        await store.jobs.enqueue(ANN, JobTask.DIGEST, session=number, at=clock.now())
        await serving.drain("acme")
    digests = [j for j in await store.jobs.list("acme") if j.task is JobTask.DIGEST]
    assert [(j.session, j.state) for j in digests] == [
        (1, JobState.DEAD),
        (3, JobState.DONE),  # of those that are done, the newest is kept
    ]


@pytest.mark.parametrize(("given", "interval"), [({}, 60.0), ({"idle_every": 10.0}, 10.0)])
async def test_idle_sessions_are_looked_for_once_in_an_interval(
    store: Store, monkeypatch: pytest.MonkeyPatch, given: dict[str, float], interval: float
) -> None:
    """At the start, and again as soon as the interval is over, a minute if none is given; not when
    a job wakes the worker before."""
    times, rounds, looked = [0.0], asyncio.Semaphore(0), list[float]()

    async def tenants() -> tuple[str, ...]:
        rounds.release()
        return ("acme",)

    async def end_idle(tenant: str) -> int:
        assert tenant == "acme"
        looked.append(times[-1])
        return 0

    async def nothing(job: Job) -> None:
        del job

    serving = worker(store, FrozenClock(START), nothing)
    await serving.drain("acme")
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: times[-1])
    running = asyncio.ensure_future(serving.run(tenants, every=1e9, end_idle=end_idle, **given))
    await rounds.acquire()
    for intervals in (0.99, 1.0, 1.99, 2.0):
        times.append(intervals * interval)
        serving.wake()
        await rounds.acquire()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert looked == [0.0, interval, 2 * interval]


async def test_a_worker_that_nobody_woke_does_not_pause(store: Store) -> None:
    """It waits for further jobs to collect only after it was told of one."""
    rounds = asyncio.Semaphore(0)

    async def tenants() -> tuple[str, ...]:
        rounds.release()
        return ()

    async def nothing(job: Job) -> None:
        del job

    serving = worker(store, FrozenClock(START), nothing)
    running = asyncio.ensure_future(serving.run(tenants, every=0.001, pause=1e6))
    async with asyncio.timeout(20):
        for _ in range(3):
            await rounds.acquire()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_worker_looks_once_for_each_time_that_it_was_woken(store: Store) -> None:
    """Then it sleeps until it is woken again: it neither goes on looking nor misses a call."""
    rounds = 0

    async def tenants() -> tuple[str, ...]:
        nonlocal rounds
        rounds += 1
        return ()

    async def nothing(job: Job) -> None:
        del job

    serving = worker(store, FrozenClock(START), nothing)
    running = asyncio.ensure_future(serving.run(tenants, every=1e6))
    for expected in (1, 2, 3):
        for _ in range(50):
            await asyncio.sleep(0)
        assert rounds == expected
        serving.wake()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_worker_runs_one_job_after_the_other_unless_told_otherwise(store: Store) -> None:
    """The next job is not begun while one runs."""
    for user in ("bea", "cleo"):
        owner = Owner(tenant="acme", user=user)
        await store.turns.append(owner, [say("hi")], session="k", idle=timedelta(hours=1))
        await store.turns.end(owner, at=START)
    at_work = most = 0

    async def digest(job: Job) -> None:
        nonlocal at_work, most
        del job
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.01)
        at_work -= 1

    await worker(store, FrozenClock(START), digest).drain("acme")
    assert most == 1


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, JobState.DONE), (BadReply("nonsense"), JobState.DEAD), (OSError("?"), JobState.DEAD)],
)
async def test_who_wants_to_know_is_told_of_every_end_before_it_is_written(
    store: Store, error: Exception | None, state: JobState
) -> None:
    """Of a success, of what cannot succeed, and of the last of many tries; if that fails, the job
    has not ended and is run again."""
    told = list[tuple[JobState, JobState]]()

    async def on_end(job: Job, ended: JobState) -> None:
        now = next(j.state for j in await store.jobs.list("acme") if j.id == job.id)
        if job.task is JobTask.DIGEST:
            told.append((ended, now))
            if len(told) == 1:
                raise OSError("the disk is full")

    async def run(job: Job) -> None:
        if error is not None and job.task is JobTask.DIGEST:
            raise error

    clock = FrozenClock(START)
    tasks = dict.fromkeys(JobTask, run)
    serving = Worker(jobs=store.jobs, name="w", clock=clock, tasks=tasks, on_end=on_end)
    for _ in range(2 * TRIES):
        with contextlib.suppress(OSError):
            await serving.drain("acme")
        clock.advance(timedelta(hours=1))
    assert told == [(state, JobState.RUNNING)] * 2
    assert (await digest_job(store)).state is state


async def test_of_what_is_done_the_last_of_each_user_and_task_is_kept(store: Store) -> None:
    """A success removes the earlier ones of its own kind alone: not those of other users, of other
    tasks, nor what is still to be done."""
    cleo = Owner(tenant="acme", user="cleo")

    async def nothing(job: Job) -> None:
        del job

    serving = worker(store, FrozenClock(START), nothing)
    for owner, session in ((cleo, 1), (ANN, 2), (cleo, 3), (ANN, 4)):
        for task in (JobTask.DIGEST, JobTask.EMBED):
            await store.jobs.enqueue(owner, task, session=session, at=START)
        await serving.drain("acme")
    later = START + timedelta(days=1)
    await store.jobs.enqueue(cleo, JobTask.DIGEST, session=5, at=later)
    await store.jobs.enqueue(ANN, JobTask.DIGEST, session=6, at=START)
    await serving.drain("acme")
    left = {(j.owner.user, j.task, j.session, j.state) for j in await store.jobs.list("acme")}
    assert left == {
        (cleo.user, JobTask.DIGEST, 3, JobState.DONE),
        (cleo.user, JobTask.EMBED, 3, JobState.DONE),
        (cleo.user, JobTask.DIGEST, 5, JobState.WAITING),
        (ANN.user, JobTask.DIGEST, 6, JobState.DONE),
        (ANN.user, JobTask.EMBED, 4, JobState.DONE),
    }


@pytest.mark.parametrize("reported", [0, 12, 1_000_000_000])
def test_a_call_may_have_cost_a_billion_tokens(reported: int) -> None:
    """As many as that are believed."""
    assert reported_tokens(reported) == reported


@pytest.mark.parametrize("reported", [-1, 1_000_000_001, True, 1.5, "9", None])
def test_an_impossible_number_of_tokens_is_not_believed(reported: object) -> None:
    """It is a mistake of the endpoint's, and is estimated instead."""
    assert reported_tokens(reported) is None
