"""What comes to mind for a query, without a model call: words and vectors, fused by rank.

Reciprocal rank fusion (Cormack et al. 2009) of BM25 over the owner's turns, the cosine of turn
vectors, and the sentences of the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, Recalled
from omoide.language import content_terms, estimate_tokens, query_terms
from omoide.memory.overlap import coverage, rarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Summary, Turn
    from omoide.ports import Embedder, Store

FUSION = 60
"""The constant of reciprocal rank fusion, as in its paper."""
DEPTH = 50
"""How far down each ranking is looked at."""


class Recall:
    """Search over one owner's turns and the sentences of their summary."""

    def __init__(self, *, store: Store, embedder: Embedder | None) -> None:
        self._store = store
        self._embedder = embedder

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
    ) -> tuple[Recalled, ...]:
        """At most `k` items said or known by `at`, best first, of at most `budget` tokens in all.

        Turns with ids in `besides` are passed over: they are in the prompt already.
        """
        scores = await self._ranked(owner, query)
        turns = await self._store.turns.read(owner, ids=list(scores))
        passed = set(besides)
        items = [
            _turn(turn, scores[turn.id])
            for turn in turns
            if turn.time <= at and turn.id not in passed
        ]
        items += _sentences(query, summary)
        items.sort(key=lambda item: -item.score)
        return _within(items, k=k, budget=budget)

    async def _ranked(self, owner: Owner, query: str) -> dict[str, float]:
        rankings = [await self._store.index.words(owner, query_terms(query), k=DEPTH)]
        if self._embedder is not None:
            vector = await self._embedder.embed([query])
            space = self._embedder.space
            rankings.append(await self._store.index.nearest(owner, space, vector, k=DEPTH))
        scores: dict[str, float] = {}
        for ranking in rankings:
            for rank, hit in enumerate(ranking):
                scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (FUSION + rank)
        return scores


def _turn(turn: Turn, score: float) -> Recalled:
    return Recalled(
        kind=Kind.TURN,
        text=turn.text,
        score=score,
        sources=(turn.id,),
        time=turn.time,
        tokens=estimate_tokens(turn.text),
        session=turn.session,
    )


def _sentences(query: str, summary: Summary) -> list[Recalled]:
    """The summary's sentences that share terms with the query, on the scale of the fusion."""
    wanted = content_terms(query)
    known = [content_terms(sentence.text) for sentence in summary.sentences]
    weight = rarity(known)
    shares = [coverage(wanted, its_terms, weight) for its_terms in known]
    order = sorted((i for i, share in enumerate(shares) if share > 0), key=lambda i: -shares[i])
    return [
        Recalled(
            kind=Kind.SENTENCE,
            text=summary.sentences[i].text,
            score=(1 + shares[i]) / (FUSION + rank),
            sources=summary.sentences[i].sources,
            time=summary.time,
            tokens=estimate_tokens(summary.sentences[i].text),
            session=summary.session,
        )
        for rank, i in enumerate(order)
    ]


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
