"""Writes a session's facts: one call of the model for all mechanisms that use them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from omoide.domain import FactFilter, MemoryKind
from omoide.domain.time import in_zone
from omoide.errors import BadReply
from omoide.language import content_terms
from omoide.mechanisms.facts.adoption import adopt
from omoide.mechanisms.facts.choosing import LASTING
from omoide.mechanisms.facts.writing import Asking, FactDigest, SessionWriting
from omoide.prompts.transcript import lines, parts, spoken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Fact, Owner, Turn
    from omoide.mechanisms.base import Ask, SessionToDigest
    from omoide.mechanisms.facts.operations import FactForm
    from omoide.ports import ChatModel, Store
    from omoide.prompts.transcript import Line

CANDIDATES = 200
"""From how many of the newest facts a summary is chosen, besides those that are in it."""
FIRST = 12
"""How many of the facts that share words with the session, and of the newest, come before the rest
of either."""
MAX_TERMS = 200
"""Most terms of a session that related facts are searched by."""


class FactKeeper:
    """Has each session's facts written once. Each digest has its own `ask`, which is the cache
    key."""

    def __init__(
        self,
        *,
        store: Store,
        model: ChatModel,
        form: FactForm,
        known: int = 40,
        known_long: int | None = None,
        newest: int = FIRST,
    ) -> None:
        """The model is shown at most `known` facts; of a session with more turns than that, one for
        each turn, at most `known_long`. If that is more, some are of the kinds that do not age."""
        self._store = store
        self._asking = Asking(model=model, form=form)
        self._known, self._known_long = known, known_long or known
        self._lasting = FIRST if self._known_long > known else 0
        self._newest = newest
        self._digests: WeakKeyDictionary[Ask, FactDigest | BadReply] = WeakKeyDictionary()

    @property
    def model(self) -> ChatModel:
        """The model that is asked."""
        return self._asking.model

    async def digest(self, to_digest: SessionToDigest) -> FactDigest:
        """Write the facts of a session, or read them if they were written before. Raises `BadReply`
        if no answer of the model can be read; then the memory stays as it was."""
        if to_digest.ask not in self._digests:
            try:
                self._digests[to_digest.ask] = await self._digest(to_digest)
            except BadReply as error:  # the same for every mechanism: the model is not asked again
                self._digests[to_digest.ask] = error
        digest = self._digests[to_digest.ask]
        if isinstance(digest, BadReply):
            raise digest
        return digest

    async def _digest(self, to_digest: SessionToDigest) -> FactDigest:
        owner, number = to_digest.owner, to_digest.session.number
        written = await self._store.facts.read(owner, only=FactFilter(session=number))
        if written:  # by an earlier try that did not come to its end
            return FactDigest(facts=written)
        await adopt(self._store, owner)
        turns = [turn for turn in to_digest.turns if spoken(turn)]
        known = await self._related(owner, turns, to_digest)
        writing = SessionWriting(self._asking, to_digest, turns, known)
        try:
            for part in await self._parts(turns, known, to_digest.language):
                await writing.part(part)
        finally:
            for rejected in writing.rejected:
                await self._store.summaries.add_rejected(owner, rejected)
        await self._store.facts.apply(owner, writing.changes)
        return writing.digest

    async def candidates(self, owner: Owner, *, at: datetime) -> tuple[Fact, ...]:
        """The facts that the summary is chosen from: those in it, the pinned, those of kinds that
        do not age, and the newest."""
        summary = await self._store.summaries.find(owner)
        ids = [s.fact for s in summary.sentences if s.fact] if summary else []
        read = self._store.facts.read
        found = [
            *await read(owner, ids=ids),
            *await read(owner, only=FactFilter(at=at, pinned=True)),
            *await read(owner, only=FactFilter(at=at, kinds=LASTING, newest=CANDIDATES)),
            *await read(owner, only=FactFilter(at=at, newest=CANDIDATES)),
        ]
        return tuple({fact.id: fact for fact in found}.values())

    async def _related(
        self, owner: Owner, turns: Sequence[Turn], to_digest: SessionToDigest
    ) -> list[Fact]:
        """The facts that the session may change: what shares words with it, what the summary holds,
        the newest, and who and what lasts; at most as many as the model is shown."""
        most = min(max(self._known, len(turns)), self._known_long)
        counts = Counter(term for turn in turns for term in content_terms(spoken(turn)))
        terms = sorted(counts, key=lambda term: (-counts[term], term))[:MAX_TERMS]
        hits = await self._store.index.search_words(owner, terms, k=most, kind=MemoryKind.FACT)
        summary = await self._store.summaries.find(owner)
        shown = [s.fact for s in summary.sentences if s.fact] if summary else []
        read, at, more = self._store.facts.read, to_digest.at, most - self._known
        recent = await read(owner, only=FactFilter(at=at, newest=self._newest + more))
        lasting = await read(
            owner, only=FactFilter(at=at, kinds=LASTING, newest=self._lasting + more // 2)
        )
        found, newest = [hit.id for hit in hits], [fact.id for fact in recent]
        first = (*shown, *found[:FIRST], *newest[:FIRST])
        ids = dict.fromkeys((*first, *(fact.id for fact in lasting), *found, *newest))
        known = await read(owner, ids=list(ids)[:most])
        zone = to_digest.timezone
        return [
            replace(fact, said=in_zone(fact.said, zone))
            for fact in known
            if fact.holds(to_digest.at)
        ]

    async def _parts(
        self, turns: Sequence[Turn], known: Sequence[Fact], language: str
    ) -> list[list[Line]]:
        """The session as one part, or as several if it is too long for the window."""
        session = lines(turns)
        frame = self._asking.form.ask(known=known, session=session[:1], language=language)
        if frame is None:
            frame = self._asking.form.ask(known=known, session=session, language=language)
        if frame is None:
            return []
        asked = "\n".join(message.content for message in frame.request.messages)
        taken = await self.model.count(asked) + self._asking.answer_tokens(frame) + 500
        room = max(self.model.window - taken, self.model.window // 8)
        return await parts(session, room=room, count=self.model.count)
