"""Generative Agents' memory stream: Park et al. 2023 (arXiv 2304.03442), section 4.

Every memory is scored by recency since its last access, importance and relevance; the best go
into the prompt, whatever their score. When the importance of what is new passes 150, the agent
reflects: insights drawn from the latest memories become memories themselves.

Departures: our memories are events of a conversation; all new ones are rated in one call a
session rather than one call each; reflection is one call instead of a round of questions; an
answer that cannot be read leaves the session undigested rather than rated at random. Importance
can be had without a model (`generative_agents_scoring.heuristic_importance`), which is ours.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from omoide.domain import Kind, Note
from omoide.errors import BadReply
from omoide.memory.baselines.generative_agents_answers import (
    INSIGHTS,
    INSIGHTS_SCHEMA,
    numbered,
    ratings_schema,
    read_insights,
    read_ratings,
)
from omoide.memory.baselines.generative_agents_scoring import (
    PAPER,
    Trace,
    Weights,
    heuristic_importance,
    scores,
)
from omoide.memory.events.human_recall import consolidate, told
from omoide.memory.guards import Flaw, Problem
from omoide.memory.mechanism import Contribution, Place
from omoide.ports import Message, Request
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Event, Owner
    from omoide.memory.events.writer import Writer
    from omoide.memory.mechanism import Ended, Moment
    from omoide.ports import Embedder, Store

T = TypeVar("T")

IMPORTANCE = "importance"
"""Kind of the notes that hold an event's importance."""
REFLECTION = "reflection"
"""Kind of the notes that hold insights."""
ENOUGH = 150
"""Sum of importance at which the agent reflects."""
LOOKED_AT = 100
"""Latest memories that a reflection looks at."""


class GenerativeAgents:
    """The mechanism. `rate` is "model" as in the paper, or "heuristic" to spend no call on it."""

    name = "generative-agents"

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        writer: Writer,
        rate: str = "model",
        k: int = 5,
        weights: Weights = PAPER,
        tries: int = 3,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._writer = writer
        self._by_model = rate == "model"
        self._k = k
        self._weights = weights
        self._tries = tries

    # ── Taking in ───────────────────────────────────────────────────────────────────────────

    async def digest(self, ended: Ended) -> None:
        """Write events down, rate each, and reflect when enough has come together."""
        owner, session = ended.owner, ended.session.number
        known = await self._store.events.read(owner)
        new = [event for event in known if event.session == session]
        if not new:
            result = await self._writer(ended)
            for rejected in result.rejected:
                await self._store.summaries.set_aside(owner, rejected)
            if result.events is None:
                raise BadReply(f"no usable events of session {session}; nothing was stored")
            new = list(result.events)
        rated = {note.key: note for note in await self._store.notes.read(owner, kind=IMPORTANCE)}
        missing = [event for event in new if event.id not in rated]
        ratings = await self._ratings(missing, ended)
        await self._store.events.add(owner, new)
        for event, rating in zip(missing, ratings, strict=True):
            note = Note(
                kind=IMPORTANCE, key=event.id, text=str(rating), time=event.time, session=session
            )
            await self._store.notes.put(owner, note)
            rated[event.id] = note
        await self._reflect(ended, [*known, *missing], rated)

    async def _ratings(self, events: Sequence[Event], ended: Ended) -> list[int]:
        if not events or not self._by_model:
            return [heuristic_importance(event.text, ended.language) for event in events]
        listed = numbered([event.text for event in events])
        prompt = render("importance", ended.language, events=listed)
        request = Request(
            messages=prompt.messages,
            max_tokens=20 + 6 * len(events),
            schema=ratings_schema(len(events)),
        )
        return await self._asked(ended, request, lambda text: read_ratings(text, len(events)))

    async def _reflect(
        self, ended: Ended, events: Sequence[Event], rated: Mapping[str, Note]
    ) -> None:
        if not self._by_model:
            return
        owner, session = ended.owner, ended.session.number
        before = await self._store.notes.read(owner, kind=REFLECTION)
        since = max((note.session or 0 for note in before), default=0)
        if since >= session:
            return
        fresh = [e for e in events if since < e.session <= session and e.id in rated]
        if sum(int(rated[event.id].text) for event in fresh) <= ENOUGH:
            return
        latest = sorted(events, key=lambda event: event.time)[-LOOKED_AT:]
        prompt = render(
            "importance_reflection",
            ended.language,
            events=numbered([event.text for event in latest]),
            limit=str(INSIGHTS),
        )
        request = Request(
            messages=prompt.messages, max_tokens=90 * INSIGHTS, schema=INSIGHTS_SCHEMA
        )
        insights = await self._asked(ended, request, lambda t: read_insights(t, len(latest)))
        for i, (text, because) in enumerate(insights[:INSIGHTS]):
            sources = dict.fromkeys(s for n in because for s in latest[n - 1].sources)
            note = Note(
                kind=REFLECTION,
                key=f"{session:08d}-{i}",
                text=json.dumps({"text": text, "sources": list(sources)}, ensure_ascii=False),
                time=ended.at,
                session=session,
            )
            await self._store.notes.put(owner, note)

    async def _asked(self, ended: Ended, first: Request, read: Callable[[str], T]) -> T:
        """The answer as `read` makes of it; asked again with what was wrong if it cannot."""
        request, last = first, ""
        for _ in range(self._tries):
            completion = await ended.ask(request)
            last = completion.text
            if completion.finish == "stop":
                with suppress(BadReply):
                    return read(last)
            wrong = Problem(flaw=Flaw.UNREADABLE).told(ended.language)
            request = replace(
                first,
                messages=(
                    *first.messages,
                    Message(role="assistant", content=last[:400] or "-"),
                    Message(role="user", content=f"{wrong}\n{first.messages[-1].content}"),
                ),
            )
        raise BadReply(
            f"wanted ratings or insights of session {ended.session.number} as JSON, "
            f"not {last[:80]!r}; nothing was stored"
        )

    # ── Coming to mind ──────────────────────────────────────────────────────────────────────

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The `k` best of all memories; there is no threshold."""
        events = [
            event
            for event in await self._store.events.read(moment.owner)
            if event.time <= moment.now and not event.superseded_by
        ]
        insights = await self._insights(moment.owner, moment.now)
        if not events and not insights:
            return ()
        query = await self._embedder.embed([moment.text])
        near = await self._store.index.nearest(
            moment.owner, self._embedder.space, query, k=max(len(events), 1), kind=Kind.EVENT
        )
        cosine = {hit.id: hit.score for hit in near}
        rated = {n.key: n for n in await self._store.notes.read(moment.owner, kind=IMPORTANCE)}
        items = [
            (
                _contribution(event, moment),
                Trace(
                    elapsed=moment.now - event.last_recalled,
                    importance=int(rated[event.id].text)
                    if event.id in rated
                    else heuristic_importance(event.text, moment.language),
                    relevance=cosine.get(event.id, 0.0),
                ),
            )
            for event in events
        ]
        if insights:
            vectors = await self._embedder.embed([text for text, _, _ in insights])
            items += [
                (
                    _insight(note, text, sources),
                    Trace(
                        elapsed=moment.now - note.time,
                        importance=8,
                        relevance=float(vectors[i] @ query[0]),
                    ),
                )
                for i, (text, sources, note) in enumerate(insights)
            ]
        found = scores([trace for _, trace in items], weights=self._weights)
        best = sorted(range(len(items)), key=lambda i: -found[i])[: self._k]
        whole = self._weights.recency + self._weights.importance + self._weights.relevance
        return tuple(
            replace(
                items[i][0],
                value=found[i] / whole,
                score=found[i],
                why=f"score {found[i]:.2f}: importance {items[i][1].importance:.0f}, "
                f"relevance {items[i][1].relevance:.2f}",
            )
            for i in best
        )

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """An access resets recency."""
        ours = [c.id for c in contributions if c.kind is Kind.EVENT and c.mechanism == self.name]
        await consolidate(self._store, moment.owner, ours, lambda e: e.recalled(moment.now))

    async def _insights(
        self, owner: Owner, now: datetime
    ) -> list[tuple[str, tuple[str, ...], Note]]:
        notes = await self._store.notes.read(owner, kind=REFLECTION)
        read = [(json.loads(note.text), note) for note in notes if note.time <= now]
        return [(held["text"], tuple(held["sources"]), note) for held, note in read]


def _contribution(event: Event, moment: Moment) -> Contribution:
    return Contribution(
        mechanism=GenerativeAgents.name,
        place=Place.RECALLED,
        kind=Kind.EVENT,
        id=event.id,
        text=told(event, now=moment.now, language=moment.language),
        value=0.0,
        sources=event.sources,
        time=event.time,
        why="",
    )


def _insight(note: Note, text: str, sources: tuple[str, ...]) -> Contribution:
    return Contribution(
        mechanism=GenerativeAgents.name,
        place=Place.RECALLED,
        kind=Kind.SENTENCE,
        id=f"reflection/{note.key}",
        text=text,
        value=0.0,
        sources=sources,
        time=note.time,
        why="",
    )
