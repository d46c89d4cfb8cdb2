"""A worker that is told to stop leaves nothing behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from omoide.engine.worker import Worker
from omoide.errors import StoreLocked
from omoide.testing import FrozenClock

if TYPE_CHECKING:
    from omoide.domain import Job
    from omoide.ports import JobStore


class NoJobs:
    """A queue that is always empty."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def claim(self, *_: object, **__: object) -> Job | None:
        """None is due."""
        self.asked.set()
        return None


@pytest.mark.parametrize("failing", [False, True])
async def test_nothing_waits_any_more_after_a_worker_was_stopped(failing: bool) -> None:
    """Whether it was waiting for work, or had not come so far."""
    jobs, before = NoJobs(), asyncio.all_tasks()
    worker = Worker(
        jobs=cast("JobStore", jobs),
        name="w",
        clock=FrozenClock(),
        tasks={},
    )

    async def tenants() -> tuple[str, ...]:
        if failing:
            jobs.asked.set()
            raise StoreLocked("busy")
        return ("acme",)

    running = asyncio.create_task(worker.run(tenants))
    await jobs.asked.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_worker_may_be_stopped_before_it_looked_for_anything() -> None:
    """While it is still asked whose jobs there are."""
    asked, jobs = asyncio.Event(), NoJobs()
    worker = Worker(jobs=cast("JobStore", jobs), name="w", clock=FrozenClock(), tasks={})

    async def tenants() -> tuple[str, ...]:
        asked.set()
        await asyncio.Event().wait()
        return ()

    running = asyncio.create_task(worker.run(tenants))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
