"""Work for many tenants of one database, by a process that does nothing else."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.engine import Memory

log = logging.getLogger(__name__)

IDLE_EVERY = 60.0
"""Seconds between two looks for sessions that have gone idle."""


class Shift:
    """Goes from tenant to tenant, doing one job of each: a busy one does not hold up the others.

    Any number may run at once, in any number of processes: who does a job holds it."""

    def __init__(
        self,
        *,
        tenants: Callable[[], Awaitable[tuple[str, ...]]],
        memory: Callable[[str], Memory],
    ) -> None:
        self._tenants = tenants
        self._make = memory
        self._memories: dict[str, Memory] = {}

    async def once(self, *, idle: bool = True) -> int:
        """End sessions that have gone idle, and do all work that is due; how many jobs."""
        names = await self._tenants()
        memories = [self._memory(name) for name in names]
        if idle:
            for memory in memories:
                await memory.end_idle()
        done = 0
        while memories:
            busy = [memory for memory in memories if await memory.worker.step()]
            done += len(busy)
            memories = busy
        return done

    async def run(self, *, every: float) -> None:
        """Work until cancelled, looking for more after so many seconds. A broken database is
        waited out."""
        clock = asyncio.get_running_loop()
        looked = float("-inf")
        while True:
            idle = clock.time() - looked >= IDLE_EVERY
            try:
                await self.once(idle=idle)
                looked = clock.time() if idle else looked
            except StoreError as error:
                log.warning("work is waiting for the database: %s", error)
            await asyncio.sleep(every)

    def _memory(self, tenant: str) -> Memory:
        if tenant not in self._memories:
            self._memories[tenant] = self._make(tenant)
        return self._memories[tenant]
