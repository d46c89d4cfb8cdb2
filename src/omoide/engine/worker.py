"""The loop that runs jobs, for one tenant or many. No failing job can end it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import JobState
from omoide.errors import (
    BadReply,
    DownloadFailed,
    MissingExtra,
    ModelUnavailable,
    NoModel,
    OmoideError,
    StaleVersion,
    StoreError,
    VectorsUnavailable,
    WebhookFailed,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from omoide.domain import Job, JobTask
    from omoide.ports import Clock, JobStore

    Tenants = Callable[[], Awaitable[Sequence[str]]]
    EndIdle = Callable[[str], Awaitable[int]]

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
TRIES = 8
"""After this many failed tries a job is dead and waits for a person, and after as many again if it
is retried."""
DELIVERIES = 20
"""The same for a webhook, whose receiver may be away for hours: about three."""
LONGEST = timedelta(minutes=15)
"""The longest delay between two tries of a job that waits for a vector store or a model to come
back. Such a job is never given up."""


class Worker:
    """Claims jobs from the tenants in turn, so that a busy tenant does not hold up the others, and
    calls the function for each job's task. Any number of workers may share a store, in any number
    of processes: each job is leased to one of them.

    At most `at_once` jobs run at a time. Jobs of one user and one task never overlap.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        name: str,
        clock: Clock,
        tasks: Mapping[JobTask, Callable[[Job], Awaitable[None]]],
        on_end: Callable[[Job, JobState], Awaitable[None]] | None = None,
        lease: timedelta = LEASE,
    ) -> None:
        """`on_end` is called with each job that ends, DONE or DEAD, before that is written: if it
        fails or the process dies, the job runs again."""
        self._jobs = jobs
        self._name = name
        self._clock = clock
        self._tasks = tasks
        self._lease = lease
        self._on_end = on_end
        self.at_once = 1
        self._wake = asyncio.Event()
        self._claiming = asyncio.Lock()
        self._running: set[asyncio.Task[None]] = set()
        self._last = ""
        """The tenant whose job was claimed last; the next tenant gets the next turn."""

    def wake(self) -> None:
        """Look for jobs now."""
        self._wake.set()

    async def drain(self, *tenants: str) -> int:
        """Run every job of these tenants that is due. Returns how many were started."""
        started = 0
        ours: set[asyncio.Task[None]] = set()
        try:
            while True:
                new = await self._start(tenants)
                ours |= new
                started += len(new)
                _raise_first(ours)  # one may have ended while the next was claimed
                if not self._running:
                    return started
                await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                _raise_first(ours)
        finally:
            await _cancel(ours)

    async def run(
        self,
        tenants: Tenants,
        *,
        every: float = 5.0,
        pause: float = 0.0,
        end_idle: EndIdle | None = None,
        idle_every: float = 60.0,
    ) -> None:
        """Run jobs until cancelled. Looks for them at least once in `every` seconds; after a
        wake-up it waits `pause` seconds so that jobs can collect. With `end_idle`, it also ends
        sessions that went idle, once in `idle_every` seconds. Errors of the database are logged and
        retried."""
        clock = asyncio.get_running_loop()
        idle_checked = float("-inf")
        waking: asyncio.Task[bool] | None = None
        try:
            while True:
                self._wake.clear()
                try:
                    names = await tenants()
                    if end_idle is not None and clock.time() - idle_checked >= idle_every:
                        for name in names:
                            await end_idle(name)
                        idle_checked = clock.time()
                    await self._start(names)
                except StoreError as error:
                    log.warning("jobs are waiting for the database: %s", type(error).__name__)
                    log.debug("jobs are waiting for the database", exc_info=error)
                waking = asyncio.ensure_future(self._wake.wait())
                await asyncio.wait(
                    {waking, *self._running}, timeout=every, return_when=asyncio.FIRST_COMPLETED
                )
                woken = self._wake.is_set()
                waking.cancel()
                if woken and pause:
                    await asyncio.sleep(pause)
        finally:
            if waking is not None:
                waking.cancel()
            await _cancel(set(self._running))

    async def _start(self, tenants: Sequence[str]) -> set[asyncio.Task[None]]:
        """Start jobs that are due, from the tenants in turn, up to `at_once`."""
        started: set[asyncio.Task[None]] = set()
        async with self._claiming:
            waiting = list(self._in_turn(tenants))
            while waiting and len(self._running) < self.at_once:
                tenant = waiting.pop(0)
                job = await self._jobs.claim(
                    tenant, worker=self._name, now=self._clock.now(), lease=self._lease
                )
                if job is None:
                    continue
                self._last = tenant
                waiting.append(tenant)
                task = asyncio.ensure_future(self._do(job))
                self._running.add(task)
                task.add_done_callback(self._done)
                started.add(task)
        return started

    def _in_turn(self, tenants: Sequence[str]) -> Sequence[str]:
        """The tenants, starting after the one that was served last."""
        if self._last not in tenants:
            return tenants
        start = list(tenants).index(self._last) + 1
        return [*tenants[start:], *tenants[:start]]

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("jobs are waiting for the database: %s", type(error).__name__)

    async def _do(self, job: Job) -> None:
        lease = asyncio.create_task(self._extend_lease(job))
        try:
            await self._tasks[job.task](job)
            await self._ended(job, JobState.DONE)
        except asyncio.CancelledError:
            # Not the job's fault: another worker may take it at once, or when its lease ends if
            # the database cannot be reached now.
            with contextlib.suppress(StoreError):
                await asyncio.shield(self._requeue(job, error=job.error, delay=timedelta(0)))
            raise
        except BadReply as error:
            await self._give_up(job, str(error))
        except WebhookFailed as error:
            await self._retry(job, str(error), tries=DELIVERIES)
        except (VectorsUnavailable, NoModel, MissingExtra) as error:
            delay = min(LONGEST, timedelta(seconds=2.0 ** min(job.attempts, 10)))
            await self._requeue(job, error=str(error), delay=delay)
        except (ModelUnavailable, DownloadFailed, StaleVersion, StoreError) as error:
            await self._retry(job, str(error))
        except OmoideError as error:
            await self._give_up(job, str(error))
        except Exception as error:  # noqa: BLE001 - a process boundary: one job must not end the worker
            log.warning("job %s (%s) failed: %s", job.id, job.task, type(error).__name__)
            await self._retry(job, f"{type(error).__name__}: {error}")
        else:
            await self._jobs.set_state(job, state=JobState.DONE)
        finally:
            lease.cancel()

    async def _retry(self, job: Job, error: str, *, tries: int = TRIES) -> None:
        if tried := job.attempts % tries:
            delay = min(LONGEST, timedelta(seconds=2.0 ** min(tried, 10)))
            await self._requeue(job, error=error, delay=delay)
        else:
            await self._give_up(job, error)

    async def _give_up(self, job: Job, error: str) -> None:
        await self._ended(job, JobState.DEAD)
        await self._jobs.set_state(job, state=JobState.DEAD, error=error)

    async def _ended(self, job: Job, state: JobState) -> None:
        if self._on_end is not None:
            await self._on_end(job, state)

    async def _requeue(self, job: Job, *, error: str, delay: timedelta) -> None:
        due = self._clock.now() + delay
        await self._jobs.set_state(job, state=JobState.WAITING, error=error, due=due)

    async def _extend_lease(self, job: Job) -> None:
        """Extend the job's lease until it is lost; retry if the database fails for a moment."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            try:
                if not await self._jobs.extend(job, until=self._clock.now() + self._lease):
                    return
            except StoreError as error:
                log.warning("a job's lease could not be extended: %s", error)


def _raise_first(jobs: set[asyncio.Task[None]]) -> None:
    """Raise the error of a finished job, if one has any: the database failed."""
    for job in jobs:
        if job.done():
            job.result()


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
