"""Events and memos from a session's facts, so that one call of the model serves all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims.contradiction import RetiredEvent
from omoide.domain import Event, Sentence, Speaker
from omoide.domain.fact import ASSISTANT, USER
from omoide.domain.memo import Span, repaired_spans
from omoide.language import content_terms
from omoide.mechanisms.events.feeling import feeling
from omoide.mechanisms.events.form import event_id
from omoide.mechanisms.events.writer import EventsWritten
from omoide.mechanisms.fused.notes import draft_memos
from omoide.mechanisms.memos.writer import MemoDraft, MemosWritten
from omoide.prompts import vocabulary
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Fact, Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.mechanisms.facts.keeper import FactKeeper
    from omoide.mechanisms.facts.writing import FactDigest
    from omoide.ports import Embedder, Store

KEYWORDS = 6


class FactEvents:
    """Each fact of a session as an event, which fades and is recalled."""

    def __init__(self, keeper: FactKeeper, *, store: Store) -> None:
        self._keeper = keeper
        self._store = store

    async def __call__(self, to_digest: SessionToDigest) -> EventsWritten:
        """The events of the session."""
        digest = await self._keeper.digest(to_digest)
        turns = {turn.id: turn for turn in to_digest.turns}
        return EventsWritten(events=tuple(_event(fact, digest, turns) for fact in digest.facts))

    async def retired(self, to_digest: SessionToDigest) -> tuple[RetiredEvent, ...]:
        """The events of facts that the session's facts replaced. What a plan will replace still
        holds."""
        digest = await self._keeper.digest(to_digest)
        newer = {old: fact for fact in digest.facts for old in fact.supersedes}
        replaced = await self._store.facts.read(to_digest.owner, ids=list(newer))
        return tuple(
            RetiredEvent(
                old=_id(fact), by=_id(newer[fact.id]), why=fact.end_reason or "it has changed"
            )
            for fact in replaced
            if fact.over(to_digest.at)
        )


def _event(fact: Fact, digest: FactDigest, turns: dict[str, Turn]) -> Event:
    cited = [turns[id_] for id_ in fact.sources if id_ in turns]
    words = " ".join(spoken(turn) for turn in cited if turn.speaker is Speaker.USER)
    topics = [t.topic for t in digest.topics if not set(t.turns).isdisjoint(fact.sources)]
    keywords = sorted(t for t in content_terms(fact.text) if not t.startswith("~"))
    spoken_of = vocabulary(fact.language)
    return Event(
        id=_id(fact),
        session=fact.session or 0,
        text=fact.text,
        time=fact.said,
        sources=fact.sources,
        topics=tuple(topics),
        keywords=tuple(keywords[:KEYWORDS]),
        participants=(spoken_of[fact.about] if fact.about in (USER, ASSISTANT) else fact.about,),
        feeling=max(feeling(fact.text, fact.language), feeling(words, fact.language)),
        last_recalled=fact.said,
        fact=fact.id,
    )


def _id(fact: Fact) -> str:
    return event_id(fact.session or 0, fact.text)


class FactMemos:
    """Memos from the topics that the model named, or by rule where it named none."""

    def __init__(self, keeper: FactKeeper, *, embedder: Embedder | None) -> None:
        self._keeper = keeper
        self._embedder = embedder

    async def write(self, turns: Sequence[Turn], *, to_digest: SessionToDigest) -> MemosWritten:
        """Memos of these turns, each turn in one of them. No call while the session is open."""
        notes: tuple[Sentence, ...] = ()
        if not to_digest.session.open:
            digest = await self._keeper.digest(to_digest)
            if digest.topics:
                return MemosWritten(drafts=_drafts(digest, turns))
            notes = tuple(Sentence(text=f.text, sources=f.sources) for f in digest.facts)
        return await draft_memos(
            turns, notes=notes, language=to_digest.language, embedder=self._embedder
        )


def _drafts(digest: FactDigest, turns: Sequence[Turn]) -> tuple[MemoDraft, ...]:
    """The topics, with gaps and overlaps repaired so that they cover every turn once."""
    said = [turn for turn in turns if spoken(turn)]
    places = {turn.id: place for place, turn in enumerate(said, 1)}
    found = [
        (topic, [places[id_] for id_ in topic.turns if id_ in places]) for topic in digest.topics
    ]
    found = [(topic, numbers) for topic, numbers in found if numbers]
    spans = [Span(first=min(numbers), last=max(numbers)) for _, numbers in found]
    return tuple(
        MemoDraft(
            topic=topic.topic,
            summary=topic.summary,
            turns=tuple(said[span.first - 1 : span.last]),
        )
        for (topic, _), span in zip(found, repaired_spans(spans, lines=len(said)), strict=True)
        if span is not None
    )
