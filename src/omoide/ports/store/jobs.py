"""Work for models, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.domain import Call, Job, Owner, State, Task


class Jobs(Protocol):
    """Durable work, stored with the data it serves."""

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """Take the oldest job that is due, and hold it until `now + lease`.

        Jobs of one owner and one task run in order, one at a time, whoever the workers are; a
        job waiting for its next try holds back the later ones of its owner and task, a dead one
        does not. A job whose lease ran out, or whose worker is known to be gone, is taken again.
        """

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """Hold a running job for longer; False if another worker has taken it."""

    async def settle(
        self, job: Job, *, state: State, error: str = "", due: datetime | None = None
    ) -> bool:
        """Put a job into a state: DONE, DEAD, or WAITING until `due`. False, and nothing done,
        if another worker has taken it meanwhile. Of what is DONE only the newest job of each
        owner and task is kept."""

    async def enqueue(self, owner: Owner, task: Task, *, session: int | None, at: datetime) -> None:
        """Queue a job unless the same one is waiting or running."""

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[State] = ()
    ) -> tuple[Job, ...]:
        """Jobs, oldest first; all states if none are named."""


class Ledger(Protocol):
    """What the models cost."""

    async def add(self, owner: Owner, call: Call) -> None:
        """Write one call down; nothing for an owner of whom nothing is stored, since they were
        erased meanwhile."""

    async def calls(self, owner: Owner) -> tuple[Call, ...]:
        """All calls, oldest first."""
