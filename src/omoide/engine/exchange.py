"""One message and its reply: record, gather context, ask, record, mark as used.

Everything that answers a user uses this: the library's `reply` and `exchange`, the proxy, the page
and the benchmarks. The message is durable before a model is asked. The reply is recorded as far as
it came. A `tolerant` exchange never fails because of memory: the error is noted in `problems`, and
the chat goes on without memory.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import replace as replaced
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.domain import Speaker
from omoide.domain.text import cleaned, without_thoughts
from omoide.domain.time import not_ahead
from omoide.engine.asking import NOTHING, Answer, Exchange, Stored
from omoide.engine.edits import place_of
from omoide.engine.messages import Utterance
from omoide.engine.recorder import RECENT, is_partial
from omoide.engine.waiting import WaitingExchanges
from omoide.errors import EmptyText
from omoide.ports.telemetry import OFF, MemoryOperation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence

    from omoide.domain import Owner, RecordedTurns
    from omoide.engine.asking import Asking
    from omoide.engine.methods import Methods
    from omoide.engine.recorder import Recorder
    from omoide.ports import Clock, Store
    from omoide.ports.spool import Spool
    from omoide.ports.telemetry import Telemetry

log = logging.getLogger(__name__)

T = TypeVar("T")


class Exchanges:
    """Runs exchanges over one store."""

    def __init__(
        self,
        *,
        store: Store,
        recorder: Recorder,
        methods: Methods,
        clock: Clock,
        spool: Spool | None = None,
        telemetry: Telemetry = OFF,
    ) -> None:
        self._telemetry = telemetry
        self.waiting = WaitingExchanges(
            spool=spool,
            store=store,
            recorder=recorder,
            clock=clock,
            reply=lambda exchange, answer: self._record_reply(exchange, answer, record=True),
        )
        self._store = store
        self._recorder = recorder
        self._methods = methods
        self._clock = clock
        self._writing: dict[Owner, set[asyncio.Task[Any]]] = {}
        self._streams: set[asyncio.Future[None]] = set()

    async def begin(self, asking: Asking) -> Exchange:
        """Record the message durably, and build the context. A tolerant exchange never raises an
        error of memory, and takes no longer than its patience."""
        now = self._clock.now()
        if asking.at is not None:
            asking = replaced(asking, at=not_ahead(asking.at, now))
        exchange = Exchange(asking=asking, service=self, time=asking.at or now)
        if not asking.incoming.words:
            exchange.stored = Stored.NO
            exchange.problems.append(EmptyText("the user says nothing in words"))
            return exchange
        if not asking.tolerant:
            await self._attempt(exchange)
            return exchange
        # Cancelling does not stop a write, so it runs in its own task and the wait has a timeout.
        attempt = asyncio.ensure_future(self._attempt(exchange))
        done, _ = await asyncio.wait({attempt}, timeout=asking.patience)
        if not done:
            exchange.problems.append(TimeoutError("memory took too long"))
            exchange.attempt = attempt
            self._hold(asking.owner, attempt)
        if not exchange.turns:
            await self.waiting.keep_words(exchange)
        return exchange

    async def finish(
        self, exchange: Exchange, answer: Answer, *, record: bool = True
    ) -> RecordedTurns:
        """See `Exchange.finish`. A tolerant exchange waits no longer than its patience; the write
        goes on after that."""
        exchange.answered = True
        task = asyncio.ensure_future(self._finish(exchange, answer, record=record))
        self._hold(exchange.owner, task)
        if not exchange.asking.tolerant:
            return await asyncio.shield(task)
        done, _ = await asyncio.wait({task}, timeout=exchange.asking.patience)
        if not done:
            exchange.problems.append(TimeoutError("memory took too long"))
            await self.waiting.keep_reply(exchange, answer, unless=task)
            return NOTHING
        return await self._guarded(exchange, task) or NOTHING

    def abandon(self, exchange: Exchange) -> None:
        """End an exchange to which no reply will come. Does nothing if one came."""
        if not exchange.answered and self.waiting.is_in_flight(exchange):
            self._hold(exchange.owner, asyncio.ensure_future(self._abandon(exchange)))

    async def _abandon(self, exchange: Exchange) -> None:
        if exchange.attempt is not None:
            await asyncio.wait({exchange.attempt})
        if exchange.turns:
            await self.waiting.end(exchange, Stored.YES)
        else:
            await self.waiting.keep_reply(exchange, Answer(text=""))

    async def settled(self) -> None:
        """Wait for all pending writes, and for streams that will be recorded."""
        while waiting := [*self._streams, *(t for tasks in self._writing.values() for t in tasks)]:
            await asyncio.wait(waiting)

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """Marks that a reply is being streamed, which is recorded when it ends or is stopped:
        `settled` waits for it."""
        stream: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)
            stream.set_result(None)

    def _hold(self, owner: Owner, task: asyncio.Task[Any]) -> None:
        """Keep a task that writes for this owner until it is done."""
        tasks = self._writing.setdefault(owner, set())
        tasks.add(task)

        def done(task: asyncio.Task[Any]) -> None:
            tasks.discard(task)
            if not tasks and self._writing.get(owner) is tasks:
                del self._writing[owner]

        task.add_done_callback(done)

    async def _attempt(self, exchange: Exchange) -> None:
        await self._guarded(exchange, self._record(exchange))
        if exchange.turns:
            await self._guarded(exchange, self._gather(exchange))

    async def _guarded(self, exchange: Exchange, work: Awaitable[T]) -> T | None:
        """The result of `work`; in a tolerant exchange, note its error instead of raising it, and
        return None."""
        try:
            return await work
        except Exception as error:  # mechanisms may be anybody's: none may stop a chat
            if not exchange.asking.tolerant:
                raise
            _note(exchange, error)
            return None

    async def _record(self, exchange: Exchange) -> None:
        asking = exchange.asking
        if pending := self._writing.get(asking.owner):  # record the previous reply first
            await asyncio.wait(set(pending))
        now = exchange.time
        if asking.messages:
            await self.waiting.replay(asking.owner)  # what was said before comes first
        if await self.waiting.is_erased(exchange):
            exchange.stored = Stored.NO
            return
        if asking.messages:
            exchange.turns = await self._recorder.record_once(
                asking.owner, asking.incoming, session=asking.session, now=now
            )
            exchange.repeated = exchange.turn.id not in exchange.turns.new
            exchange.changes += _changes(exchange)
        else:
            utterances = [
                Utterance(speaker=Speaker.USER, text=words.text, id=words.id, name=words.name)
                for words in asking.incoming.words
            ]
            exchange.turns = await self._recorder.record(
                asking.owner,
                utterances,
                session=asking.session,
                now=now,
                replaces=asking.replaces,
            )
            exchange.repeated = exchange.turn.id not in exchange.turns.new

    async def _gather(self, exchange: Exchange) -> None:
        with self._telemetry.operation(MemoryOperation.SEARCH, exchange.owner) as observed:
            observed.asked(exchange.asking.incoming.text)
            await self._build(exchange)
            observed.records(len(exchange.why), (found.text for found in exchange.why))

    async def _build(self, exchange: Exchange) -> None:
        asking, began = exchange.asking, monotonic()
        method = await self._methods.of(asking.owner)
        finding = asyncio.ensure_future(self._store.summaries.find(asking.owner))
        try:
            context = await method.contexts.for_turn(
                exchange.turn,
                owner=asking.owner,
                now=asking.at or self._clock.now(),
                text=asking.incoming.text,
                parts=exchange.turns,
                sent=asking.messages or None,
                place=place_of(asking.messages or (), session=asking.session),
                budget=asking.budget,
                on_failure=(lambda error: _note(exchange, error)) if asking.tolerant else None,
            )
        except BaseException:
            finding.cancel()
            raise
        newest = await finding
        exchange.seconds = monotonic() - began
        late = any(isinstance(problem, TimeoutError) for problem in exchange.problems)
        if not late:  # else the request was sent without memory
            last = asking.incoming.words[-1].index
            context = replaced(context, given=asking.messages, last=last)
            exchange.prepared = (
                context.messages if asking.messages and context.contributions else None
            )
            exchange.context = context
            exchange.version = newest.number if newest else 0

    async def _finish(self, exchange: Exchange, answer: Answer, *, record: bool) -> RecordedTurns:
        if exchange.attempt is not None:
            await asyncio.wait({exchange.attempt})
        recorded = None
        if exchange.turns:
            writing = self._write(exchange, answer, record=record)
            recorded = await self._guarded(exchange, writing)
        if exchange.asking.tolerant and exchange.asking.incoming.words:
            if recorded is None:
                await self.waiting.keep_reply(exchange, answer)
            else:
                erased = record and not recorded and without_thoughts(answer.text)
                await self.waiting.end(exchange, Stored.NO if erased else Stored.YES)
        return NOTHING if recorded is None else recorded

    async def _write(self, exchange: Exchange, answer: Answer, *, record: bool) -> RecordedTurns:
        # Concurrent, so that they share one trip to the store and neither fails with the other.
        reply = asyncio.ensure_future(self._record_reply(exchange, answer, record=record))
        writes: list[Awaitable[object]] = [reply]
        if answer.call is not None:
            call = replaced(answer.call, session=exchange.session)
            writes.append(self._store.ledger.add(exchange.owner, call))
        for outcome in await asyncio.gather(*writes, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        return reply.result()

    async def _record_reply(
        self, exchange: Exchange, answer: Answer, *, record: bool
    ) -> RecordedTurns:
        said, recorded = without_thoughts(answer.text), NOTHING
        if not said:
            return NOTHING
        if record:
            asking, turn = exchange.asking, exchange.turn
            parts = self._recorder.parts(Speaker.ASSISTANT, said, id_=answer.id(turn))
            recorded = await self._recorder.record_said(
                asking.owner,
                parts,
                session=asking.session,
                now=asking.at or self._clock.now(),
                answers=turn.id,
                replaces=await self._former(exchange, answer, parts),
            )
            if not recorded:
                return NOTHING  # the message was erased meanwhile, and with it what this quotes
        if exchange.context is not None:
            method = await self._methods.of(exchange.owner)
            await method.contexts.mark_used(exchange.context)
        return recorded

    async def _former(
        self, exchange: Exchange, answer: Answer, parts: Sequence[Utterance]
    ) -> list[str]:
        """Ids of former replies to the same message, whose place this one takes."""
        asking, turn = exchange.asking, exchange.turn
        if not (answer.once and exchange.repeated) or asking.incoming.follow_up:
            return []
        later = await self._store.turns.read(
            asking.owner, session=turn.session, after=turn.position, first=RECENT
        )
        if any(t.speaker is Speaker.USER for t in later):
            return []  # the user went back in the conversation
        # The first message of a list is also what a client without a history says anew.
        surely_again = answer.complete and not asking.incoming.words[-1].first
        kept = {part.id for part in parts}
        return [t.id for t in later if (surely_again or is_partial(t)) and t.id not in kept]


def _changes(exchange: Exchange) -> list[str]:
    """What was changed to record the messages."""
    changed = []
    words = exchange.asking.incoming.words
    if any(cleaned(message.text) != message.text for message in words):
        changed.append("text-cleaned")
    if len(exchange.turns) > len(words):
        changed.append("text-split")
    return changed


def _note(exchange: Exchange, error: Exception) -> None:
    """Note an error of memory on the exchange."""
    exchange.problems.append(error)
    log.warning("memory failed: %s", type(error).__name__)
    log.debug("memory failed", exc_info=error)  # debug only: it may quote the user
