"""Human-like recall and consolidation: Hou et al. 2024, "My agent understands me better"
(arXiv 2404.00573).

Each input is embedded and the events nearest to it are scored by eq. 8. An event is recalled only
if its probability is above k. An event that was used fades more slowly from then on (eq. 9).

Departures from the paper, each explained where it is made: relevance is calibrated for each
embedder (`calibration`); the unit of forgetting is learnt from data; up to three events are
recalled instead of one; events that newer ones contradict are retired (`claims.contradiction`),
which the paper's failed task 0 needed; word overlap is used if vectors are not available; feeling
is an optional factor. `RecallSettings` turns each of them off; the preset `hou2024` does so for all
but calibration and word overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims.contradiction import contradiction, ends_something, retired_events
from omoide.domain import MemoryKind, Note
from omoide.errors import BadInput, BadReply
from omoide.language import pack, query_terms
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.mechanisms.events.calibration import IDENTITY, WORDS, Calibration, shipped_calibration
from omoide.mechanisms.events.calibrations import Calibrations
from omoide.mechanisms.events.human_time import human_time
from omoide.mechanisms.events.lasting import lasting_events
from omoide.mechanisms.events.scoring import (
    EventCandidate,
    ForgettingCurve,
    RecallSettings,
    curve,
    event_words,
    weigh_events,
)
from omoide.mechanisms.events.writer import RetiringWriter
from omoide.mechanisms.flags import keep_flags
from omoide.ports import query_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from omoide.claims.contradiction import RetiredEvent
    from omoide.domain import Event, Owner
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.events.writer import EventWriter
    from omoide.ports import Embedder, Store, Vectors

DIGESTED = "events-digested"
"""Kind of the notes that record which sessions were digested."""
CACHED = 2000
"""Events whose vectors with topics and keywords are kept in memory."""


@dataclass(frozen=True, kw_only=True)
class RecallExplanation:
    """All candidates for an input, with their scores."""

    candidates: tuple[EventCandidate, ...]
    calibration: str
    """Which calibration was used and how reliable it is, for people to read."""


class HumanRecall:
    """The mechanism. `calibration` overrides the embedder's."""

    name = "human-recall"

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder | None,
        writer: EventWriter,
        knobs: RecallSettings | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._writer = writer
        self.knobs = knobs or RecallSettings()
        given = calibration if self.knobs.calibrated else IDENTITY
        self._vectors: dict[str, Vectors] = {}
        self._maps = Calibrations(store=store, embedder=embedder, given=given)

    # ── Digest ──────────────────────────────────────────────────────────────────────────────

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Write the session's events, and retire older events that they contradict."""
        if isinstance(self._writer, RetiringWriter):  # knows what it wrote: nothing else is read
            await self._store.events.add(to_digest.owner, await self._written(to_digest))
            await self._supersede(to_digest, await self._retired(to_digest, (), ()))
            return
        owner, key = to_digest.owner, f"{to_digest.session.number:08d}"
        if any(note.key == key for note in await self._store.notes.read(owner, kind=DIGESTED)):
            return
        known = await self._store.events.read(owner)
        new = tuple(event for event in known if event.session == to_digest.session.number)
        if not new:  # an earlier try may have failed after storing them
            new = await self._written(to_digest)
            await self._store.events.add(owner, new)
        await self._supersede(to_digest, await self._retired(to_digest, known, new))
        done = Note(
            kind=DIGESTED,
            key=key,
            text=str(len(new)),
            time=to_digest.at,
            session=to_digest.session.number,
        )
        await self._store.notes.put(owner, done)

    async def _supersede(self, to_digest: SessionToDigest, events: Sequence[RetiredEvent]) -> None:
        for event in events:
            await self._store.events.supersede(to_digest.owner, old=event.old, by=event.by)

    async def _retired(
        self, to_digest: SessionToDigest, known: Sequence[Event], new: Sequence[Event]
    ) -> tuple[RetiredEvent, ...]:
        """The known events that the new ones make untrue: as the writer says, or by rule."""
        if not self.knobs.retires:
            return ()
        if isinstance(self._writer, RetiringWriter):
            return await self._writer.retired(to_digest)
        everything = [*(e for e in known if e.session != to_digest.session.number), *new]
        alike = await self._alike(to_digest, new)
        return retired_events(everything, new, language=to_digest.language, alike=alike)

    async def _written(self, to_digest: SessionToDigest) -> tuple[Event, ...]:
        result = await self._writer(to_digest)
        for rejected in result.rejected:
            await self._store.summaries.add_rejected(to_digest.owner, rejected)
        if result.events is None:
            tried = f" in {len(result.rejected)} tries:" if result.rejected else ":"
            why = result.rejected[-1].problems if result.rejected else ("no answer was usable.",)
            raise BadReply(
                f"no usable events of session {to_digest.session.number}{tried} {' '.join(why)} "
                "No events were stored; the turns are kept."
            )
        await keep_flags(self._store, to_digest, self.name, result.flags)
        return result.events

    async def _alike(
        self, to_digest: SessionToDigest, new: Sequence[Event]
    ) -> Callable[[Event, Event], float] | None:
        """The relevance of older events to new ones that say something is no longer true."""
        ending = [event for event in new if ends_something(event.text, to_digest.language)]
        by_vector, _ = await self._maps.find(to_digest.owner, now=to_digest.at)
        if self._embedder is None or by_vector is None or not ending:
            return None
        if not by_vector.holds_for(to_digest.language):
            return None
        vectors = await self._embedder.embed([event.text for event in ending])
        known: dict[tuple[str, str], float] = {}
        for i, event in enumerate(ending):
            nearest = await self._store.index.nearest(
                to_digest.owner,
                self._embedder.space,
                vectors[i : i + 1],
                k=20,
                kind=MemoryKind.EVENT,
            )
            known |= {(hit.id, event.id): by_vector(hit.score) for hit in nearest}
        return lambda older, newer: known.get((older.id, newer.id), 0.0)

    # ── Recall ──────────────────────────────────────────────────────────────────────────────

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The events with a recall probability above the threshold, most probable first."""
        here = request.session[-1].session if request.session else None
        weighed = await self._weighed(
            request.owner, request.text, now=request.now, language=request.language, besides=here
        )
        return tuple(
            Contribution(
                mechanism=self.name,
                place=PromptPlace.RECALLED,
                kind=MemoryKind.EVENT,
                id=candidate.event.id,
                text=event_line(
                    candidate.event,
                    now=request.now,
                    language=request.language,
                    labels=self.knobs.labels,
                ),
                value=min(candidate.probability, 1.0),
                sources=candidate.event.sources,
                time=candidate.event.time,
                why=candidate.why,
                score=candidate.probability,
                odds=candidate.odds,
            )
            for candidate in weighed.candidates
            if candidate.recalled
        )

    async def may_recall(self, request: ReplyRequest) -> bool:
        """Whether `contribute` might give anything: not if events are only found by words and none
        shares one with the message. Takes one lookup."""
        if self._embedder is not None:
            return True
        terms = query_terms(request.text)
        return bool(
            await self._store.index.search_words(request.owner, terms, k=1, kind=MemoryKind.EVENT)
        )

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Consolidate the events used in a reply (eq. 9), all at once."""
        ours = [
            c.id for c in contributions if c.kind is MemoryKind.EVENT and c.mechanism == self.name
        ]
        unit = self.knobs.spacing
        await consolidate(
            self._store, request.owner, ours, lambda e: e.recalled(request.now, unit=unit)
        )

    # ── Explanation ─────────────────────────────────────────────────────────────────────────

    async def explain(
        self, owner: Owner, text: str, *, now: datetime, language: str
    ) -> RecallExplanation:
        """Every candidate with r, t, g and p, and why it is or is not recalled. Events that are
        superseded, or whose fact is over, are included if they share words with the input."""
        weighed = await self._weighed(owner, text, now=now, language=language, besides=None)
        by_id = {event.id: event for event in await self._store.events.read(owner)}
        told = [event for event in by_id.values() if event.time <= now]
        lasting = {e.id for e in await lasting_events(self._store, owner, told, at=now)}
        superseded = [e for e in told if e.superseded_by or e.id not in lasting]
        candidates = weigh_events(
            text,
            superseded,
            cosines={},
            by_vector=None,
            by_words=_words(),
            now=now,
            language=language,
            knobs=self.knobs,
        )
        explained = tuple(
            replace(candidate, recalled=False, why=_why_untrue(candidate.event, by_id, language))
            for candidate in candidates
            if candidate.words > 0
        )
        return replace(weighed, candidates=weighed.candidates + explained)

    async def curves(
        self,
        owner: Owner,
        *,
        now: datetime,
        days: float = 90.0,
        newest: int | None = None,
    ) -> tuple[ForgettingCurve, ...]:
        """The forgetting curve of each event that may come to mind, or of the `newest` ones, in
        order of time: neither superseded, nor made from a fact that is over."""
        told = [
            event
            for event in await self._store.events.read(owner)
            if not event.superseded_by and event.time <= now
        ]
        current = await lasting_events(self._store, owner, told, at=now)
        return tuple(
            curve(event, now=now, days=days, knobs=self.knobs)
            for event in current[-newest if newest else 0 :]
        )

    # ── Calibration ─────────────────────────────────────────────────────────────────────────

    async def refit(self, owner: Owner, *, now: datetime) -> Calibration:
        """Fit the calibration to the user's own data, store it, and use it from now on."""
        return await self._maps.refit(owner, now=now)

    async def _weighed(
        self, owner: Owner, text: str, *, now: datetime, language: str, besides: int | None
    ) -> RecallExplanation:
        by_words = await self._store.index.search_words(
            owner, query_terms(text), k=self.knobs.depth, kind=MemoryKind.EVENT
        )
        cosines: dict[str, float] = {}
        by_vector, about = await self._maps.find(owner, now=now)
        if self._embedder is not None:
            query = await query_vectors(self._embedder, text)
            nearest = await self._store.index.nearest(
                owner, self._embedder.space, query, k=self.knobs.depth, kind=MemoryKind.EVENT
            )
            cosines = {hit.id: hit.score for hit in nearest}
        ids = list(dict.fromkeys([*cosines, *(hit.id for hit in by_words)]))
        if not ids:
            return RecallExplanation(candidates=(), calibration=about)
        events = [
            event
            for event in await self._store.events.read(owner, ids=ids)
            if event.time <= now and event.session != besides and not event.superseded_by
        ]
        events = await lasting_events(self._store, owner, events, at=now)
        if self._embedder is not None and self.knobs.labels:
            compared = [event for event in events if event.id in cosines]
            with_labels = await self._by_labels(self._embedder, compared, query[0])
            cosines = {id_: max(c, with_labels.get(id_, c)) for id_, c in cosines.items()}
        candidates = weigh_events(
            text,
            events,
            cosines=cosines,
            by_vector=by_vector,
            by_words=_words(),
            now=now,
            language=language,
            knobs=self.knobs,
        )
        return RecallExplanation(candidates=candidates, calibration=about)

    async def _by_labels(
        self, embedder: Embedder, events: Sequence[Event], query: Vectors
    ) -> dict[str, float]:
        """The cosine of each event with the query, its topics and keywords included. What the index
        holds is the vector of its text alone."""
        texts = {event.id: event_words(event, labels=True) for event in events}
        new = sorted(set(texts.values()) - self._vectors.keys())
        if new:
            if len(self._vectors) > CACHED:
                self._vectors = {}
                new = sorted(set(texts.values()))
            vectors = await embedder.embed(new)
            self._vectors.update(zip(new, vectors, strict=True))
        return {id_: float(self._vectors[text] @ query) for id_, text in texts.items()}


def event_line(event: Event, *, now: datetime, language: str, labels: bool = False) -> str:
    """An event as a line of a prompt: how long ago, then what; with `labels` its topics and
    keywords too."""
    note = pack(language).note
    line = f"{human_time(event.time, now, language)}{note.colon}{event.text}"
    named = dict.fromkeys((*event.topics, *event.keywords)) if labels else ()
    return f"{line} ({note.comma.join(named)})" if named else line


async def consolidate(
    store: Store, owner: Owner, ids: Sequence[str], recalled: Callable[[Event], Event]
) -> None:
    """Store a recall of these events. Retries on top of concurrent updates."""
    left = set(ids)
    for _ in range(5):
        if not left:
            return
        before = await store.events.read(owner, ids=sorted(left))
        after = [recalled(event) for event in before]
        count = await store.events.consolidate(owner, after)
        if count == len(after):
            return
        if count:  # some were stored; retry those that differ from what we wrote
            stored = {e.id: e for e in await store.events.read(owner, ids=sorted(left))}
            left = {event.id for event in after if stored.get(event.id, event) != event}


def _words() -> Calibration:
    known = shipped_calibration(WORDS, "1")
    if known is None:
        raise BadInput("the calibration for words is missing from the installation; reinstall it")
    return known


def _why_untrue(event: Event, by_id: dict[str, Event], language: str) -> str:
    newer = by_id.get(event.superseded_by or "")
    if newer is None:
        return "no longer true"
    why = contradiction(event.text, newer.text, language=language) or "no longer so"
    return f"no longer true ({why}): {newer.text}"
