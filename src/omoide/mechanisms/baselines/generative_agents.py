"""Generative Agents' memory stream: Park et al. 2023 (arXiv 2304.03442), section 4.

Every memory is scored by recency of its last access, importance and relevance; the best go into
the prompt, whatever their score. When the importance of new memories exceeds 150 in total, the
agent reflects: insights from the latest memories become memories themselves.

Departures: memories are events of a conversation; all new ones are rated in one call a session
instead of one call each; reflection is one call instead of a series of questions; an unreadable
answer leaves the session undigested instead of rated at random. Our own addition rates importance
without a model (`generative_agents_scoring.heuristic_importance`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from omoide.claims.answers import Flaw, Problem
from omoide.domain import MemoryKind, Note
from omoide.errors import BadReply
from omoide.mechanisms.base import TRIES, Contribution, PromptPlace
from omoide.mechanisms.baselines.generative_agents_answers import (
    INSIGHTS,
    INSIGHTS_SCHEMA,
    numbered,
    ratings_schema,
    read_insights,
    read_ratings,
)
from omoide.mechanisms.baselines.generative_agents_scoring import (
    PAPER,
    AgentWeights,
    ScoreTrace,
    agent_scores,
    heuristic_importance,
)
from omoide.mechanisms.events.human_recall import consolidate, event_line
from omoide.mechanisms.flags import keep_flags
from omoide.ports import Message, Request, query_vectors
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Event, Owner
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.events.writer import EventWriter
    from omoide.ports import Embedder, Store, Vectors

T = TypeVar("T")

IMPORTANCE = "importance"
"""Kind of the notes that hold an event's importance."""
REFLECTION = "reflection"
"""Kind of the notes that hold insights."""
ENOUGH = 150
"""Total importance above which the agent reflects."""
INSIGHT_IMPORTANCE = 8
"""The importance of every insight."""
LOOKED_AT = 100
"""How many of the latest memories a reflection uses."""


class GenerativeAgents:
    """The mechanism. `rate` is "model" as in the paper, or "heuristic" to avoid the call."""

    name = "generative-agents"

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        writer: EventWriter,
        rate: str = "model",
        k: int = 5,
        weights: AgentWeights = PAPER,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._writer = writer
        self._by_model = rate == "model"
        self._k = k
        self._weights = weights

    # ── Digest ──────────────────────────────────────────────────────────────────────────────

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Write events, rate them, and reflect if they are important enough in total."""
        owner, session = to_digest.owner, to_digest.session.number
        known = await self._store.events.read(owner)
        new = [event for event in known if event.session == session]
        if not new:
            result = await self._writer(to_digest)
            for rejected in result.rejected:
                await self._store.summaries.add_rejected(owner, rejected)
            if result.events is None:
                raise BadReply(f"no usable events of session {session}; nothing was stored")
            new = list(result.events)
            await keep_flags(self._store, to_digest, self.name, result.flags)
        rated = {note.key: note for note in await self._store.notes.read(owner, kind=IMPORTANCE)}
        missing = [event for event in new if event.id not in rated]
        ratings = await self._ratings(missing, to_digest)
        await self._store.events.add(owner, new)
        for event, rating in zip(missing, ratings, strict=True):
            note = Note(
                kind=IMPORTANCE, key=event.id, text=str(rating), time=event.time, session=session
            )
            await self._store.notes.put(owner, note)
            rated[event.id] = note
        await self._reflect(to_digest, [*known, *missing], rated)

    async def _ratings(self, events: Sequence[Event], to_digest: SessionToDigest) -> list[int]:
        if not events or not self._by_model:
            return [heuristic_importance(event.text, to_digest.language) for event in events]
        request = importance_request([event.text for event in events], to_digest.language)
        return await self._asked(to_digest, request, lambda text: read_ratings(text, len(events)))

    async def _reflect(
        self, to_digest: SessionToDigest, events: Sequence[Event], rated: Mapping[str, Note]
    ) -> None:
        if not self._by_model:
            return
        owner, session = to_digest.owner, to_digest.session.number
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
            to_digest.language,
            events=numbered([event.text for event in latest]),
            limit=str(INSIGHTS),
        )
        request = Request(
            messages=prompt.messages, max_tokens=90 * INSIGHTS, schema=INSIGHTS_SCHEMA
        )
        insights = await self._asked(to_digest, request, lambda t: read_insights(t, len(latest)))
        for i, (text, because) in enumerate(insights[:INSIGHTS]):
            sources = dict.fromkeys(s for n in because for s in latest[n - 1].sources)
            note = Note(
                kind=REFLECTION,
                key=f"{session:08d}-{i}",
                text=json.dumps({"text": text, "sources": list(sources)}, ensure_ascii=False),
                time=to_digest.at,
                session=session,
            )
            await self._store.notes.put(owner, note)

    async def _asked(
        self, to_digest: SessionToDigest, first: Request, read: Callable[[str], T]
    ) -> T:
        """The answer as parsed by `read`. If that fails, asks again with the problem."""
        request, last = first, ""
        for _ in range(TRIES):
            completion = await to_digest.ask(request)
            last = completion.text
            if completion.finish == "stop":
                with suppress(BadReply):
                    return read(last)
            wrong = Problem(flaw=Flaw.UNREADABLE).message(to_digest.language)
            request = replace(
                first,
                messages=(
                    *first.messages,
                    Message(role="assistant", content=last[:400] or "-"),
                    Message(role="user", content=f"{wrong}\n{first.messages[-1].content}"),
                ),
            )
        raise BadReply(
            f"wanted ratings or insights of session {to_digest.session.number} as JSON, "
            f"got {last[:80]!r}; nothing was stored"
        )

    # ── Recall ──────────────────────────────────────────────────────────────────────────────

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The `k` best of all memories, without a threshold."""
        events = [
            event
            for event in await self._store.events.read(request.owner)
            if event.time <= request.now and not event.superseded_by
        ]
        insights = await self._insights(request.owner, request.now)
        if not events and not insights:
            return ()
        query = await query_vectors(self._embedder, request.text)
        items = await self._rated_events(request, events, query)
        if insights:
            vectors = await self._embedder.embed([text for text, _, _ in insights])
            items += [
                (
                    _insight(note, text, sources),
                    ScoreTrace(
                        elapsed=request.now - note.time,
                        importance=INSIGHT_IMPORTANCE,
                        relevance=float(vectors[i] @ query[0]),
                    ),
                )
                for i, (text, sources, note) in enumerate(insights)
            ]
        return self._best(items)

    async def _rated_events(
        self, request: ReplyRequest, events: Sequence[Event], query: Vectors
    ) -> list[tuple[Contribution, ScoreTrace]]:
        """The events, each with what its score is made of."""
        nearest = await self._store.index.nearest(
            request.owner, self._embedder.space, query, k=max(len(events), 1), kind=MemoryKind.EVENT
        )
        cosine = {hit.id: hit.score for hit in nearest}
        rated = {n.key: n for n in await self._store.notes.read(request.owner, kind=IMPORTANCE)}
        return [
            (
                _contribution(event, request),
                ScoreTrace(
                    elapsed=request.now - event.last_recalled,
                    importance=int(rated[event.id].text)
                    if event.id in rated
                    else heuristic_importance(event.text, request.language),
                    relevance=cosine.get(event.id, 0.0),
                ),
            )
            for event in events
        ]

    def _best(self, items: Sequence[tuple[Contribution, ScoreTrace]]) -> tuple[Contribution, ...]:
        """The `k` items with the highest scores."""
        scores = agent_scores([trace for _, trace in items], weights=self._weights)
        best = sorted(range(len(items)), key=lambda i: -scores[i])[: self._k]
        highest = self._weights.recency + self._weights.importance + self._weights.relevance
        return tuple(
            replace(
                items[i][0],
                value=scores[i] / highest,
                score=scores[i],
                why=f"score {scores[i]:.2f}: importance {items[i][1].importance:.0f}, "
                f"relevance {items[i][1].relevance:.2f}",
            )
            for i in best
        )

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Note the access, which resets recency."""
        ours = [
            c.id for c in contributions if c.kind is MemoryKind.EVENT and c.mechanism == self.name
        ]
        await consolidate(self._store, request.owner, ours, lambda e: e.recalled(request.now))

    async def _insights(
        self, owner: Owner, now: datetime
    ) -> list[tuple[str, tuple[str, ...], Note]]:
        notes = await self._store.notes.read(owner, kind=REFLECTION)
        parsed = [(json.loads(note.text), note) for note in notes if note.time <= now]
        return [(fields["text"], tuple(fields["sources"]), note) for fields, note in parsed]


def importance_request(events: Sequence[str], language: str) -> Request:
    """The request that asks how important each event is; `read_ratings` reads its answer."""
    prompt = render("importance", language, events=numbered(events))
    return Request(
        messages=prompt.messages,
        max_tokens=20 + 6 * len(events),
        schema=ratings_schema(len(events)),
    )


def _contribution(event: Event, request: ReplyRequest) -> Contribution:
    return Contribution(
        mechanism=GenerativeAgents.name,
        place=PromptPlace.RECALLED,
        kind=MemoryKind.EVENT,
        id=event.id,
        text=event_line(event, now=request.now, language=request.language),
        value=0.0,
        sources=event.sources,
        time=event.time,
        why="",
    )


def _insight(note: Note, text: str, sources: tuple[str, ...]) -> Contribution:
    return Contribution(
        mechanism=GenerativeAgents.name,
        place=PromptPlace.RECALLED,
        kind=MemoryKind.SENTENCE,
        id=f"reflection/{note.key}",
        text=text,
        value=0.0,
        sources=sources,
        time=note.time,
        why="",
    )
