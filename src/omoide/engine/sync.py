"""`Memory` without `await`: it runs on an event loop in its own thread; one line per method."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import wait
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from omoide.engine.memory import Memory
from omoide.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from types import TracebackType

    from omoide.domain import RecordedTurns, Turn
    from omoide.engine.asking import Answer, Exchange
    from omoide.engine.context import Context
    from omoide.engine.reader import About
    from omoide.engine.reply import Reply
    from omoide.mechanisms.base import Contribution
    from omoide.transfer import Record

P = ParamSpec("P")
T = TypeVar("T")


def _own(memory: Memory, verb: Callable[..., Any]) -> Callable[..., Any]:
    """The memory's own method of this name, since a server's memory has others."""
    own: Callable[..., Any] = getattr(memory, verb.__name__)
    return own


def _verb(
    verb: Callable[Concatenate[Memory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[SyncMemory, P], T]:
    """A blocking version of a method of `Memory`."""

    @wraps(verb)
    def blocking(self: SyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        work: Coroutine[Any, Any, T] = _own(self._memory, verb)(*args, **kwargs)
        return self._run(work)

    return blocking


def _reply(
    verb: Callable[Concatenate[Memory, P], Coroutine[Any, Any, Reply]],
) -> Callable[Concatenate[SyncMemory, P], SyncReply]:
    """A blocking version of `reply`, which still streams."""

    @wraps(verb)
    def blocking(self: SyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> SyncReply:
        reply = self._run(_own(self._memory, verb)(*args, **kwargs))
        return SyncReply(reply, self._run, self._run_later)

    return blocking


def _exchange(
    verb: Callable[Concatenate[Memory, P], AbstractAsyncContextManager[Exchange]],
) -> Callable[Concatenate[SyncMemory, P], AbstractContextManager[SyncExchange]]:
    """A blocking version of `exchange`, for a plain `with` statement."""

    @contextmanager
    def entered(self: SyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[SyncExchange]:
        block: AbstractAsyncContextManager[Exchange] = _own(self._memory, verb)(*args, **kwargs)

        async def enter() -> Exchange:
            return await block.__aenter__()

        async def leave() -> bool | None:
            return await block.__aexit__(None, None, None)

        exchange = self._run(enter())
        try:
            yield SyncExchange(exchange, self._run)
        finally:
            self._run(leave())

    return wraps(verb)(entered)


class SyncReply:
    """A reply that is being streamed: iterate over it for the pieces, or take the whole `text`."""

    def __init__(
        self,
        reply: Reply,
        run: Callable[[Coroutine[Any, Any, Any]], Any],
        run_later: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self.turn: Turn = reply.turn
        self.why: tuple[Contribution, ...] = reply.why
        """What memory added to the prompt, and why."""
        self._reply = reply
        self._run = run
        self._run_later = run_later

    @property
    def draft(self) -> str:
        """What the model has written so far, words that may still be replaced included."""
        return self._reply.draft

    def __iter__(self) -> Iterator[str]:
        pieces = aiter(self._reply)

        async def next_piece() -> str | None:
            return await anext(pieces, None)

        try:
            while (piece := self._run(next_piece())) is not None:
                yield piece
        except GeneratorExit:  # perhaps by the garbage collector, which must never wait
            self._run_later(self._reply.close())
            raise
        except BaseException:
            self.close()
            raise
        self.close()

    def text(self) -> str:
        """Wait for the end, and return all of it."""
        return "".join(self)

    def close(self) -> None:
        """Stop the reply if it has not ended; what came until then is recorded."""
        self._run(self._reply.close())


class SyncExchange:
    """See `Exchange`: a recorded message, and what memory adds to the prompt of its reply."""

    def __init__(self, exchange: Exchange, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._exchange = exchange
        self._run = run

    @property
    def turn(self) -> Turn:
        """The user's turn that is answered."""
        return self._exchange.turn

    @property
    def context(self) -> Context | None:
        """What memory adds to the prompt."""
        return self._exchange.context

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages to send to a model, with what memory adds."""
        return self._exchange.messages

    @property
    def why(self) -> tuple[Contribution, ...]:
        """What memory adds to the prompt, each with its reason."""
        return self._exchange.why

    @property
    def problems(self) -> list[Exception]:
        """Errors of memory, in a tolerant exchange."""
        return self._exchange.problems

    def finish(self, reply: str | Answer, *, record: bool = True) -> RecordedTurns:
        """See `Exchange.finish`."""
        recorded: RecordedTurns = self._run(self._exchange.finish(reply, record=record))
        return recorded


class SyncMemory:
    """Long-term memory, for code that does not use asyncio. Made by `omoide.open`, or by
    `omoide.connect` over a server's memory, which has the same methods.

    Jobs run in the background while it is open. Jobs left over when it is closed are done the next
    time.
    """

    def __init__(self, opening: AbstractAsyncContextManager[Memory]) -> None:
        self._opening = opening
        self._begun: list[Future[Any]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="omoide", daemon=True)
        self._thread.start()
        try:
            self._memory = self._run(self._enter())
        except BaseException:
            self._stop()
            raise

    record = _verb(Memory.record)
    reply = _reply(Memory.reply)
    exchange = _exchange(Memory.exchange)
    context = _verb(Memory.context)
    recall = _verb(Memory.recall)
    explain = _verb(Memory.explain)
    curves = _verb(Memory.curves)
    calibrate = _verb(Memory.calibrate)
    end_session = _verb(Memory.end_session)
    end_idle = _verb(Memory.end_idle)
    run_jobs = _verb(Memory.run_jobs)
    preset = _verb(Memory.preset)
    choose_preset = _verb(Memory.choose_preset)
    summary = _verb(Memory.summary)
    history = _verb(Memory.history)
    diff = _verb(Memory.diff)
    rollback = _verb(Memory.rollback)
    amend = _verb(Memory.amend)
    correct = _verb(Memory.correct)
    pin = _verb(Memory.pin)
    unpin = _verb(Memory.unpin)
    expire = _verb(Memory.expire)
    tag = _verb(Memory.tag)
    mark = _verb(Memory.mark)
    why = _verb(Memory.why)
    sessions = _verb(Memory.sessions)
    titles = _verb(Memory.titles)
    rename = _verb(Memory.rename)
    turns = _verb(Memory.turns)
    events = _verb(Memory.events)
    memos = _verb(Memory.memos)
    facts = _verb(Memory.facts)
    timeline = _verb(Memory.timeline)
    notes = _verb(Memory.notes)
    put_note = _verb(Memory.put_note)
    remove_notes = _verb(Memory.remove_notes)
    rejected = _verb(Memory.rejected)
    calls = _verb(Memory.calls)
    jobs = _verb(Memory.jobs)
    retry = _verb(Memory.retry)
    digest = _verb(Memory.digest)
    embed = _verb(Memory.embed)
    users = _verb(Memory.users)
    restore = _verb(Memory.restore)
    import_conversations = _verb(Memory.import_conversations)
    import_memories = _verb(Memory.import_memories)
    find_fact = _verb(Memory.find_fact)
    forget = _verb(Memory.forget)
    memory_tool = _verb(Memory.memory_tool)
    file_versions = _verb(Memory.file_versions)
    restore_file = _verb(Memory.restore_file)
    erase = _verb(Memory.erase)
    is_genuine = _verb(Memory.is_genuine)

    @property
    def tenant(self) -> str:
        """The tenant that the users belong to."""
        return self._memory.tenant

    @property
    def about(self) -> About:
        """The models and mechanisms in use."""
        return self._memory.about

    def export(self, user: str) -> list[Record]:
        """See `Memory.export`; all records at once."""

        async def gather() -> list[Record]:
            return [record async for record in self._memory.export(user)]

        return self._run(gather())

    def close(self) -> None:
        """Stop the background work and close everything. Calling it again does nothing."""
        if self._loop.is_closed():
            return
        try:
            self._run(self._leave())
        finally:
            self._stop()

    def __enter__(self) -> SyncMemory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _enter(self) -> Memory:
        return await self._opening.__aenter__()

    async def _leave(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        try:
            await self._opening.__aexit__(None, None, None)
        finally:
            left = [task for task in others if not task.done()]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise StoreError("the memory was closed; open it again")
        while self._begun:
            wait([self._begun.pop()])
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _run_later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin work whose end the next call waits for."""
        if self._loop.is_closed():
            work.close()
        else:
            self._begun.append(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
