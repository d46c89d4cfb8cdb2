"""One digestion of a session for all mechanisms that write something about it.

Separately, the summary, the memos and the events of a session cost a call each or more. Fused, the
first mechanism that digests the session has the model asked, and the others take theirs from the
same answer. What they take is checked by the same guards as if they had asked themselves; where
an answer has nothing usable for a mechanism, its own writer stands in, so that nothing is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from omoide.domain import nothing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Summary, Turn
    from omoide.memory.events.writer import Writer
    from omoide.memory.events.writer import Written as Events
    from omoide.memory.mechanism import Ask, Ended
    from omoide.memory.memos.writer import Scribe
    from omoide.memory.memos.writer import Written as Memos
    from omoide.memory.summary.iterator import Digest, Iterator
    from omoide.ports import ChatModel, Store


class Source(Protocol):
    """What events and memos can be taken from: the digest of a session."""

    async def events(self, digest: Digest, ended: Ended) -> Events | None:
        """The session's events; None if the digest has nothing to make them of."""

    async def memos(self, digest: Digest, turns: Sequence[Turn], *, ended: Ended) -> Memos | None:
        """Memos of these turns of the session; None likewise."""


class Shared:
    """Has each session digested once. `ask` belongs to one digestion, so it tells which.

    Where no summary is kept (`summarised`), nobody else lays aside the answers that would not do.
    """

    def __init__(self, *, store: Store, iterator: Iterator, summarised: bool = True) -> None:
        self._store = store
        self._iterator = iterator
        self._summarised = summarised
        self._known: WeakKeyDictionary[Ask, Digest] = WeakKeyDictionary()

    @property
    def model(self) -> ChatModel:
        """Who is asked."""
        return self._iterator.model

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> Digest:
        """As the iterator has it, the same for all that come with this `ask`."""
        if ask not in self._known:
            self._known[ask] = await self._iterator.digest(
                old=old, turns=turns, at=at, ask=ask, cited=cited
            )
        return self._known[ask]

    async def of(self, ended: Ended) -> Digest:
        """The digest of a session for a mechanism that does not care for the old memory."""
        known = ended.ask in self._known
        newest = await self._store.summaries.find(ended.owner)
        old = newest or nothing(ended.at, ended.language)
        digest = await self.digest(
            old=old,
            turns=ended.turns,
            at=ended.at,
            ask=ended.ask,
            cited=await self._store.turns.read(ended.owner, ids=old.sources),
        )
        if not known and not self._summarised:
            for rejected in digest.rejected:
                await self._store.summaries.set_aside(ended.owner, rejected)
        return digest


class SharedEvents:
    """Events out of the shared digestion; by `otherwise` where there are none in it."""

    def __init__(self, shared: Shared, source: Source, otherwise: Writer) -> None:
        self._shared = shared
        self._source = source
        self._otherwise = otherwise

    async def __call__(self, ended: Ended) -> Events:
        """The events of the session."""
        digest = await self._shared.of(ended)
        return await self._source.events(digest, ended) or await self._otherwise(ended)


class SharedMemos:
    """Memos out of the shared digestion; by `otherwise` where there are none in it, and while a
    session still goes on."""

    def __init__(self, shared: Shared, source: Source, otherwise: Scribe) -> None:
        self._shared = shared
        self._source = source
        self._otherwise = otherwise

    async def write(self, turns: Sequence[Turn], *, ended: Ended) -> Memos:
        """Memos of these turns."""
        if ended.session.open:
            return await self._otherwise.write(turns, ended=ended)
        digest = await self._shared.of(ended)
        written = await self._source.memos(digest, turns, ended=ended)
        return written or await self._otherwise.write(turns, ended=ended)
