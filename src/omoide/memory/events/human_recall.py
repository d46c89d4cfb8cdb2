"""Human-like recall and consolidation: Hou et al. 2024, "My agent understands me better"
(arXiv 2404.00573).

Each input is embedded; the events nearest to it are weighed by eq. 8; one comes to mind only when
its probability is above k. An event that was used fades slower from then on (eq. 9).

Departures from the paper, each explained where it is made: relevance is calibrated for each
embedder (`calibration`); the unit of forgetting is learnt from data; up to three events instead of
one (`scoring.PAPER` has the paper's own); events that newer ones contradict lose
their claim (`change`), which is what the paper's failed task 0 wanted; words stand in where
vectors cannot tell; feeling as an optional factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import Kind, Note
from omoide.errors import BadInput, BadReply
from omoide.language import query_terms
from omoide.memory.events.calibration import WORDS, Calibration, shipped
from omoide.memory.events.change import contradiction, ends_something, retired
from omoide.memory.events.human_time import human_time
from omoide.memory.events.maps import Maps
from omoide.memory.events.scoring import Candidate, Curve, Knobs, curve, weigh
from omoide.memory.mechanism import Contribution, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from omoide.domain import Event, Owner
    from omoide.memory.events.writer import Writer
    from omoide.memory.mechanism import Ended, Moment
    from omoide.ports import Embedder, Store

DIGESTED = "events-digested"
"""Kind of the notes that say which sessions were taken in."""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """Everything that was weighed for an input."""

    candidates: tuple[Candidate, ...]
    calibration: str
    """Which map was used, and how far it can be trusted, for a person."""


class HumanRecall:
    """The mechanism. `calibration` overrides the one that belongs to the embedder."""

    name = "human-recall"

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder | None,
        writer: Writer,
        knobs: Knobs | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._writer = writer
        self.knobs = knobs or Knobs()
        self._maps = Maps(store=store, embedder=embedder, given=calibration)

    # ── Taking in ───────────────────────────────────────────────────────────────────────────

    async def digest(self, ended: Ended) -> None:
        """Write the session's events down, and retire what they contradict."""
        owner, key = ended.owner, f"{ended.session.number:08d}"
        if any(note.key == key for note in await self._store.notes.read(owner, kind=DIGESTED)):
            return
        known = await self._store.events.read(owner)
        new = tuple(event for event in known if event.session == ended.session.number)
        if not new:  # a try that broke off after storing them only has the rest to do
            new = await self._written(ended)
            await self._store.events.add(owner, new)
        everything = [*(e for e in known if e.session != ended.session.number), *new]
        alike = await self._alike(ended, new)
        for fallen in retired(everything, new, language=ended.language, alike=alike):
            await self._store.events.supersede(owner, old=fallen.old, by=fallen.by)
        done = Note(
            kind=DIGESTED,
            key=key,
            text=str(len(new)),
            time=ended.at,
            session=ended.session.number,
        )
        await self._store.notes.put(owner, done)

    async def _written(self, ended: Ended) -> tuple[Event, ...]:
        result = await self._writer(ended)
        for rejected in result.rejected:
            await self._store.summaries.set_aside(ended.owner, rejected)
        if result.events is None:
            tried = f" in {len(result.rejected)} tries:" if result.rejected else ":"
            why = result.rejected[-1].problems if result.rejected else ("no answer was of use.",)
            raise BadReply(
                f"no usable events of session {ended.session.number}{tried} {' '.join(why)} "
                "Nothing was stored; the turns are there."
            )
        return result.events

    async def _alike(
        self, ended: Ended, new: Sequence[Event]
    ) -> Callable[[Event, Event], float] | None:
        """How alike older events are to those new ones that say something is no longer so."""
        ending = [event for event in new if ends_something(event.text, ended.language)]
        by_vector, _ = await self._maps.find(ended.owner, now=ended.at)
        if self._embedder is None or by_vector is None or not ending:
            return None
        if not by_vector.holds_for(ended.language):
            return None
        vectors = await self._embedder.embed([event.text for event in ending])
        known: dict[tuple[str, str], float] = {}
        for i, event in enumerate(ending):
            near = await self._store.index.nearest(
                ended.owner, self._embedder.space, vectors[i : i + 1], k=20, kind=Kind.EVENT
            )
            known |= {(hit.id, event.id): by_vector(hit.score) for hit in near}
        return lambda older, newer: known.get((older.id, newer.id), 0.0)

    # ── Coming to mind ──────────────────────────────────────────────────────────────────────

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The events whose recall probability is above the threshold, likeliest first."""
        here = moment.session[-1].session if moment.session else None
        weighed = await self._weighed(
            moment.owner, moment.text, now=moment.now, language=moment.language, besides=here
        )
        return tuple(
            Contribution(
                mechanism=self.name,
                place=Place.RECALLED,
                kind=Kind.EVENT,
                id=candidate.event.id,
                text=told(candidate.event, now=moment.now, language=moment.language),
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

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """Consolidate what went into a reply (eq. 9), all at once."""
        ours = [c.id for c in contributions if c.kind is Kind.EVENT and c.mechanism == self.name]
        unit = self.knobs.spacing
        await consolidate(
            self._store, moment.owner, ours, lambda e: e.recalled(moment.now, unit=unit)
        )

    # ── Showing ─────────────────────────────────────────────────────────────────────────────

    async def explain(self, owner: Owner, text: str, *, now: datetime, language: str) -> Explained:
        """Every candidate with r, t, g and p, recalled or why not; events that were taken back
        are among them where they share words with the input."""
        weighed = await self._weighed(owner, text, now=now, language=language, besides=None)
        by_id = {event.id: event for event in await self._store.events.read(owner)}
        fallen = [e for e in by_id.values() if e.superseded_by and e.time <= now]
        lost = weigh(
            text,
            fallen,
            cosines={},
            by_vector=None,
            by_words=_words(),
            now=now,
            language=language,
            knobs=self.knobs,
        )
        said = tuple(
            replace(candidate, recalled=False, why=_taken_back(candidate.event, by_id, language))
            for candidate in lost
            if candidate.words > 0
        )
        return replace(weighed, candidates=weighed.candidates + said)

    async def curves(
        self,
        owner: Owner,
        *,
        now: datetime,
        days: float = 90.0,
        relevance: float = 1.0,
        newest: int | None = None,
    ) -> tuple[Curve, ...]:
        """The forgetting curve of each event that still counts, or of the newest so many, by when
        it was told."""
        standing = [
            event
            for event in await self._store.events.read(owner)
            if not event.superseded_by and event.time <= now
        ]
        return tuple(
            curve(event, now=now, relevance=relevance, days=days, knobs=self.knobs)
            for event in standing[-newest if newest else 0 :]
        )

    # ── Calibration ─────────────────────────────────────────────────────────────────────────

    async def refit(self, owner: Owner, *, now: datetime) -> Calibration:
        """Fit the map to the user's own data, keep it for them, and use it from now on."""
        return await self._maps.refit(owner, now=now)

    async def _weighed(
        self, owner: Owner, text: str, *, now: datetime, language: str, besides: int | None
    ) -> Explained:
        found = await self._store.index.words(
            owner, query_terms(text), k=self.knobs.depth, kind=Kind.EVENT
        )
        cosines: dict[str, float] = {}
        by_vector, about = await self._maps.find(owner, now=now)
        if self._embedder is not None:
            query = await self._embedder.embed([text])
            near = await self._store.index.nearest(
                owner, self._embedder.space, query, k=self.knobs.depth, kind=Kind.EVENT
            )
            cosines = {hit.id: hit.score for hit in near}
        ids = list(dict.fromkeys([*cosines, *(hit.id for hit in found)]))
        events = [
            event
            for event in await self._store.events.read(owner, ids=ids)
            if event.time <= now and event.session != besides and not event.superseded_by
        ]
        candidates = weigh(
            text,
            events,
            cosines=cosines,
            by_vector=by_vector,
            by_words=_words(),
            now=now,
            language=language,
            knobs=self.knobs,
        )
        return Explained(candidates=candidates, calibration=about)


def told(event: Event, *, now: datetime, language: str) -> str:
    """An event as it stands in a prompt: how long ago, then what."""
    colon = "：" if language in ("zh", "ja") else ": "
    return f"{human_time(event.time, now, language)}{colon}{event.text}"


async def consolidate(
    store: Store, owner: Owner, ids: Sequence[str], recalled: Callable[[Event], Event]
) -> None:
    """Write a recall of these events down; where someone else did so meanwhile, on top of that."""
    left = set(ids)
    for _ in range(5):
        if not left:
            return
        before = await store.events.read(owner, ids=sorted(left))
        after = [recalled(event) for event in before]
        count = await store.events.consolidate(owner, after)
        if count == len(after):
            return
        if count:  # some were: those that do not stand as we wrote them are still to do
            stored = {e.id: e for e in await store.events.read(owner, ids=sorted(left))}
            left = {event.id for event in after if stored.get(event.id, event) != event}


def _words() -> Calibration:
    known = shipped(WORDS, "1")
    if known is None:
        raise BadInput("the calibration for words is missing from the installation")
    return known


def _taken_back(event: Event, by_id: dict[str, Event], language: str) -> str:
    newer = by_id.get(event.superseded_by or "")
    if newer is None:
        return "no longer true"
    why = contradiction(event.text, newer.text, language=language) or "no longer so"
    return f"no longer true ({why}): {newer.text}"
