"""What one process needs: a store, models, mechanisms and background jobs.

A `Runtime` is made once; `memory(tenant)` gives the `Memory` of one tenant. It closes the parts it
owns, and none that the caller made.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from omoide.domain import CallPurpose, JobTask, Owner
from omoide.domain.text import normal_name
from omoide.engine.corrections import Corrections
from omoide.engine.digest import NO_MODEL, Digestion
from omoide.engine.erasure import Erasures
from omoide.engine.exchange import Exchanges
from omoide.engine.facts import Facts
from omoide.engine.ledger import Account
from omoide.engine.memory import Memory
from omoide.engine.memory_folder import MemoryFolders
from omoide.engine.methods import Methods, make_method, zone_of
from omoide.engine.observed import ObservedStore
from omoide.engine.preparing import prepare_reply
from omoide.engine.recorder import Recorder
from omoide.engine.services import Services
from omoide.engine.versions import Versions
from omoide.engine.webhooks import Webhooks
from omoide.engine.worker import Worker
from omoide.errors import NoModel
from omoide.mechanisms.memos.compressors import TextTools
from omoide.mechanisms.registry import MECHANISMS, MechanismParts
from omoide.mechanisms.search.recall import Recall
from omoide.ports import PreparableModel
from omoide.ports.telemetry import OFF

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from omoide.domain import ModelCall
    from omoide.engine.methods import Method
    from omoide.engine.worker import Tenants
    from omoide.mechanisms.base import Ask, Mechanism, ReplyRequest
    from omoide.mechanisms.registry import MechanismEntry
    from omoide.ports import ChatModel, Clock, Completion, Embedder, Request, Store
    from omoide.ports.spool import Spool
    from omoide.ports.telemetry import Telemetry
    from omoide.ports.webhooks import WebhookSender
    from omoide.settings import Settings


class Closeable(Protocol):
    """Something that can be closed."""

    async def close(self) -> None:
        """Release its resources."""


async def close_all(parts: Sequence[Closeable]) -> None:
    """Close the parts in order, all of them even if one fails. Raises the last error."""
    async with AsyncExitStack() as closing:
        for part in reversed(parts):  # the stack calls the last first
            closing.push_async_callback(part.close)


class Missing:
    """Stands in for a chat model that was not configured: every call raises `NoModel`."""

    name = "none"
    window = 8192

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Raises `NoModel`."""
        pieces: tuple[str, ...] = ()
        for piece in pieces:  # makes this a generator
            yield piece
        raise NoModel(NO_MODEL)

    async def count(self, text: str) -> int:
        """Raises `NoModel`."""
        raise NoModel(NO_MODEL)

    async def close(self) -> None:
        """Nothing to close."""


class Runtime:
    """A store, models and mechanisms that work together, for any number of tenants."""

    def __init__(
        self,
        settings: Settings,
        *,
        store: Store,
        clock: Clock,
        model: ChatModel | None = None,
        summariser: ChatModel | None = None,
        embedder: Embedder | None = None,
        mechanisms: Sequence[str | Mechanism] | None = None,
        known: Mapping[str, MechanismEntry] = MECHANISMS,
        text_tools: TextTools | None = None,
        spool: Spool | None = None,
        webhooks: WebhookSender | None = None,
        telemetry: Telemetry = OFF,
        name: str = "",
        owns: Sequence[Closeable] = (),
    ) -> None:
        """`model` replies and `summariser` (the same if None) writes the memory; without either,
        turns are recorded and recalled, and sessions wait to be digested. `mechanisms` are names,
        looked up in `known`, or objects; those of the settings if None. `text_tools` are what
        compression needs. `spool` keeps words that the store cannot take, `webhooks` are told
        what happens, and `telemetry` observes it. `name` identifies this process as a worker.
        `owns` are the parts that `close` closes."""
        self.settings = settings
        self.observers: list[Callable[[ModelCall], None]] = []
        """Called with each model call when it is written into the ledger."""
        if telemetry is not OFF:
            self.observers.append(telemetry.call)
        self.store = store = ObservedStore(
            store, self._called, retention=timedelta(days=settings.retention)
        )
        self.clock = clock
        self.model = model or Missing()
        self.summariser = summariser or self.model
        self.embedder = embedder
        self._owns = tuple(owns)
        self._text_tools = text_tools or TextTools()
        self._can_write = not isinstance(self.summariser, Missing)
        self.recall = Recall(store=store, embedder=embedder)
        self._known = known
        usual = make_method(self._parts(settings), known, mechanisms)
        self.mechanisms, self.layers = usual.mechanisms, usual.layers
        self.methods = Methods(store, usual=usual, make=None if mechanisms else self._chosen)
        digestion = Digestion(
            store=store,
            methods=self.methods,
            model=self.summariser if self._can_write else None,
            embedder=embedder,
            clock=clock,
            telemetry=telemetry,
        )
        self.webhooks = Webhooks(
            store=store, clock=clock, sender=webhooks, texts=settings.webhook_texts
        )
        self.worker = Worker(
            jobs=store.jobs,
            name=name or f"omoide:{os.getpid()}:{secrets.token_hex(4)}",
            clock=clock,
            tasks={**digestion.tasks, JobTask.NOTIFY: self.webhooks.deliver},
            on_end=self.webhooks.queue,
        )
        recorder = Recorder(
            store=store,
            idle=settings.idle,
            max_chars=settings.max_turn_chars,
            follows=self.methods.follows,
            wake=self.worker.wake,
            telemetry=telemetry,
        )
        self.spool = spool
        self.exchanges = Exchanges(
            store=store,
            recorder=recorder,
            methods=self.methods,
            clock=clock,
            spool=spool,
            telemetry=telemetry,
        )
        self.services = self._services(recorder, telemetry=telemetry)
        self._memories: dict[str, Memory] = {}

    def _chosen(self, preset: str) -> Method:
        """The method of a preset that a user has chosen."""
        return make_method(self._parts(self.settings.changed(preset=preset)), self._known)

    def _services(self, recorder: Recorder, *, telemetry: Telemetry) -> Services:
        """What the memories of all tenants share."""
        settings, store, clock = self.settings, self.store, self.clock
        versions = Versions(store)
        return Services(
            settings=settings,
            store=store,
            clock=clock,
            model=self.model,
            summariser=self.summariser,
            embedder=self.embedder,
            mechanisms=self.mechanisms,
            layers=tuple(layer.mechanism for layer in self.layers),
            recall=self.recall,
            recorder=recorder,
            methods=self.methods,
            exchanges=self.exchanges,
            folders=MemoryFolders(store=store, clock=clock, max_chars=settings.max_turn_chars),
            versions=versions,
            facts=Facts(store),
            corrections=Corrections(
                store,
                versions,
                limit=settings.max_sentences,
                timezone=zone_of(settings.timezone),
            ),
            worker=self.worker,
            telemetry=telemetry,
            erasures=Erasures(store=store, clock=clock, spool=self.spool, telemetry=telemetry),
        )

    def memory(self, tenant: str | None = None) -> Memory:
        """The memory of a tenant's users; by default, of the tenant in the settings."""
        name = normal_name(tenant or self.settings.tenant, "the tenant")
        if name not in self._memories:
            self._memories[name] = Memory(self.services, tenant=name)
        return self._memories[name]

    @property
    def known(self) -> tuple[str, ...]:
        """The tenants that were used in this process."""
        return tuple(self._memories)

    async def tenants(self) -> tuple[str, ...]:
        """Every tenant in the store."""
        return await self.store.archive.tenants()

    async def run_jobs(self, *tenants: str) -> int:
        """Run all jobs of these tenants that are due, and wait for them. Returns how many were
        started."""
        return await self.worker.drain(*tenants)

    async def load_model(self) -> None:
        """Load the chat model if that takes a while, so that other work can be done beside it."""
        if isinstance(self.services.model, PreparableModel):
            await self.services.model.count("")

    async def prepare(self, user: str, *, at: datetime | None = None, begun: str = "") -> None:
        """Do what can be done for the user's next reply before their message is there; `begun` is
        how it begins, as far as it is typed."""
        owner = Owner(tenant=self.settings.tenant, user=normal_name(user, "the user"))
        await prepare_reply(self.services, owner, now=at or self.clock.now(), begun=begun)

    async def end_idle(self, tenant: str) -> int:
        """End the idle sessions of a tenant. Returns how many there were."""
        return await self.memory(tenant).end_idle()

    @asynccontextmanager
    async def working(
        self,
        *,
        tenants: Tenants | None = None,
        every: float = 5.0,
        pause: float = 0.0,
        idle_every: float = 60.0,
        at_once: int = 1,
    ) -> AsyncIterator[None]:
        """Run jobs in the background while the block lasts, `at_once` at a time: of the tenants
        that were used in this process, or of those that `tenants` returns. Jobs that are left over
        are done the next time."""
        self.worker.at_once = at_once

        async def used_tenants() -> tuple[str, ...]:
            return self.known

        jobs = self.worker.run(
            tenants or used_tenants,
            every=every,
            pause=pause,
            end_idle=self.end_idle,
            idle_every=idle_every,
        )
        task = asyncio.ensure_future(jobs)
        try:
            async with self.replaying(every=every):
                yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def replaying(self, *, every: float = 5.0) -> AsyncIterator[None]:
        """Store what waits to be stored, in the background while the block lasts."""
        if self.spool is None:
            yield
            return
        task = asyncio.ensure_future(self.exchanges.waiting.run(every=every))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Wait for pending writes, then close the parts it owns."""
        try:
            await self.exchanges.settled()
        finally:
            await self.close_parts()

    async def close_parts(self) -> None:
        """Close the parts it owns at once, without waiting for pending writes."""
        await close_all(self._owns)

    async def __aenter__(self) -> Runtime:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _called(self, call: ModelCall) -> None:
        for observer in self.observers:
            observer(call)

    def _parts(self, settings: Settings) -> MechanismParts:
        return MechanismParts(
            settings=settings,
            store=self.store,
            model=self.model,
            iterator=self.summariser,
            embedder=self.embedder,
            recall=self.recall,
            clock=self.clock,
            asker=self._asker,
            text_tools=self._text_tools,
        )

    def _asker(self, request: ReplyRequest) -> Ask:
        """A function that asks the summariser on behalf of a reply."""
        account = Account(
            ledger=self.store.ledger,
            clock=self.clock,
            owner=request.owner,
            session=request.session[-1].session,
        )
        return account.asker(self.summariser, CallPurpose.CHOOSE)
