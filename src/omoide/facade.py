"""The same memory without `await`: an event loop in a thread of its own, one line a verb."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from datetime import datetime
    from types import TracebackType

    from omoide.domain import (
        Call,
        Recollection,
        Recorded,
        Rejected,
        SentenceChange,
        Session,
        Summary,
    )
    from omoide.engine import Memory, Utterance
    from omoide.ports import Erased
    from omoide.reply import Reply
    from omoide.transfer import Record
    from omoide.versions import Because, When

T = TypeVar("T")


class SyncMemory:
    """Long-term memory, for code that does not use asyncio. Made by `omoide.open`.

    Memory is rewritten in the background as long as it is open; what is not done by then is
    done the next time.
    """

    def __init__(self, opening: Coroutine[Any, Any, Memory]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="omoide", daemon=True)
        self._thread.start()
        try:
            self._memory = self._wait(opening)
        except BaseException:
            self._stop()
            raise
        self._work = asyncio.run_coroutine_threadsafe(self._memory.worker.run(), self._loop)

    def record(
        self,
        user: str,
        turns: Sequence[Utterance],
        *,
        session: str | None = None,
        at: datetime | None = None,
    ) -> Recorded:
        """See `Memory.record`."""
        return self._wait(self._memory.record(user, turns, session=session, at=at))

    def recall(
        self,
        user: str,
        query: str,
        *,
        at: datetime | None = None,
        k: int = 10,
        budget: int | None = None,
        asker: Speaker = Speaker.USER,
    ) -> Recollection:
        """See `Memory.recall`."""
        return self._wait(self._memory.recall(user, query, at=at, k=k, budget=budget, asker=asker))

    def reply(
        self,
        user: str,
        text: str,
        *,
        session: str | None = None,
        at: datetime | None = None,
        id: str | None = None,  # noqa: A002 - the same word as in `record`
    ) -> Iterator[str]:
        """See `Memory.reply`; an iterator over the pieces."""
        return self._pieces(
            self._wait(self._memory.reply(user, text, session=session, at=at, id=id))
        )

    def end_session(
        self, user: str, *, session: int | None = None, at: datetime | None = None
    ) -> tuple[Session, ...]:
        """See `Memory.end_session`."""
        return self._wait(self._memory.end_session(user, session=session, at=at))

    def settle(self) -> int:
        """See `Memory.settle`."""
        return self._wait(self._memory.settle())

    def memory(
        self,
        user: str,
        *,
        version: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary:
        """See `Memory.memory`."""
        return self._wait(self._memory.memory(user, version=version, session=session, at=at))

    def history(self, user: str, *, at: datetime | None = None) -> tuple[Summary, ...]:
        """See `Memory.history`."""
        return self._wait(self._memory.history(user, at=at))

    def diff(self, user: str, old: When, new: When | None = None) -> tuple[SentenceChange, ...]:
        """See `Memory.diff`."""
        return self._wait(self._memory.diff(user, old, new))

    def rollback(self, user: str, to: When, *, at: datetime | None = None) -> Summary:
        """See `Memory.rollback`."""
        return self._wait(self._memory.rollback(user, to, at=at))

    def amend(self, user: str, sentence: str, text: str, *, at: datetime | None = None) -> Summary:
        """See `Memory.amend`."""
        return self._wait(self._memory.amend(user, sentence, text, at=at))

    def why(self, user: str, when: When | None = None) -> tuple[Because, ...]:
        """See `Memory.why`."""
        return self._wait(self._memory.why(user, when))

    def aside(self, user: str) -> tuple[Rejected, ...]:
        """See `Memory.aside`."""
        return self._wait(self._memory.aside(user))

    def calls(self, user: str) -> tuple[Call, ...]:
        """See `Memory.calls`."""
        return self._wait(self._memory.calls(user))

    def export(self, user: str) -> list[Record]:
        """See `Memory.export`; all records at once."""

        async def gather() -> list[Record]:
            return [record async for record in self._memory.export(user)]

        return self._wait(gather())

    def erase(
        self,
        user: str,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
    ) -> Erased:
        """See `Memory.erase`."""
        return self._wait(
            self._memory.erase(user, session=session, turns=turns, sentences=sentences)
        )

    def close(self) -> None:
        """Stop the background work and close everything. Calling it again does nothing."""
        if self._loop.is_closed():
            return
        self._work.cancel()
        self._wait(self._finish())
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

    async def _finish(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._memory.close()

    def _pieces(self, reply: Reply) -> Iterator[str]:
        pieces = aiter(reply)

        async def following() -> str | None:
            return await anext(pieces, None)

        try:
            while (piece := self._wait(following())) is not None:
                yield piece
        finally:
            self._wait(reply.close())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
