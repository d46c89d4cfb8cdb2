"""Recall: finds what is relevant to a query, without a model call.

Every turn of the owner is scored (`evidence`). Facts, events, memos and sentences of the summary
get the score of their best source, or a higher one if their own words or meaning match the query
better. What else states a fact that is found is not returned beside it. A turn or memo comes with
what has ended of the facts that rest on it (`outdated`). What has expired or is to be forgotten is
left out (`forgotten`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from omoide.domain import (
    Event,
    Fact,
    FactFilter,
    Memo,
    MemoryKind,
    RecalledItem,
    RecallResult,
    Speaker,
)
from omoide.language import detect_language
from omoide.mechanisms.events.lasting import lasting_events
from omoide.mechanisms.search.derived import (
    derived_scores,
    matching_sentences,
    word_score,
)
from omoide.mechanisms.search.evidence import judge_support, weigh_evidence
from omoide.mechanisms.search.features import FeatureReader
from omoide.mechanisms.search.filter import RecallFilter
from omoide.mechanisms.search.forgotten import forgotten_turns, replied_to
from omoide.mechanisms.search.gate import judged
from omoide.mechanisms.search.merging import Found, best_supported, merged
from omoide.mechanisms.search.outdated import facts_over, with_endings
from omoide.mechanisms.search.pairs import pair_turns
from omoide.mechanisms.search.question import indexed_terms, parse_query, questions_apart
from omoide.mechanisms.search.question_map import search_vector
from omoide.mechanisms.search.recalled import (
    derived_item,
    fitting,
    turn_item,
    with_extra,
    with_questions,
)
from omoide.mechanisms.search.visible import visible
from omoide.mechanisms.search.weights import reads, weights_for
from omoide.ports.store import JoinedReads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from omoide.domain import Owner, Summary, Turn
    from omoide.mechanisms.search.evidence import TurnEvidence
    from omoide.mechanisms.search.pairs import AnswerPair
    from omoide.mechanisms.search.question import ParsedQuery
    from omoide.mechanisms.search.weights import EvidenceWeights
    from omoide.ports import Embedder, Hit, Space, Store, Vectors
    from omoide.ports.store import SearchData, TurnTable

DEPTH = 50
"""How many turns are ranked at least, so that long ones can be skipped to meet a budget."""
WIDTH = 20
"""How many events and memos are looked up by words, and how many by meaning."""
MOST_ENDING = 200
"""Most facts with an end after the time of the query that are looked at, the ones said last."""
NEAR = 0.05
"""Time evidence above which a turn counts as a match: 30 days from a day that the query names."""


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What is asked of a recall: the arguments of `Recall.__call__`, and the query's vector."""

    owner: Owner
    query: str
    space: Space | None = None
    vector: Vectors | None = None
    summary: Summary | Callable[[], Awaitable[Summary]]
    at: datetime
    k: int
    extra: Mapping[MemoryKind, int]
    budget: int | None
    besides: frozenset[str]
    asker: Speaker
    only: RecallFilter
    joined: bool
    explained: bool

    @property
    def space_name(self) -> str | None:
        """The name of the embedder's space; None if only words are searched."""
        return self.space.name if self.space else None


@dataclass(frozen=True, kw_only=True)
class _Search:
    """A query and the evidence it found in the turns."""

    wanted: _Wanted
    question: ParsedQuery
    data: SearchData
    evidence: TurnEvidence

    @property
    def table(self) -> TurnTable:
        """The turns."""
        return self.data.table


@dataclass(frozen=True, kw_only=True)
class _FoundTurns:
    """The turns that were found, the facts that hold and rest on turns that are left out, and the
    facts on any of them that have ended or expired."""

    items: list[RecalledItem]
    instead: list[RecalledItem]
    over: tuple[Fact, ...]


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
        self._joined = store.index if isinstance(store.index, JoinedReads) else None

    async def __call__(
        self,
        owner: Owner,
        query: str,
        *,
        summary: Summary | Callable[[], Awaitable[Summary]],
        at: datetime,
        k: int,
        extra: Mapping[MemoryKind, int] | None = None,
        budget: int | None = None,
        besides: Iterable[str] = (),
        asker: Speaker = Speaker.USER,
        only: RecallFilter | None = None,
        joined: bool = False,
        explained: bool = True,
    ) -> RecallResult:
        """Return at most `k` items known by `at`, best first, with at most `budget` tokens in
        total, and the support for there being an answer at all. Of a kind in `extra`, the best so
        many come besides the `k` items, which are then of other kinds.

        `summary` is the one whose sentences are searched, or a function that reads it from the
        store. Items with ids in `besides` are skipped: they are already in the prompt. `asker` is
        whom "I" in the query means. `only` limits what is returned. If `joined`, the reply to a
        recalled question is returned instead of the question, which it names. Unless `explained`,
        turns come without what each kind of evidence added (`RecalledItem.counted`). A message with
        several questions is searched as a whole and for each of them; the support is that of the
        question that memory knows most about.
        """
        whole = _Wanted(
            owner=owner,
            query=query,
            summary=summary,
            at=at,
            k=k,
            extra=extra or {},
            budget=budget,
            besides=frozenset(besides),
            asker=asker,
            only=only or RecallFilter(),
            joined=joined,
            explained=explained,
        )
        apart = [replace(whole, query=text) for text in questions_apart(query)]
        wanted = [await self._embedded(each) for each in (whole, *apart)]
        if self._joined is None:
            return await self._recalled(wanted)
        return await self._joined.together(owner, partial(self._recalled, wanted))

    async def _embedded(self, wanted: _Wanted) -> _Wanted:
        """With the query's vector. A language that the embedder cannot read is searched by words
        only."""
        embedder = self._embedder
        if embedder is None or not reads(self._space, detect_language(wanted.query)):
            return wanted
        vector = await search_vector(embedder, wanted.query)
        return replace(wanted, space=embedder.space, vector=vector)

    async def _recalled(self, wanted: Sequence[_Wanted]) -> RecallResult:
        """The recall itself, which waits for nothing but the store: of a message and of each of its
        questions."""
        found = [await self._found(each) for each in wanted]
        whole = wanted[0]
        items = found[0].items if len(found) == 1 else merged(found)
        if whole.extra:
            items = with_extra(items, k=whole.k, extra=whole.extra)
        most = whole.k + sum(whole.extra.values())
        chosen = fitting(items, k=most, budget=whole.budget)
        over = [fact for part in found for fact in part.over]
        topics = [item for item in chosen if item.kind is MemoryKind.MEMO]
        if turns := sorted({source for item in topics for source in item.sources}):
            over += await facts_over(self._store, whole.owner, turns, at=whole.at)
        marked = await with_endings(self._store, whole.owner, chosen, over=over, at=whole.at)
        return RecallResult(marked, support=best_supported(found), degraded=found[0].degraded)

    async def _found(self, wanted: _Wanted) -> Found:
        """All candidates for one query, best first; more than `k` if not all of them fit."""
        search = await self._weighed(wanted)
        data = search.data
        items = await self._derived(wanted, search, data.other_kinds)
        over: Sequence[Fact] = ()
        if wanted.only.wants(MemoryKind.TURN):
            turns = await self._turns(search, used=sum(item.tokens for item in items))
            known = {item.id for item in items if item.kind is MemoryKind.FACT}
            instead = (item for item in turns.instead if item.id not in known)
            items, over = [*turns.items, *items, *instead], turns.over
        items.sort(key=lambda item: -item.score)  # of equal turns the newer comes first
        support = judged(judge_support(data, search.question, search.evidence), wanted.space_name)
        return Found(items=items, over=over, support=support, degraded=data.degraded)

    async def _weighed(self, wanted: _Wanted) -> _Search:
        """The evidence for each turn."""
        data = await self._store.index.search_data(
            wanted.owner, indexed_terms(wanted.query), space=wanted.space, query=wanted.vector
        )
        data = await self._with_features(wanted.owner, data)
        data = visible(data, at=wanted.at, besides=wanted.besides)
        question = parse_query(
            wanted.query,
            asked=wanted.at.date(),
            voices=data.table.speakers,
            asker=wanted.asker,
            known=data.postings,
        )
        weights = self._weights or weights_for(wanted.space_name, of_memory=question.of_memory)
        evidence = weigh_evidence(data, question, weights)
        return _Search(wanted=wanted, question=question, data=data, evidence=evidence)

    async def _derived(
        self, wanted: _Wanted, search: _Search, kinds: AbstractSet[MemoryKind]
    ) -> list[RecalledItem]:
        """What was derived from turns, of these kinds, and sentences of the summary."""
        only, items = wanted.only, list[RecalledItem]()
        stated = frozenset[str]()
        for kind in (MemoryKind.FACT, MemoryKind.EVENT, MemoryKind.MEMO):
            if only.wants(kind) and kind in kinds:
                items += await self._written(search, kind, stated)
            if kind is MemoryKind.FACT:
                stated = frozenset(item.id for item in items)
        if only.wants(MemoryKind.SENTENCE):
            summary = wanted.summary
            summary = await summary() if callable(summary) else summary
            items += await self._sentences(search, summary, stated)
        return [item for item in items if only.admits(item.time)]

    async def _sentences(
        self, search: _Search, summary: Summary, stated: AbstractSet[str]
    ) -> list[RecalledItem]:
        """Sentences of the summary that match, but for what states a fact of `stated` or one that
        is gone from it."""
        wanted = search.wanted
        matching = partial(matching_sentences, wanted.query, summary, search.evidence, search.table)
        found = matching(stated=stated)
        ids = sorted({s.fact for s in summary.sentences if s.fact} - stated) if found else ()
        facts = await self._store.facts.read(wanted.owner, ids=ids) if ids else ()
        gone = {fact.id for fact in facts if fact.gone_from(summary.time, now=wanted.at)}
        return matching(stated=stated | gone) if gone else found

    async def _turns(self, search: _Search, *, used: int) -> _FoundTurns:
        """The `k` best turns that match by more than their speaker, with the questions that they
        answer. More than `k` if these do not all fit beside the `used` tokens, since some may then
        be skipped."""
        wanted, table, k = search.wanted, search.table, search.wanted.k
        room = None if wanted.budget is None else wanted.budget - used
        rows = _best(search, k if room is None else max(k, DEPTH))
        total = search.evidence.total
        items: list[RecalledItem] = []
        read: dict[str, Turn] = {}
        pairs: dict[str, AnswerPair] = {}
        over: dict[str, Fact] = {}
        instead: dict[str, RecalledItem] = {}
        has_facts = search.data.ended_facts or MemoryKind.FACT in search.data.other_kinds
        for batch in filter(None, (rows[:k], rows[k:])):
            here = {table.ids[row]: row for row in batch}
            new = pair_turns(table, batch, joined=wanted.joined)
            needed = sorted({*here, *(name for pair in new.values() for name in pair.ids)})
            turns = await self._store.turns.read(wanted.owner, ids=needed)
            if has_facts:
                replied = replied_to(table, batch)
                asked = sorted({*needed, *replied.values()})
                found = await facts_over(self._store, wanted.owner, asked, at=wanted.at)
                over |= {fact.id: fact for fact in found}
                gone = forgotten_turns(over.values(), replied, at=wanted.at)
                turns = tuple(turn for turn in turns if turn.id not in gone)
                for fact in await self._holding(wanted, sorted(gone.intersection(here))):
                    score = max(float(total[here[turn]]) for turn in here.keys() & fact.sources)
                    instead[fact.id] = derived_item(MemoryKind.FACT, fact, score)
            pairs |= new
            read |= {turn.id: turn for turn in turns}
            shown = [(turn, here[turn.id]) for turn in reversed(turns) if turn.id in here]
            at = [row for _, row in shown]
            parts = search.evidence.parts(at) if wanted.explained else [()] * len(at)
            items += [
                turn_item(turn, float(total[row]), counted=counted)
                for (turn, row), counted in zip(shown, parts, strict=True)
            ]
            if room is None or sum(item.tokens for item in items) <= room:
                break
        return _FoundTurns(
            items=with_questions(items, pairs, read) if pairs else items,
            instead=list(instead.values()),
            over=tuple(over.values()),
        )

    async def _holding(self, wanted: _Wanted, turns: Sequence[str]) -> list[Fact]:
        """The facts that hold and rest on turns that are left out."""
        if not turns or not wanted.only.wants(MemoryKind.FACT):
            return []
        only = FactFilter(turns=turns, at=wanted.at)
        facts = await self._store.facts.read(wanted.owner, only=only)
        return [f for f in facts if f.id not in wanted.besides and wanted.only.admits_fact(f)]

    async def _written(
        self, search: _Search, kind: MemoryKind, stated: AbstractSet[str]
    ) -> list[RecalledItem]:
        """Facts, events or memos that match by their own words or meaning, but for what states a
        fact of `stated`."""
        index, wanted = self._store.index, search.wanted
        by_words = await index.search_words(wanted.owner, search.question.terms, k=WIDTH, kind=kind)
        by_meaning: tuple[Hit, ...] = ()
        if wanted.space is not None and wanted.vector is not None:
            by_meaning = await index.nearest(
                wanted.owner, wanted.space, wanted.vector, k=WIDTH, kind=kind
            )
        words = {hit.id: hit.score for hit in by_words}
        cosines = {hit.id: hit.score for hit in by_meaning}
        ids = [name for name in {**words, **cosines} if name not in wanted.besides]
        written = await self._read(wanted, kind, ids, stated) if ids else []
        if kind is MemoryKind.FACT:
            ending = await self._ending(wanted)
            words |= {fact.id: word_score(fact.text, search.evidence) for fact in ending}
            written += [fact for fact in ending if words[fact.id]]
        if not written:
            return []
        scores = derived_scores(
            search.evidence,
            search.table,
            [item.sources for item in written],
            words=[words.get(item.id, 0.0) for item in written],
            cosines=[cosines.get(item.id) for item in written],
        )
        return [
            derived_item(kind, item, score) for item, score in zip(written, scores, strict=True)
        ]

    async def _ending(self, wanted: _Wanted) -> list[Fact]:
        """Facts that hold at that time and have an end after it: a plan will end them, or something
        has since. The index leaves out whatever has an end."""
        only = FactFilter(at=wanted.at, ended=True, newest=MOST_ENDING)
        facts = await self._store.facts.read(wanted.owner, only=only)
        return [f for f in facts if f.id not in wanted.besides and wanted.only.admits_fact(f)]

    async def _read(
        self, wanted: _Wanted, kind: MemoryKind, ids: Sequence[str], stated: AbstractSet[str]
    ) -> list[Fact | Event | Memo]:
        """The items with these ids that may be returned: known by then, and not stating a fact of
        `stated`."""
        store, owner, at = self._store, wanted.owner, wanted.at
        if kind is MemoryKind.FACT:
            facts = await store.facts.read(owner, ids=ids)
            return [f for f in facts if f.holds(at) and wanted.only.admits_fact(f)]
        if kind is MemoryKind.EVENT:
            events = await store.events.read(owner, ids=ids)
            known = [e for e in events if e.time <= at and e.fact not in stated]
            return list(await lasting_events(store, owner, known, at=at))
        return [memo for memo in await store.memos.read(owner, ids=ids) if memo.time <= at]


def _best(search: _Search, k: int) -> list[int]:
    """The rows of the `k` best turns, best first; of equal turns the newer first."""
    import numpy as np

    evidence, table, total = search.evidence, search.table, search.evidence.total
    if evidence.spread is None:
        matches = (evidence.words > 0) | (evidence.session > 0) | (evidence.time > NEAR)
        total = np.where(matches, total, np.float32(-np.inf))
    if (allowed := search.wanted.only.rows(table)) is not None:
        total = np.where(allowed, total, np.float32(-np.inf))
    least = np.partition(total, -k)[-k] if k < len(total) else -np.inf
    best = np.flatnonzero((total >= least) & (total > -np.inf))
    rows: list[int] = best[np.argsort(total[best], kind="stable")][-k:][::-1].tolist()
    return rows
