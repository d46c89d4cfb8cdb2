"""Scores of each part of a memory: summary, events, memos, and what they cost.

These compare one call per session with one call per mechanism. Scoring all sentences together
would hide that one writer repeats itself in three places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import CallPurpose, MemoryKind
from omoide.language import content_terms, query_terms
from omoide_bench.metrics import memory_score
from omoide_bench.tasks.base import Measure
from omoide_bench.tasks.scoring import audit_scores
from omoide_bench.tasks.survival import TextSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.ports import Embedder
    from omoide_bench.data.shapes import Dialogue
    from omoide_bench.running.memory_under_test import MemoryUnderTest

PARTS = ("summary", "events", "memos")
BEST = (5, 10)
"""The k of evidence@k: how many of the best events or memos count."""
_DEEP = 50
_FADE = 60
"""Ranks by words and by vectors are fused as 1 / (60 + rank)."""
COST = (
    Measure(name="calls a turn", about="digest calls, by the ledger", percent=False, better=-1),
    Measure(name="prompt tokens a turn", about="of these calls", percent=False, better=-1),
    Measure(name="answer tokens a turn", about="of these calls", percent=False, better=-1),
)
WRITTEN = (
    *(
        Measure(name=f"{part} {score}", about=f"of the {part}, against annotated facts")
        for part in PARTS
        for score in ("F1", "precision", "recall")
    ),
    *(
        Measure(name=f"{part} {fault}", about=f"sentences of the {part} (audit)", better=-1)
        for part in ("summary", "events")
        for fault in ("fabricated", "relation", "missing")
    ),
    Measure(name="events count", about="so far", percent=False, better=0),
    Measure(name="events said", about="share of their content words that occur in the dialogue"),
    Measure(name="memos count", about="so far, without folded ones", percent=False, better=0),
    Measure(name="memos cover", about="turns that are a source of some memo"),
    Measure(name="memos whole", about="memos with a readable topic and summary"),
    *COST,
)
FOUND = (
    *(
        Measure(name=f"{part}@{k}", about=f"evidence among the sources of the {k} best {part}")
        for part in ("events", "memos")
        for k in BEST
    ),
    *COST,
)


async def parts_of(under_test: MemoryUnderTest) -> Mapping[str, list[str]]:
    """The sentences of each part."""
    store, owner = under_test.store, under_test.owner
    summary = await store.summaries.find(owner)
    return {
        "summary": [sentence.text for sentence in summary.sentences] if summary else [],
        "events": [event.text for event in await store.events.read(owner)],
        "memos": [memo.summary for memo in await store.memos.read(owner) if memo.whole],
    }


async def written_scores(
    under_test: MemoryUnderTest, dialogue: Dialogue, *, before: int
) -> dict[str, float]:
    """Scores of all parts just before a session. An empty part has recall 0 and no precision; a
    method without the mechanism has no scores for its part."""
    facts = [fact for side in dialogue.facts(before - 1) for fact in side]
    mechanism_of = {"summary": "summary", "events": "human-recall", "memos": "memos"}
    names = {name.partition(":")[0] for name in under_test.mechanisms}
    scores: dict[str, float] = {}
    for part, sentences in (await parts_of(under_test)).items():
        if mechanism_of[part] not in names:
            continue
        score = memory_score(sentences, facts, language=dialogue.language)
        scores |= {f"{part} F1": score.f1, f"{part} recall": score.recall}
        if sentences:
            scores[f"{part} precision"] = score.precision
        if part != "memos":
            audited = audit_scores(sentences, dialogue, until=before - 1)
            scores |= {f"{part} {fault}": rate for fault, rate in audited.items()}
        if part == "events":
            scores |= _events(sentences, dialogue, before=before)
        if part == "memos":
            scores |= await _memos(under_test)
    return scores | await digest_cost(under_test)


def _events(sentences: Sequence[str], dialogue: Dialogue, *, before: int) -> dict[str, float]:
    dialogue_texts = TextSet.of(line.text for line in dialogue.lines if line.session < before)
    words = [term for text in sentences for term in content_terms(text)]
    scores = {"events count": float(len(sentences))}
    if words:
        present = sum(dialogue_texts.holds(term, language=dialogue.language) for term in words)
        scores["events said"] = present / len(words)
    return scores


async def _memos(under_test: MemoryUnderTest) -> dict[str, float]:
    store, owner = under_test.store, under_test.owner
    every = await store.memos.read(owner)
    memos = [memo for memo in every if memo.folded_into is None]
    turns = {turn.id for turn in await under_test.memory.turns(under_test.user)}
    covered = {source for memo in every for source in memo.sources} & turns
    scores = {"memos count": float(len(memos)), "memos cover": len(covered) / max(len(turns), 1)}
    if memos:
        scores["memos whole"] = sum(memo.whole for memo in memos) / len(memos)
    return scores


async def digest_cost(under_test: MemoryUnderTest) -> dict[str, float]:
    """Digest calls and tokens per recorded turn, discarded answers included."""
    calls = [
        call
        for call in await under_test.memory.calls(under_test.user)
        if call.purpose is CallPurpose.DIGEST
    ]
    turns = len(await under_test.memory.turns(under_test.user))
    if not turns:
        return {}
    return {
        "calls a turn": len(calls) / turns,
        "prompt tokens a turn": sum(call.prompt_tokens for call in calls) / turns,
        "answer tokens a turn": sum(call.completion_tokens for call in calls) / turns,
    }


async def found_scores(
    under_test: MemoryUnderTest, question: str, evidence: frozenset[str], embedder: Embedder
) -> dict[str, float]:
    """Whether one of the k best events, and one of the k best memos, has an evidence turn as a
    source. They are ranked as for a reply, but without a threshold."""
    store, owner = under_test.store, under_test.owner
    vector = await embedder.embed([question])
    sources = {event.id: set(event.sources) for event in await store.events.read(owner)}
    sources |= {memo.id: set(memo.sources) for memo in await store.memos.read(owner)}
    scores = {}
    for name, kind in (("events", MemoryKind.EVENT), ("memos", MemoryKind.MEMO)):
        near = await store.index.nearest(owner, embedder.space, vector, k=_DEEP, kind=kind)
        worded = await store.index.search_words(owner, query_terms(question), k=_DEEP, kind=kind)
        marks: dict[str, float] = {}
        for ranking in (near, worded):
            for rank, hit in enumerate(ranking):
                marks[hit.id] = marks.get(hit.id, 0.0) + 1 / (_FADE + rank)
        best = sorted(marks, key=lambda item_id: -marks[item_id])
        for k in BEST:
            found_sources = set[str]().union(*(sources.get(item_id, set()) for item_id in best[:k]))
            scores[f"{name}@{k}"] = float(bool(found_sources & evidence))
    return scores
