"""What the writers of a session left behind, part by part: summary, events, memos, and the bill.

Whether one call a session writes as well as a call for each mechanism is seen part by part; all
sentences together would hide that one writer repeats itself in three places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, Purpose
from omoide.evals.metrics import memory_score
from omoide.evals.tasks.base import Measure
from omoide.evals.tasks.scoring import audit_scores
from omoide.evals.tasks.survival import Said
from omoide.language import content_terms, query_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.evals.data.shapes import Dialogue
    from omoide.evals.running.lab import Place
    from omoide.ports import Embedder

PARTS = ("summary", "events", "memos")
BEST = (5, 10)
"""How many events or memos may hold the evidence of a question."""
_DEEP = 50
_FADE = 60
"""Ranks by words and by vectors are fused as 1 / (60 + rank)."""
COST = (
    Measure(name="calls a turn", about="for digests, by the ledger", percent=False, better=-1),
    Measure(name="prompt tokens a turn", about="of these calls", percent=False, better=-1),
    Measure(name="answer tokens a turn", about="of these calls", percent=False, better=-1),
)
WRITTEN = (
    *(
        Measure(name=f"{part} {score}", about=f"of the {part}, against what people noted")
        for part in PARTS
        for score in ("F1", "precision", "recall")
    ),
    *(
        Measure(name=f"{part} {fault}", about=f"sentences of the {part} (audit)", better=-1)
        for part in ("summary", "events")
        for fault in ("fabricated", "relation", "missing")
    ),
    Measure(name="events count", about="so far", percent=False, better=0),
    Measure(name="events said", about="of their content words, those that were said"),
    Measure(name="memos count", about="so far, folded ones aside", percent=False, better=0),
    Measure(name="memos cover", about="turns that some memo rests on"),
    Measure(name="memos whole", about="memos whose topic and summary could be read"),
    *COST,
)
FOUND = (
    *(
        Measure(name=f"{part}@{k}", about=f"evidence under one of the {k} best {part}")
        for part in ("events", "memos")
        for k in BEST
    ),
    *COST,
)


async def parts_of(place: Place) -> Mapping[str, list[str]]:
    """The sentences of each part."""
    store, owner = place.memory.store, place.owner
    summary = await store.summaries.find(owner)
    return {
        "summary": [sentence.text for sentence in summary.sentences] if summary else [],
        "events": [event.text for event in await store.events.read(owner)],
        "memos": [memo.summary for memo in await store.memos.read(owner) if memo.whole],
    }


async def written_scores(place: Place, dialogue: Dialogue, *, before: int) -> dict[str, float]:
    """All parts after the sessions before this one. A part that holds nothing has found nothing:
    its recall is 0 and it has no precision; a method without that mechanism has no such score."""
    facts = [fact for side in dialogue.facts(before - 1) for fact in side]
    kept = {"summary": "summary", "events": "human-recall", "memos": "memos"}
    names = {name.partition(":")[0] for name in place.mechanisms}
    scores: dict[str, float] = {}
    for part, held in (await parts_of(place)).items():
        if kept[part] not in names:
            continue
        score = memory_score(held, facts, language=dialogue.language)
        scores |= {f"{part} F1": score.f1, f"{part} recall": score.recall}
        if held:
            scores[f"{part} precision"] = score.precision
        if part != "memos":
            audited = audit_scores(held, dialogue, until=before - 1)
            scores |= {f"{part} {fault}": rate for fault, rate in audited.items()}
        if part == "events":
            scores |= _events(held, dialogue, before=before)
        if part == "memos":
            scores |= await _memos(place)
    return scores | await bill(place)


def _events(held: Sequence[str], dialogue: Dialogue, *, before: int) -> dict[str, float]:
    said = Said.of(line.text for line in dialogue.lines if line.session < before)
    words = [term for text in held for term in content_terms(text)]
    scores = {"events count": float(len(held))}
    if words:
        there = sum(said.holds(term, language=dialogue.language) for term in words)
        scores["events said"] = there / len(words)
    return scores


async def _memos(place: Place) -> dict[str, float]:
    store, owner = place.memory.store, place.owner
    every = await store.memos.read(owner)
    memos = [memo for memo in every if memo.folded_into is None]
    turns = {turn.id for turn in await place.memory.turns(place.user)}
    inside = {source for memo in every for source in memo.sources} & turns
    scores = {"memos count": float(len(memos)), "memos cover": len(inside) / max(len(turns), 1)}
    if memos:
        scores["memos whole"] = sum(memo.whole for memo in memos) / len(memos)
    return scores


async def bill(place: Place) -> dict[str, float]:
    """What digesting took, for each turn that was recorded; answers thrown away were paid too."""
    calls = [
        call
        for call in await place.memory.store.ledger.calls(place.owner)
        if call.purpose is Purpose.DIGEST
    ]
    turns = len(await place.memory.turns(place.user))
    if not turns:
        return {}
    return {
        "calls a turn": len(calls) / turns,
        "prompt tokens a turn": sum(call.prompt_tokens for call in calls) / turns,
        "answer tokens a turn": sum(call.completion_tokens for call in calls) / turns,
    }


async def found_scores(
    place: Place, question: str, evidence: frozenset[str], embedder: Embedder
) -> dict[str, float]:
    """Whether one of the k best events, and of the k best memos, rests on a turn that holds the
    answer: found as a reply would find them, but without a threshold."""
    store, owner = place.memory.store, place.owner
    vector = await embedder.embed([question])
    sources = {event.id: set(event.sources) for event in await store.events.read(owner)}
    sources |= {memo.id: set(memo.sources) for memo in await store.memos.read(owner)}
    scores = {}
    for name, kind in (("events", Kind.EVENT), ("memos", Kind.MEMO)):
        near = await store.index.nearest(owner, embedder.space, vector, k=_DEEP, kind=kind)
        worded = await store.index.words(owner, query_terms(question), k=_DEEP, kind=kind)
        marks: dict[str, float] = {}
        for ranking in (near, worded):
            for rank, hit in enumerate(ranking):
                marks[hit.id] = marks.get(hit.id, 0.0) + 1 / (_FADE + rank)
        best = sorted(marks, key=lambda one: -marks[one])
        for k in BEST:
            held = set[str]().union(*(sources.get(one, set()) for one in best[:k]))
            scores[f"{name}@{k}"] = float(bool(held & evidence))
    return scores
