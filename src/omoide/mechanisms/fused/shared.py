"""One digest of a session, shared by all mechanisms that write something about it.

Separately, the summary, the memos and the events of a session cost at least one call each. Fused,
the first mechanism that digests the session asks the model, and the others use the same answer.
Each mechanism checks its part with the same guards as if it had asked itself. If an answer has
nothing usable for a mechanism, its own writer takes over, so that nothing is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from omoide.domain import empty_summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Summary, Turn
    from omoide.mechanisms.base import Ask, SessionToDigest
    from omoide.mechanisms.events.writer import EventsWritten as Events
    from omoide.mechanisms.events.writer import EventWriter
    from omoide.mechanisms.memos.writer import MemoMaker
    from omoide.mechanisms.memos.writer import MemosWritten as Memos
    from omoide.mechanisms.summary.summariser import Summariser, SummaryDigest
    from omoide.ports import ChatModel, Store


class DigestSource(Protocol):
    """Takes events and memos from the digest of a session."""

    async def events(self, digest: SummaryDigest, to_digest: SessionToDigest) -> Events | None:
        """The session's events; None if the digest has nothing to make them from."""

    async def memos(
        self, digest: SummaryDigest, turns: Sequence[Turn], *, to_digest: SessionToDigest
    ) -> Memos | None:
        """Memos of these turns of the session; None if the digest has nothing to make them from."""


class SharedDigest:
    """Has each session digested once. Each digest has its own `ask`, which is the cache key.

    If no summary is kept (`summarised` is false), the rejected answers are stored here, since
    nobody else does.
    """

    def __init__(self, *, store: Store, iterator: Summariser, summarised: bool = True) -> None:
        self._store = store
        self._iterator = iterator
        self._summarised = summarised
        self._known: WeakKeyDictionary[Ask, SummaryDigest] = WeakKeyDictionary()

    @property
    def model(self) -> ChatModel:
        """The model that is asked."""
        return self._iterator.model

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> SummaryDigest:
        """The summariser's digest, cached by `ask`."""
        if ask not in self._known:
            self._known[ask] = await self._iterator.digest(
                old=old, turns=turns, at=at, ask=ask, cited=cited
            )
        return self._known[ask]

    async def digest_of(self, to_digest: SessionToDigest) -> SummaryDigest:
        """The digest of a session, for a mechanism that does not use the old memory."""
        known = to_digest.ask in self._known
        newest = await self._store.summaries.find(to_digest.owner)
        old = newest or empty_summary(to_digest.at, to_digest.language)
        digest = await self.digest(
            old=old,
            turns=to_digest.turns,
            at=to_digest.at,
            ask=to_digest.ask,
            cited=await self._store.turns.read(to_digest.owner, ids=old.sources),
        )
        if not known and not self._summarised:
            for rejected in digest.rejected:
                await self._store.summaries.add_rejected(to_digest.owner, rejected)
        return digest


class SharedEvents:
    """Takes events from the shared digest; `otherwise` writes them if it has none."""

    def __init__(self, shared: SharedDigest, source: DigestSource, otherwise: EventWriter) -> None:
        self._shared = shared
        self._source = source
        self._otherwise = otherwise

    async def __call__(self, to_digest: SessionToDigest) -> Events:
        """The events of the session."""
        digest = await self._shared.digest_of(to_digest)
        return await self._source.events(digest, to_digest) or await self._otherwise(to_digest)


class SharedMemos:
    """Takes memos from the shared digest; `otherwise` writes them if it has none, and while the
    session is still open."""

    def __init__(self, shared: SharedDigest, source: DigestSource, otherwise: MemoMaker) -> None:
        self._shared = shared
        self._source = source
        self._otherwise = otherwise

    async def write(self, turns: Sequence[Turn], *, to_digest: SessionToDigest) -> Memos:
        """Memos of these turns."""
        if to_digest.session.open:
            return await self._otherwise.write(turns, to_digest=to_digest)
        digest = await self._shared.digest_of(to_digest)
        written = await self._source.memos(digest, turns, to_digest=to_digest)
        return written or await self._otherwise.write(turns, to_digest=to_digest)
