"""Does durable jobs, one after another, and survives whatever a job does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import State
from omoide.errors import (
    BadReply,
    DownloadFailed,
    ModelUnavailable,
    OmoideError,
    StaleVersion,
    StoreError,
    VectorsUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from omoide.domain import Job, Task
    from omoide.ports import Clock, Jobs

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
TRIES = 8
"""After so many failed tries a job is dead, and waits for a person."""
LONGEST = timedelta(minutes=15)
"""Between two tries of work that only waits for a place to be reached again: an erasure is not
given up."""


class Worker:
    """Claims jobs of one tenant and hands each to the function for its task."""

    def __init__(
        self,
        *,
        jobs: Jobs,
        tenant: str,
        name: str,
        clock: Clock,
        tasks: Mapping[Task, Callable[[Job], Awaitable[None]]],
        lease: timedelta = LEASE,
    ) -> None:
        self._jobs = jobs
        self._tenant = tenant
        self._name = name
        self._clock = clock
        self._tasks = tasks
        self._lease = lease
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()

    def wake(self) -> None:
        """Look for work now."""
        self._wake.set()

    async def drain(self) -> int:
        """Do every job that is due; how many were tried."""
        done = 0
        while await self.step():
            done += 1
        return done

    async def step(self) -> bool:
        """Do the next job that is due; False if there is none."""
        async with self._turn:
            job = await self._jobs.claim(
                self._tenant, worker=self._name, now=self._clock.now(), lease=self._lease
            )
            if job is not None:
                await self._do(job)
        return job is not None

    async def run(self, *, every: float = 5.0) -> None:
        """Do jobs as they come, until cancelled. A broken database is waited out, not fatal."""
        while True:
            self._wake.clear()
            try:
                await self.drain()
            except StoreError as error:
                log.warning("work is waiting for the database: %s", error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), every)

    async def _do(self, job: Job) -> None:
        keeper = asyncio.create_task(self._hold(job))
        try:
            await self._tasks[job.task](job)
        except asyncio.CancelledError:
            # Not its fault: whoever comes next may take it at once; or when its lease is over,
            # if the database is away.
            with contextlib.suppress(StoreError):
                await asyncio.shield(self._again(job, error=job.error, wait=timedelta(0)))
            raise
        except BadReply as error:
            await self._jobs.settle(job, state=State.DEAD, error=str(error))
        except VectorsUnavailable as error:
            wait = min(LONGEST, timedelta(seconds=2.0 ** min(job.attempts, 10)))
            await self._again(job, error=str(error), wait=wait)
        except (ModelUnavailable, DownloadFailed, StaleVersion, StoreError) as error:
            await self._retry(job, str(error))
        except OmoideError as error:
            await self._jobs.settle(job, state=State.DEAD, error=str(error))
        except Exception as error:  # noqa: BLE001 - a process boundary: one job must not end the worker
            log.warning("job %s (%s) failed: %s", job.id, job.task, type(error).__name__)
            await self._retry(job, f"{type(error).__name__}: {error}")
        else:
            await self._jobs.settle(job, state=State.DONE)
        finally:
            keeper.cancel()

    async def _retry(self, job: Job, error: str) -> None:
        if job.attempts >= TRIES:
            await self._jobs.settle(job, state=State.DEAD, error=error)
        else:
            await self._again(job, error=error, wait=timedelta(seconds=2.0**job.attempts))

    async def _again(self, job: Job, *, error: str, wait: timedelta) -> None:
        due = self._clock.now() + wait
        await self._jobs.settle(job, state=State.WAITING, error=error, due=due)

    async def _hold(self, job: Job) -> None:
        """Extend the lease for as long as the job is ours; a database that is away for a moment is
        asked again."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            try:
                if not await self._jobs.extend(job, until=self._clock.now() + self._lease):
                    return
            except StoreError as error:
                log.warning("a job's lease could not be extended: %s", error)
