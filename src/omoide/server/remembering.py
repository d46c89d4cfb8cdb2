"""One exchange through the proxy: what was said goes into memory, what is known comes out of it,
and nothing that goes wrong with memory stops the chat."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from omoide.domain import Call, Owner, Purpose, Speaker
from omoide.domain.text import checked_name
from omoide.engine import Utterance
from omoide.memory.mechanism import Place
from omoide.server.problems import slug_of
from omoide.server.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from datetime import timedelta

    from omoide.attention import Attention
    from omoide.domain import Turn
    from omoide.engine import Memory
    from omoide.memory.mechanism import Contribution
    from omoide.ports import Clock
    from omoide.server.conversation import Asked
    from omoide.server.listening import Heard
    from omoide.server.metrics import Metrics

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Exchange:
    """What memory makes of one request."""

    owner: Owner
    key: str | None
    """The caller's session key."""
    asked: Asked
    turns: tuple[Turn, ...] = ()
    attention: Attention | None = None
    version: int = 0
    problems: list[str] = field(default_factory=list)
    """Kinds of what went wrong; empty if nothing did."""
    attempt: asyncio.Task[None] | None = None
    """Still at it, where memory took longer than the chat would wait."""

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """What memory puts into the prompt."""
        return self.attention.contributions if self.attention is not None else ()

    @property
    def headers(self) -> dict[str, str]:
        """What the client is told."""
        recalled = sum(c.place is Place.RECALLED for c in self.contributions)
        told = {
            "X-Omoide-Recalled": str(recalled),
            "X-Omoide-Memory-Version": str(self.version),
            "X-Omoide-Memory-Tokens": str(sum(c.tokens for c in self.contributions)),
            "X-Omoide-Status": "ok",
        }
        if self.turns:
            told["X-Omoide-Session"] = str(self.turns[-1].session)
        if self.problems:
            told["X-Omoide-Status"] = f"degraded; reason={self.problems[0]}"
        return told


SESSION = 64
"""Turns of the session that count as what is being talked about. What lies further back in a long
one may be recalled, as clients do not send it any more."""
OFF = {"X-Omoide-Status": "off"}


class Remembering:
    """Runs exchanges for one tenant."""

    def __init__(
        self,
        memory: Memory,
        *,
        clock: Clock,
        metrics: Metrics,
        idle: timedelta,
        patience: float,
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._metrics = metrics
        self._recording = Recording(memory, idle=idle)
        self._patience = patience
        self._writing: dict[Owner, set[asyncio.Task[None]]] = {}
        self._streams: set[asyncio.Future[None]] = set()

    async def attend(self, user: str, asked: Asked, *, session: str | None) -> Exchange:
        """Record what was said, durably, and gather what memory has to add. Never raises for a
        fault of memory: the exchange then says so."""
        owner = Owner(tenant=self._memory.tenant, user=checked_name(user, "the user"))
        exchange = Exchange(owner=owner, key=session, asked=asked)
        if not asked.words:
            return exchange
        # Cancelling a write does not stop it: it is waited for on its own, and only so long.
        attempt = asyncio.ensure_future(self._attempt(exchange))
        done, _ = await asyncio.wait({attempt}, timeout=self._patience)
        if not done:
            exchange.problems.append("timeout")
            exchange.attempt = attempt
            self._keep(owner, attempt)
        for reason in exchange.problems:
            self._metrics.degraded[reason] += 1
        return exchange

    async def answered(self, exchange: Exchange, heard: Heard) -> None:
        """Record the reply, as far as it came, and what it cost; returns when that is durable or
        has taken too long to wait for."""
        task = asyncio.ensure_future(self._answered(exchange, heard))
        self._keep(exchange.owner, task)
        await asyncio.wait({task}, timeout=self._patience)

    async def settled(self) -> None:
        """Wait for everything that is still being written, or is about to be."""
        while waiting := [*self._streams, *(t for tasks in self._writing.values() for t in tasks)]:
            await asyncio.wait(waiting)

    def streaming(self) -> Callable[[], None]:
        """A reply is on its way, and will be written down when it ends or is broken off: `settled`
        waits for it, until the function is called that comes back."""
        stream: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._streams.add(stream)

        def over() -> None:
            self._streams.discard(stream)
            stream.set_result(None)

        return over

    def _keep(self, owner: Owner, task: asyncio.Task[None]) -> None:
        """Hold on to a task that writes for this owner until it is done."""
        tasks = self._writing.setdefault(owner, set())
        tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if not tasks and self._writing.get(owner) is tasks:
                del self._writing[owner]

        task.add_done_callback(done)

    async def _attempt(self, exchange: Exchange) -> None:
        await self._guarded(exchange, self._record(exchange))
        if exchange.turns:
            began = monotonic()
            await self._guarded(exchange, self._gather(exchange))
            self._metrics.recall.observe(monotonic() - began)

    async def _guarded(self, exchange: Exchange, work: Coroutine[None, None, None]) -> None:
        """Do work of memory's; whatever it raises becomes a note on the exchange."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - the boundary beyond which chat goes on
            _forgiven(exchange, error)

    async def _record(self, exchange: Exchange) -> None:
        if before := self._writing.get(exchange.owner):  # the last reply goes before these words
            await asyncio.wait(set(before))
        exchange.turns = await self._recording.record(
            exchange.owner.user, exchange.asked, session=exchange.key, now=self._clock.now()
        )

    async def _gather(self, exchange: Exchange) -> None:
        owner = exchange.owner
        attention, newest = await asyncio.gather(
            self._memory.attending.attend(
                exchange.turns[-1],
                owner=owner,
                now=self._clock.now(),
                text=exchange.asked.text,
                last=SESSION,
                forgive=partial(_forgiven, exchange),
            ),
            self._memory.store.summaries.find(owner),
        )
        if "timeout" not in exchange.problems:  # too late: the request has gone out without
            exchange.version = newest.number if newest else 0
            exchange.attention = attention

    async def _answered(self, exchange: Exchange, heard: Heard) -> None:
        if exchange.attempt is not None:
            await asyncio.wait({exchange.attempt})
        if exchange.turns:
            await self._guarded(exchange, self._write(exchange, heard))

    async def _write(self, exchange: Exchange, heard: Heard) -> None:
        owner, session = exchange.owner, exchange.turns[-1].session
        call = Call(
            purpose=Purpose.REPLY,
            model=heard.model,
            session=session,
            prompt_tokens=heard.prompt_tokens,
            completion_tokens=heard.completion_tokens,
            seconds=heard.seconds,
            time=self._clock.now(),
            failed=not heard.finished,
        )
        # Neither waits for the other, nor fails with it; at once they are one way to the store.
        outcomes = await asyncio.gather(
            self._keep_reply(exchange, heard),
            self._memory.store.ledger.add(owner, call),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _keep_reply(self, exchange: Exchange, heard: Heard) -> None:
        if said := heard.said:
            id_ = heard.id(exchange.turns[-1].id)
            reply = Utterance(speaker=Speaker.ASSISTANT, text=said, id=id_)
            await self._recording.into_session(exchange.owner.user, [reply], session=exchange.key)
            if exchange.attention is not None:
                await self._memory.attending.used(exchange.attention)


def _forgiven(exchange: Exchange, error: Exception) -> None:
    """Note on the exchange that something of memory's failed."""
    exchange.problems.append(slug_of(error))
    log.warning("memory failed", extra={"reason": slug_of(error)}, exc_info=error)
