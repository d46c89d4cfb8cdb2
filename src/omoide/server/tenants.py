"""One memory for each tenant, all over one store and one set of models."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.composition import compose
from omoide.domain import State
from omoide.errors import StoreError
from omoide.server.problems import slug_of
from omoide.server.remembering import Remembering

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from omoide.domain import Call, Owner
    from omoide.engine import Memory
    from omoide.ports import (
        Archive,
        ChatModel,
        Clock,
        Embedder,
        Events,
        Index,
        Jobs,
        Ledger,
        Memos,
        Notes,
        Store,
        Summaries,
        Turns,
    )
    from omoide.server.metrics import Metrics
    from omoide.server.options import Options
    from omoide.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What every tenant's memory is made of."""

    settings: Settings
    store: Store
    model: ChatModel
    iterator: ChatModel
    embedder: Embedder | None
    clock: Clock
    worker: str = ""
    """What this process is called where it holds work; a name is made up if it has none."""

    async def close(self) -> None:
        """Close them all; the store last."""
        for part in (self.model, self.iterator, self.embedder, self.store):
            if part is not None:
                await part.close()


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """A tenant's memory, and the exchanges it takes part in."""

    memory: Memory
    remembering: Remembering
    stirred: asyncio.Event
    """Set when the tenant has called: there may be work."""


EVERY = 5.0
"""Seconds after which work is looked for unasked: a job's next try may be due."""


class Tenants:
    """Makes a tenant's memory when it is first asked for, and does its background work."""

    def __init__(self, parts: Parts, *, options: Options, metrics: Metrics) -> None:
        self.parts = replace(parts, store=CountedStore(parts.store, metrics))
        self._options = options
        self._metrics = metrics
        self._worker = parts.worker or f"serve:{os.getpid()}:{secrets.token_hex(4)}"
        self._known: dict[str, Tenant] = {}
        self._work: set[asyncio.Task[None]] = set()

    def of(self, name: str) -> Tenant:
        """The tenant of that name."""
        tenant = self._known.get(name)
        if tenant is None:
            tenant = self._known[name] = self._make(name)
            if self._options.work:
                self._task(self._work_for(tenant))
        tenant.stirred.set()
        return tenant

    def start(self, names: Iterable[str]) -> None:
        """Begin the background work of these tenants; others begin when they first call."""
        for name in names:
            self.of(name)
        if self._options.work:
            self._task(self._end_idle())

    async def stop(self) -> None:
        """End the background work, and wait for what is still being written."""
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        for tenant in self._known.values():
            await tenant.remembering.settled()

    async def jobs(self) -> dict[str, int]:
        """How many jobs are not done, by state, and how many of them are past due."""
        now = self.parts.clock.now()
        counts = {"waiting": 0, "running": 0, "dead": 0, "behind": 0}
        for tenant in tuple(self._known.values()):
            for job in await tenant.memory.jobs(states=[s for s in State if s is not State.DONE]):
                counts[job.state.value] += 1
                counts["behind"] += job.state is State.WAITING and job.due <= now
        return counts

    def _make(self, name: str) -> Tenant:
        settings, parts = self.parts.settings, self.parts
        memory = compose(
            replace(settings, tenant=name),
            store=parts.store,
            model=parts.model,
            iterator=parts.iterator,
            embedder=parts.embedder,
            clock=parts.clock,
            worker=self._worker,
        )
        remembering = Remembering(
            memory,
            clock=parts.clock,
            metrics=self._metrics,
            idle=settings.idle,
            patience=self._options.patience,
        )
        return Tenant(memory=memory, remembering=remembering, stirred=asyncio.Event())

    async def _work_for(self, tenant: Tenant) -> None:
        """What `Worker.run` does, but not for each turn alone. A broken database is waited out."""
        while True:
            try:
                await tenant.memory.settle()
            except StoreError as error:
                log.warning("work waits", extra={"reason": slug_of(error)})
            await asyncio.sleep(self._options.pause)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(tenant.stirred.wait(), EVERY)
            tenant.stirred.clear()

    async def _end_idle(self) -> None:
        while True:
            for tenant in tuple(self._known.values()):
                try:
                    if await tenant.memory.end_idle():
                        tenant.stirred.set()
                except StoreError as error:
                    log.warning("idle sessions wait", extra={"reason": slug_of(error)})
            await asyncio.sleep(self._options.idle_every)

    def _task(self, work: Coroutine[None, None, None]) -> None:
        self._work.add(asyncio.ensure_future(work))


class CountedStore:
    """A store whose calls of models are counted for the metrics as they are written down."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store = store
        self.turns: Turns = store.turns
        self.summaries: Summaries = store.summaries
        self.events: Events = store.events
        self.memos: Memos = store.memos
        self.notes: Notes = store.notes
        self.jobs: Jobs = store.jobs
        self.ledger: Ledger = CountedLedger(store.ledger, metrics)
        self.index: Index = store.index
        self.archive: Archive = store.archive

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()


class CountedLedger:
    """A ledger that tells the metrics."""

    def __init__(self, ledger: Ledger, metrics: Metrics) -> None:
        self._ledger = ledger
        self._metrics = metrics

    async def add(self, owner: Owner, call: Call) -> None:
        """See `Ledger.add`."""
        self._metrics.call(call)
        await self._ledger.add(owner, call)

    async def calls(self, owner: Owner) -> tuple[Call, ...]:
        """See `Ledger.calls`."""
        return await self._ledger.calls(owner)
