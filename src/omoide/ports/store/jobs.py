"""The ports for background jobs and for the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.domain import Job, JobState, JobTask, ModelCall, Owner


class JobStore(Protocol):
    """A durable job queue in the same database as the data."""

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """Claim the oldest job that is due, with a lease until `now + lease`.

        Jobs of one owner and task run in order and one at a time, across all workers. A job that
        waits for a retry blocks the later ones of its owner and task; a dead one does not. A job
        whose lease expired, or whose worker is known to have died, can be claimed again.
        """

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """Extend the lease of a running job; False if another worker has claimed it."""

    async def set_state(
        self, job: Job, *, state: JobState, error: str = "", due: datetime | None = None
    ) -> bool:
        """Set a job to DONE, DEAD, or WAITING until `due`. Returns False and changes nothing if
        another worker has claimed it meanwhile. Of DONE jobs only the newest of each owner and task
        is kept."""

    async def enqueue(
        self, owner: Owner, task: JobTask, *, session: int | None, at: datetime
    ) -> None:
        """Queue a job unless the same job is waiting or running."""

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[JobState] = ()
    ) -> tuple[Job, ...]:
        """Jobs, oldest first; in all states if none are given."""


class Ledger(Protocol):
    """Records what model calls cost."""

    async def add(self, owner: Owner, call: ModelCall) -> None:
        """Record one call. Does nothing for an unknown owner, who may have been erased
        meanwhile."""

    async def calls(self, owner: Owner) -> tuple[ModelCall, ...]:
        """All calls, oldest first."""
