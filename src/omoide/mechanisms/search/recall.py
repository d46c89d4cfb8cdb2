"""Recall: finds what is relevant to a query, without a model call.

Every turn of the owner is scored (`evidence`). Facts, events, memos and sentences of the summary
get the score of their best source, or a higher one if their own words or meaning match the query
better. What else states a fact that is found is not returned beside it. A turn comes with what has
ended of the facts that rest on it (`outdated`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, rarity
from omoide.domain import Event, Fact, Memo, MemoryKind, RecalledItem, RecallResult, Speaker
from omoide.language import content_terms, detect_language, estimate_tokens
from omoide.language.terms import is_prefix
from omoide.mechanisms.search.evidence import judge_support, weigh_evidence
from omoide.mechanisms.search.features import FeatureReader
from omoide.mechanisms.search.filter import RecallFilter
from omoide.mechanisms.search.gate import judged
from omoide.mechanisms.search.merging import Found, best_supported, merged
from omoide.mechanisms.search.outdated import ended_facts, with_endings
from omoide.mechanisms.search.pairs import last_question, pair_turns
from omoide.mechanisms.search.question import parse_query, questions_apart, search_terms
from omoide.mechanisms.search.recalled import derived_item, fitting, turn_item
from omoide.mechanisms.search.visible import visible
from omoide.mechanisms.search.weights import reads, weights_for
from omoide.ports import query_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Summary, Turn
    from omoide.mechanisms.search.evidence import TurnEvidence
    from omoide.mechanisms.search.pairs import AnswerPair
    from omoide.mechanisms.search.question import ParsedQuery
    from omoide.mechanisms.search.weights import EvidenceWeights
    from omoide.ports import Embedder, Hit, Store, Vectors
    from omoide.ports.store import TurnTable

DEPTH = 50
"""How many turns are ranked at least, so that long ones can be skipped to meet a budget."""
WIDTH = 20
"""How many events and memos are looked up by words, and how many by meaning."""
NEAR = 0.05
"""Time evidence above which a turn counts as a match: 30 days from a day that the query names."""


@dataclass(frozen=True, kw_only=True)
class _Search:
    """A query and the evidence it found in the turns."""

    query: str
    vector: Vectors | None
    question: ParsedQuery
    table: TurnTable
    evidence: TurnEvidence
    at: datetime
    besides: frozenset[str]
    only: RecallFilter
    stated: frozenset[str] = frozenset()
    """Ids of the facts that are returned: what else states them is not."""


@dataclass(frozen=True, kw_only=True)
class _FoundTurns:
    """The turns that were found, and the ended facts that rest on them."""

    items: list[RecalledItem]
    ended: tuple[Fact, ...]


class Recall:
    """Searches an owner's turns and what was derived from them."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, weights: EvidenceWeights | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._space = embedder.space.name if embedder else None
        self._weights = weights
        self._with_features = FeatureReader(store)

    async def __call__(
        self,
        owner: Owner,
        query: str,
        *,
        summary: Summary,
        at: datetime,
        k: int,
        budget: int | None = None,
        besides: Iterable[str] = (),
        asker: Speaker = Speaker.USER,
        only: RecallFilter | None = None,
        joined: bool = False,
        explained: bool = True,
    ) -> RecallResult:
        """Return at most `k` items known by `at`, best first, with at most `budget` tokens in
        total, and the support for there being an answer at all.

        Items with ids in `besides` are skipped: they are already in the prompt. `asker` is whom
        "I" in the query means. `only` limits what is returned. If `joined`, the reply to a recalled
        question is returned instead of the question, which it names. Unless `explained`, turns come
        without what each kind of evidence added (`RecalledItem.counted`), which takes a third of
        the time for 60 turns. A message with several questions is searched as a whole and for each
        of them; the support is that of the question that memory knows most about.
        """
        only = only or RecallFilter()
        skipped = frozenset(besides)
        found = [
            await self._found(
                owner,
                text,
                summary=summary,
                at=at,
                k=k,
                budget=budget,
                besides=skipped,
                asker=asker,
                only=only,
                joined=joined,
                explained=explained,
            )
            for text in (query, *questions_apart(query))
        ]
        items = found[0].items if len(found) == 1 else merged(found)
        chosen = fitting(items, k=k, budget=budget)
        ended = tuple({fact.id: fact for part in found for fact in part.ended}.values())
        marked = await with_endings(self._store, owner, chosen, ended=ended, at=at)
        return RecallResult(marked, support=best_supported(found), degraded=found[0].degraded)

    async def _found(
        self,
        owner: Owner,
        query: str,
        *,
        summary: Summary,
        at: datetime,
        k: int,
        budget: int | None,
        besides: frozenset[str],
        asker: Speaker,
        only: RecallFilter,
        joined: bool,
        explained: bool,
    ) -> Found:
        """All candidates for one query, best first; more than `k` if not all of them fit."""
        # A language that the embedder cannot read is searched by words only.
        embedder = self._embedder if reads(self._space, detect_language(query)) else None
        space = embedder.space if embedder else None
        name = space.name if space else None
        vector = await query_vectors(embedder, query) if embedder else None
        data = await self._store.index.search_data(
            owner, search_terms(query), space=space, query=vector
        )
        data = await self._with_features(owner, data)
        data = visible(data, at=at, besides=besides)
        table = data.table
        question = parse_query(
            query, asked=at.date(), voices=table.speakers, asker=asker, known=data.postings
        )
        search = _Search(
            query=query,
            vector=vector,
            question=question,
            table=table,
            evidence=weigh_evidence(data, question, self._weights or weights_for(name)),
            at=at,
            besides=besides,
            only=only,
        )
        items: list[RecalledItem] = []
        for kind in (MemoryKind.FACT, MemoryKind.EVENT, MemoryKind.MEMO):
            if only.wants(kind) and kind in data.other_kinds:
                items += await self._written(owner, search, kind)
            if kind is MemoryKind.FACT:
                search = replace(search, stated=frozenset(item.id for item in items))
        if only.wants(MemoryKind.SENTENCE):
            items += _sentences(search, summary)
        items = [item for item in items if only.admits(item.time)]
        ended: Sequence[Fact] = ()
        if only.wants(MemoryKind.TURN):
            room = None if budget is None else budget - sum(item.tokens for item in items)
            turns = await self._turns(
                owner, search, k=k, room=room, explained=explained, joined=joined
            )
            items, ended = [*turns.items, *items], turns.ended
        items.sort(key=lambda item: -item.score)  # of equal turns the newer comes first
        support = judged(judge_support(data, question, search.evidence), name)
        return Found(items=items, ended=ended, support=support, degraded=data.degraded)

    async def _turns(
        self,
        owner: Owner,
        search: _Search,
        *,
        k: int,
        room: int | None,
        explained: bool,
        joined: bool,
    ) -> _FoundTurns:
        """The `k` best turns that match by more than their speaker, with the questions that they
        answer. More than `k` if these do not all fit into `room`, since some may then be skipped.
        Turns, questions and ended facts are read in one round trip."""
        scores = _best(search, k if room is None else max(k, DEPTH))
        rows, evidence, ids = search.table.row_by_id, search.evidence, list(scores)
        items: list[RecalledItem] = []
        read: dict[str, Turn] = {}
        pairs: dict[str, AnswerPair] = {}
        ended: dict[str, Fact] = {}
        for batch in filter(None, (ids[:k], ids[k:])):
            new = pair_turns(search.table, batch, joined=joined)
            wanted = sorted({*batch, *(name for pair in new.values() for name in pair.ids)})
            turns, over = await asyncio.gather(
                self._store.turns.read(owner, ids=wanted),
                ended_facts(self._store, owner, wanted),
            )
            pairs |= new
            read |= {turn.id: turn for turn in turns}
            ended |= {fact.id: fact for fact in over}
            here = set(batch)
            for turn in reversed(turns):
                if turn.id in here:
                    counted = evidence.parts(rows[turn.id]) if explained else ()
                    items.append(turn_item(turn, scores[turn.id], counted=counted))
            if room is None or sum(item.tokens for item in items) <= room:
                break
        return _FoundTurns(
            items=_with_questions(items, pairs, read) if pairs else items,
            ended=tuple(ended.values()),
        )

    async def _written(self, owner: Owner, search: _Search, kind: MemoryKind) -> list[RecalledItem]:
        """Facts, events or memos that match by their own words or meaning."""
        index = self._store.index
        by_words = await index.search_words(owner, search.question.terms, k=WIDTH, kind=kind)
        by_meaning: tuple[Hit, ...] = ()
        if self._embedder is not None and search.vector is not None:
            space = self._embedder.space
            by_meaning = await index.nearest(owner, space, search.vector, k=WIDTH, kind=kind)
        words = {hit.id: hit.score for hit in by_words}
        cosines = {hit.id: hit.score for hit in by_meaning}
        ids = [name for name in {**words, **cosines} if name not in search.besides]
        if not ids:
            return []
        written = await self._read(owner, search, kind, ids)
        scores = _derived_scores(
            search,
            [item.sources for item in written],
            words=[words.get(item.id, 0.0) for item in written],
            cosines=[cosines.get(item.id) for item in written],
        )
        return [
            derived_item(kind, item, score) for item, score in zip(written, scores, strict=True)
        ]

    async def _read(
        self, owner: Owner, search: _Search, kind: MemoryKind, ids: Sequence[str]
    ) -> list[Fact | Event | Memo]:
        """The items with these ids that may be returned: known by then, and not stated by a fact
        that is returned."""
        store = self._store
        if kind is MemoryKind.FACT:
            facts = await store.facts.read(owner, ids=ids)
            return [f for f in facts if f.holds(search.at) and search.only.admits_fact(f)]
        if kind is MemoryKind.EVENT:
            events = await store.events.read(owner, ids=ids)
            return [e for e in events if e.time <= search.at and e.fact not in search.stated]
        return [memo for memo in await store.memos.read(owner, ids=ids) if memo.time <= search.at]


def _with_questions(
    items: Sequence[RecalledItem], pairs: Mapping[str, AnswerPair], turns: Mapping[str, Turn]
) -> list[RecalledItem]:
    """The items with the questions that they answer. A question that is paired as such gives way to
    its reply."""
    result: dict[str, RecalledItem] = {}
    for item in items:
        pair = pairs.get(item.id)
        if pair is None or pair.turn not in turns or pair.question not in turns:
            result.setdefault(item.id, item)
            continue
        shown = item
        if pair.turn != item.id:
            shown = turn_item(turns[pair.turn], item.score, counted=item.counted)
        answers = last_question(turns[pair.question].text)
        tokens = shown.tokens + estimate_tokens(answers)
        result.setdefault(shown.id, replace(shown, answers=answers, tokens=tokens))
    return list(result.values())


def _best(search: _Search, k: int) -> dict[str, float]:
    """The scores of the `k` best turns by id, best first; of equal turns the newer first."""
    import numpy as np

    evidence, table, total = search.evidence, search.table, search.evidence.total
    if evidence.spread is None:
        matches = (evidence.words > 0) | (evidence.session > 0) | (evidence.time > NEAR)
        total = np.where(matches, total, np.float32(-np.inf))
    if (allowed := search.only.rows(table)) is not None:
        total = np.where(allowed, total, np.float32(-np.inf))
    # Partition first: sorting all turns would take longer than everything else.
    cut = np.partition(total, len(total) - k)[len(total) - k] if k < len(total) else -np.inf
    best = np.flatnonzero((total >= cut) & (total > -np.inf))
    best = best[np.argsort(total[best], kind="stable")][-k:][::-1]
    return {table.ids[i]: float(total[i]) for i in best.tolist()}


def _derived_scores(
    search: _Search,
    sources: Sequence[Sequence[str]],
    *,
    words: Sequence[float],
    cosines: Sequence[float | None],
) -> list[float]:
    """The scores of items that turns support."""
    evidence, rows = search.evidence, search.table.row_by_id
    weights, context = evidence.weights, evidence.context
    scores = []
    for item_sources, own_words, cosine in zip(sources, words, cosines, strict=True):
        own_meaning = 0.0
        if cosine is not None and evidence.spread is not None:
            mean, deviation = evidence.spread
            own_meaning = (cosine - mean) / deviation
        without_sources = weights.words * own_words + weights.meaning * own_meaning
        scores.append(
            max(
                (
                    float(context[i])
                    + weights.words * max(own_words, float(evidence.words[i]))
                    + weights.meaning * max(own_meaning, float(evidence.meaning[i]))
                    for name in item_sources
                    if (i := rows.get(name)) is not None
                ),
                default=without_sources,
            )
        )
    return scores


def _sentences(search: _Search, summary: Summary) -> list[RecalledItem]:
    """The summary's sentences that share terms with the query, but for those that state a fact that
    is returned."""
    wanted = content_terms(search.query)
    known = [
        content_terms(sentence.text) | {t for t in wanted if is_prefix(t) and t in sentence.text}
        for sentence in summary.sentences
    ]
    weight = rarity(known)
    shares = [coverage(wanted, its_terms, weight) for its_terms in known]
    chosen = [
        (s, share)
        for s, share in zip(summary.sentences, shares, strict=True)
        if share > 0 and not (s.fact and s.fact in search.stated)
    ]
    scores = _derived_scores(
        search,
        [sentence.sources for sentence, _ in chosen],
        words=[share * search.evidence.possible for _, share in chosen],
        cosines=[None] * len(chosen),
    )
    numbers = {id(sentence): number for number, sentence in enumerate(summary.sentences, 1)}
    return [
        RecalledItem(
            kind=MemoryKind.SENTENCE,
            id=f"v{summary.number}-{numbers[id(sentence)]}",
            text=sentence.text,
            score=score,
            sources=sentence.sources,
            time=summary.time,
            tokens=estimate_tokens(sentence.text),
            session=summary.session,
        )
        for (sentence, _), score in zip(chosen, scores, strict=True)
    ]
