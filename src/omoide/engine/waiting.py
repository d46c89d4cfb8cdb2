"""Keeps what was said while the store cannot take it, and stores it later, exactly once.

The promise of a tolerant exchange: either both sides are stored, or `Exchange.stored` says that
they are not, and they wait durably outside the store. They are stored before the next words of the
same user, by the background work of any process, or by the next process.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omoide.domain import RecordedTurns, Speaker
from omoide.domain.text import cleaned
from omoide.domain.waiting import (
    WaitingMessage,
    WaitingReply,
    WaitingWords,
    database_id,
    erasure_text,
    is_erased,
)
from omoide.engine.asking import NOTHING, Answer, Asking, Exchange, Stored
from omoide.engine.messages import Incoming, UserMessage, is_same
from omoide.engine.recorder import RECENT
from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from omoide.domain import Owner, Turn
    from omoide.domain.waiting import Waiting, WaitingExchange
    from omoide.engine.recorder import Recorder
    from omoide.ports import Clock, Store
    from omoide.ports.spool import Spool

    RecordReply = Callable[[Exchange, Answer], Coroutine[Any, Any, object]]

log = logging.getLogger(__name__)

GLANCE = 1.0
"""Seconds that a chat waits to learn what may be known without delay."""


@dataclass(kw_only=True)
class WaitingExchanges:
    """Exchanges that wait to be stored. Without a spool none can wait, and what the store does not
    take is reported as not stored."""

    spool: Spool | None
    store: Store
    recorder: Recorder
    clock: Clock
    reply: RecordReply
    """Records a reply."""
    patience: float = 10.0
    """Seconds that the spool may take; a chat waits for it no longer."""
    _in_flight: set[str] = field(default_factory=set)
    """Exchanges of this process that are not finished: their reply is still to come, or is being
    stored by a write that takes long."""
    _database: str = ""
    """Which database this is, once it has said so."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def is_in_flight(self, exchange: Exchange) -> bool:
        """Whether words of the exchange wait, and its reply is still to come."""
        return exchange.id in self._in_flight

    async def keep_words(self, exchange: Exchange) -> None:
        """Keep the messages of an exchange that could not be recorded."""
        asking = exchange.asking
        messages = tuple(
            WaitingMessage(id=words.id, text=words.text, first=words.first, name=words.name)
            for words in asking.incoming.words
            if cleaned(words.text).strip()
        )
        if not messages:  # nothing that could be stored
            exchange.stored = Stored.NO
            return
        self._in_flight.add(exchange.id)
        await self._keep(
            exchange,
            WaitingWords(
                exchange=exchange.id,
                owner=asking.owner,
                session=asking.session,
                time=exchange.time,
                messages=messages,
                follow_up=asking.incoming.follow_up,
            ),
        )

    async def keep_reply(
        self, exchange: Exchange, answer: Answer, *, unless: asyncio.Task[Any] | None = None
    ) -> None:
        """Keep the reply of an exchange that could not be recorded, and end the exchange; do
        nothing if the task `unless`, which goes on recording it, is done meanwhile."""
        async with exchange.keeping:
            if unless is not None and unless.done():
                return
            if unless is not None:
                self._in_flight.add(exchange.id)
            waiting = exchange.stored is Stored.WAITING
            reply = WaitingReply(
                exchange=exchange.id,
                owner=exchange.owner,
                session=exchange.asking.session,
                time=exchange.asking.at or self.clock.now(),
                text=answer.text,
                answers=exchange.turn.id if exchange.turns else None,
                complete=answer.complete,
                repeated=exchange.repeated,
                follow_up=exchange.asking.incoming.follow_up,
                first=exchange.asking.incoming.words[-1].first,
                call=answer.call,
                final=unless is None,
            )
            if answer.text.strip() and (exchange.turns or waiting):
                await self._keep(exchange, reply)
            elif waiting and reply.final and self.spool is not None:
                ended = replace(reply, text="", call=None)
                await self._guarded(self.spool.keep(await self._marked(ended)))
            if unless is None:
                self._in_flight.discard(exchange.id)
                self._news.set()

    async def is_erased(self, exchange: Exchange) -> bool:
        """Whether the owner was erased since words of the exchange were kept to wait, which are not
        to be stored by a write that was held up meanwhile."""
        if exchange.kept is None:
            return False
        return is_erased(exchange.kept, await self.store.archive.last_erasure(exchange.owner))

    async def end(self, exchange: Exchange, stored: Stored) -> None:
        """Note what became of an exchange of which nothing has to wait: all of it is stored after
        all, or it was erased."""
        async with exchange.keeping:
            exchange.stored = stored
            self._in_flight.discard(exchange.id)
            if self.spool is not None and exchange.kept is not None:
                await self._guarded(self.spool.drop(exchange.id))

    async def replay(self, owner: Owner | None = None) -> int:
        """Store what waits, of one owner or of all; returns how many exchanges that were. Raises
        `StoreError` if the store still cannot take it."""
        if self.spool is None or (owner is not None and not await self._waits(owner)):
            return 0
        database = await self._database_id()
        done = await self.spool.replay(
            self._store, database=database, owner=owner, skip=self._in_flight
        )
        if done:
            log.warning("exchanges that had been waiting are stored: %s", done)
        return done

    async def run(self, *, every: float) -> None:
        """Store what waits as soon as possible, until cancelled."""
        while True:
            self._news.clear()
            try:
                await self.replay()
            except StoreError as error:
                log.warning("words wait to be stored: %s", type(error).__name__)
            except Exception as error:  # a process boundary: whatever fails, the words still wait
                log.warning("words could not be stored: %s", type(error).__name__)
                log.debug("words could not be stored", exc_info=error)
            waiting = asyncio.ensure_future(self._news.wait())
            try:
                await asyncio.wait({waiting}, timeout=every)
            finally:
                waiting.cancel()

    async def _waits(self, owner: Owner) -> bool:
        """Whether words of the owner wait. If nobody can say, the next words are stored first."""
        assert self.spool is not None  # noqa: S101 - the caller has looked
        try:
            async with asyncio.timeout(GLANCE):
                return await self.spool.holds(owner)
        except (StoreError, TimeoutError) as error:
            log.warning("what waits to be stored cannot be read: %s", type(error).__name__)
            return False

    async def _keep(self, exchange: Exchange, item: Waiting) -> None:
        kept = False
        if self.spool is not None:
            item = await self._marked(item)
        exchange.kept = exchange.kept or item
        if self.spool is not None:
            kept = await self._guarded(self.spool.keep(item))
        exchange.stored = Stored.WAITING if kept else Stored.NO

    async def _marked(self, item: Waiting) -> Waiting:
        """The item with its database and its owner's last erasure, as far as the store says so
        without delay: it may be out of reach."""

        async def ask() -> str:
            await self._database_id()
            return erasure_text(await self.store.archive.last_erasure(item.owner))

        task = asyncio.ensure_future(ask())
        done, _ = await asyncio.wait({task}, timeout=GLANCE)
        erased = None
        if not done:
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
        elif task.exception() is None:
            erased = task.result()
        return replace(item, database=self._database, erased=erased)

    async def _database_id(self) -> str:
        if not self._database:
            self._database = database_id(await self.store.archive.receipt_key())
        return self._database

    async def _guarded(self, work: Awaitable[None]) -> bool:
        """Await `work`, but no longer than `patience`; whether it went well."""
        task = asyncio.ensure_future(work)
        done, _ = await asyncio.wait({task}, timeout=self.patience)
        if done and not task.cancelled() and task.exception() is None:
            return True
        reason = type(task.exception()).__name__ if done else "timeout"
        log.error("words could not be kept to be stored later: %s", reason)
        if not done:
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
        return False

    async def _store(self, found: WaitingExchange) -> None:
        """Store what waits of an exchange, unless it was stored before the process died or its
        owner was erased since."""
        last = await self.store.archive.last_erasure(found.owner)
        if found.is_erased(last):
            return
        words, reply = found.words, found.reply
        turn: Turn | None = None
        repeated = False
        if words is not None:
            turns, repeated = await self._recorded(words)
            if last != await self.store.archive.last_erasure(words.owner):  # at this very moment
                await self.store.archive.erase(words.owner, turns=[turn.id for turn in turns])
                return
            turn = turns[-1]
        elif reply is not None and reply.answers is not None:
            known = await self.store.turns.read(reply.owner, ids=[reply.answers])
            turn, repeated = (known[0] if known else None), reply.repeated
        if reply is None or turn is None:
            return  # there is none, or the message that it answers was erased
        await self._store_reply(reply, turn, repeated=repeated)

    async def _store_reply(self, reply: WaitingReply, turn: Turn, *, repeated: bool) -> None:
        message = UserMessage(id=turn.id, text=turn.text, index=0, first=reply.first)
        asking = Asking(
            owner=reply.owner,
            incoming=Incoming(words=(message,), follow_up=reply.follow_up),
            session=reply.session,
            at=reply.time,
        )
        exchange = Exchange(
            asking=asking,
            service=_NoService(),
            time=reply.time,
            turns=RecordedTurns((turn,), new=frozenset()),
            repeated=repeated,
        )
        answer = Answer(text=reply.text, once=True, complete=reply.complete)
        await self.reply(exchange, answer)
        if reply.call is None:
            return
        call = replace(reply.call, session=turn.session)
        if call not in await self.store.ledger.calls(reply.owner):  # it may not have had to wait
            await self.store.ledger.add(reply.owner, call)

    async def _recorded(self, words: WaitingWords) -> tuple[RecordedTurns, bool]:
        """The turns of the messages, recorded now or before, and whether the last one had been said
        before."""
        last = words.messages[-1]
        recent = await self.store.turns.read(words.owner, ids=[last.id])
        recent += await self.store.turns.read(words.owner, last=RECENT)
        for turn in recent:
            if turn.time == words.time and is_same(turn.id, last.id):
                parts = self.recorder.parts(Speaker.USER, last.text, id_=turn.id, name=last.name)
                if parts[0].text != turn.text:
                    continue
                known = await self.recorder.record_said(
                    words.owner, parts, session=words.session, now=words.time
                )
                return known, False
        incoming = Incoming(
            words=tuple(
                UserMessage(id=m.id, text=m.text, index=i, first=m.first, name=m.name)
                for i, m in enumerate(words.messages)
            ),
            follow_up=words.follow_up,
        )
        turns = await self.recorder.record_once(
            words.owner, incoming, session=words.session, now=words.time
        )
        return turns, turns[-1].id not in turns.new


class _NoService:
    """Ends nothing: what is replayed is ended already."""

    async def finish(
        self, exchange: Exchange, answer: Answer, *, record: bool = True
    ) -> RecordedTurns:
        """Does nothing."""
        del exchange, answer, record
        return NOTHING
