"""What comes to mind for a query, without a model call.

Every turn of the owner is weighed (`evidence`). Events, memos and the sentences of
the summary rest on turns: each stands where the best of its sources stands, and rises above it
where its own words or meaning fit the query better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Event, Kind, Recalled, Recollection, Speaker
from omoide.language import content_terms, estimate_tokens
from omoide.language.terms import is_beginning
from omoide.memory.overlap import coverage, rarity
from omoide.memory.search.evidence import Weights, support, weigh
from omoide.memory.search.question import search_terms, understand
from omoide.memory.search.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Memo, Owner, Summary, Turn
    from omoide.memory.search.evidence import Evidence
    from omoide.memory.search.question import Question
    from omoide.ports import Embedder, Hit, Store, Vectors
    from omoide.ports.store import Outline

DEPTH = 50
"""How many turns are read at least, so that a budget can pass over long ones."""
WIDTH = 20
"""How many events and memos are looked at, by words and by meaning."""
NEAR = 0.05
"""A turn this near in time counts as found: 30 days from a day that the query names."""


@dataclass(frozen=True, kw_only=True)
class _Sight:
    """A query and what it found among the turns."""

    query: str
    vector: Vectors | None
    question: Question
    outline: Outline
    evidence: Evidence
    at: datetime
    besides: frozenset[str]


class Recall:
    """Search over what one owner said, and what was made of it."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, weights: Weights | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._weights = weights or Weights()

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
        kinds: Collection[Kind] = tuple(Kind),
    ) -> Recollection:
        """At most `k` items said or known by `at`, best first, of at most `budget` tokens in all,
        with what speaks for there being an answer at all.

        Items with ids in `besides` are passed over: they are in the prompt already. `asker` is who
        "I" is in the query.
        """
        vector = await self._embedder.embed([query]) if self._embedder else None
        space = self._embedder.space if self._embedder else None
        survey = await self._store.index.survey(
            owner, search_terms(query), space=space, query=vector
        )
        survey = visible(survey, at=at, besides=(passed := frozenset(besides)))
        outline = survey.outline
        question = understand(query, asked=at.date(), voices=outline.voices, asker=asker)
        sight = _Sight(
            query=query,
            vector=vector,
            question=question,
            outline=outline,
            evidence=weigh(survey, question, self._weights),
            at=at,
            besides=passed,
        )
        items: list[Recalled] = []
        if Kind.SENTENCE in kinds:
            items += _sentences(sight, summary)
        for kind in (Kind.EVENT, Kind.MEMO):
            if kind in kinds and kind in survey.others:
                items += await self._written(owner, sight, kind)
        if Kind.TURN in kinds:
            room = None if budget is None else budget - sum(item.tokens for item in items)
            items = [*await self._turns(owner, sight, k=k, room=room), *items]
        items.sort(key=lambda item: -item.score)  # of equal turns the newer comes first
        return Recollection(
            _within(items, k=k, budget=budget),
            support=support(outline, question, sight.evidence),
            lacking=survey.lacking,
        )

    async def _turns(
        self, owner: Owner, sight: _Sight, *, k: int, room: int | None
    ) -> list[Recalled]:
        """The best turns that anything speaks for beside who said them and how much they tell: `k`
        of them, or more if these do not all fit into `room`: some may be passed over."""
        scores = _best(sight, k if room is None else max(k, DEPTH))
        ids, found = list(scores), list[Recalled]()
        for some in filter(None, (ids[:k], ids[k:])):
            turns = await self._store.turns.read(owner, ids=some)
            found += [_turn(turn, scores[turn.id]) for turn in reversed(turns)]
            if room is None or sum(item.tokens for item in found) <= room:
                break
        return found

    async def _written(self, owner: Owner, sight: _Sight, kind: Kind) -> list[Recalled]:
        """Events or memos that fit by their own words or meaning."""
        index = self._store.index
        by_words = await index.words(owner, sight.question.terms, k=WIDTH, kind=kind)
        by_meaning: tuple[Hit, ...] = ()
        if self._embedder is not None and sight.vector is not None:
            space = self._embedder.space
            by_meaning = await index.nearest(owner, space, sight.vector, k=WIDTH, kind=kind)
        words = {hit.id: hit.score for hit in by_words}
        cosines = {hit.id: hit.score for hit in by_meaning}
        ids = [name for name in {**words, **cosines} if name not in sight.besides]
        if not ids:
            return []
        side = self._store.events if kind is Kind.EVENT else self._store.memos
        written: Sequence[Event | Memo] = await side.read(owner, ids=ids)
        written = [item for item in written if item.time <= sight.at]
        scores = _standing(
            sight,
            [item.sources for item in written],
            words=[words.get(item.id, 0.0) for item in written],
            cosines=[cosines.get(item.id) for item in written],
        )
        return [_item(kind, item, score) for item, score in zip(written, scores, strict=True)]


def _best(sight: _Sight, k: int) -> dict[str, float]:
    """The scores of the `k` best turns by id, the best first; of equal turns the newer."""
    import numpy as np

    evidence, outline, total = sight.evidence, sight.outline, sight.evidence.total
    if evidence.spread is None:
        spoken_for = (evidence.words > 0) | (evidence.session > 0) | (evidence.time > NEAR)
        total = np.where(spoken_for, total, np.float32(-np.inf))
    # By a cut rather than by places: a sort of all places takes longer than the rest.
    cut = np.partition(total, len(total) - k)[len(total) - k] if k < len(total) else -np.inf
    best = np.flatnonzero((total >= cut) & (total > -np.inf))
    best = best[np.argsort(total[best], kind="stable")][-k:][::-1]
    return {outline.ids[i]: float(total[i]) for i in best.tolist()}


def _standing(
    sight: _Sight,
    sources: Sequence[Sequence[str]],
    *,
    words: Sequence[float],
    cosines: Sequence[float | None],
) -> list[float]:
    """The scores of items that rest on turns."""
    evidence, places = sight.evidence, sight.outline.places
    weights, context = evidence.weights, evidence.context
    scores = []
    for rests_on, own_words, cosine in zip(sources, words, cosines, strict=True):
        own_meaning = 0.0
        if cosine is not None and evidence.spread is not None:
            mean, deviation = evidence.spread
            own_meaning = (cosine - mean) / deviation
        alone = weights.words * own_words + weights.meaning * own_meaning
        scores.append(
            max(
                (
                    float(context[i])
                    + weights.words * max(own_words, float(evidence.words[i]))
                    + weights.meaning * max(own_meaning, float(evidence.meaning[i]))
                    for name in rests_on
                    if (i := places.get(name)) is not None
                ),
                default=alone,
            )
        )
    return scores


def _sentences(sight: _Sight, summary: Summary) -> list[Recalled]:
    """The summary's sentences that share terms with the query."""
    wanted = content_terms(sight.query)
    known = [
        content_terms(sentence.text) | {t for t in wanted if is_beginning(t) and t in sentence.text}
        for sentence in summary.sentences
    ]
    weight = rarity(known)
    shares = [coverage(wanted, its_terms, weight) for its_terms in known]
    chosen = [(s, share) for s, share in zip(summary.sentences, shares, strict=True) if share > 0]
    scores = _standing(
        sight,
        [sentence.sources for sentence, _ in chosen],
        words=[share * sight.evidence.possible for _, share in chosen],
        cosines=[None] * len(chosen),
    )
    return [
        Recalled(
            kind=Kind.SENTENCE,
            text=sentence.text,
            score=score,
            sources=sentence.sources,
            time=summary.time,
            tokens=estimate_tokens(sentence.text),
            session=summary.session,
        )
        for (sentence, _), score in zip(chosen, scores, strict=True)
    ]


def _turn(turn: Turn, score: float) -> Recalled:
    return Recalled(
        kind=Kind.TURN,
        text=turn.text,
        score=score,
        sources=(turn.id,),
        time=turn.time,
        tokens=estimate_tokens(turn.text),
        session=turn.session,
        speaker=turn.speaker,
    )


def _item(kind: Kind, item: Event | Memo, score: float) -> Recalled:
    text = item.text if isinstance(item, Event) else f"{item.topic}: {item.summary}"
    return Recalled(
        kind=kind,
        text=text,
        score=score,
        sources=item.sources,
        time=item.time,
        tokens=estimate_tokens(text),
        session=item.session,
    )


def _within(items: Sequence[Recalled], *, k: int, budget: int | None) -> tuple[Recalled, ...]:
    """The first `k` that fit; one that is too long does not keep shorter ones out."""
    chosen: list[Recalled] = []
    left = budget
    for item in items:
        if len(chosen) == k:
            break
        if left is None or item.tokens <= left:
            chosen.append(item)
            left = None if left is None else left - item.tokens
    return tuple(chosen)
