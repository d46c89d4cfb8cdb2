"""Plain baselines: no memory, the full history, notes written by people, simple retrieval.

Wang et al. 2023, section 5.3 and appendix B: context-only, retrieval of k past utterances by BM25
or by vectors, and gold memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, Note
from omoide.language import query_terms
from omoide.mechanisms.base import Contribution, PromptPlace, ReadOnlyMechanism, effective_tokens
from omoide.ports import query_vectors
from omoide.prompts.transcript import line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Turn
    from omoide.mechanisms.base import ReplyRequest
    from omoide.ports import Embedder, Store


class SessionOnly(ReadOnlyMechanism):
    """The paper's "without memory": the current session and nothing else."""

    name = "session"

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """Return nothing."""
        del request
        return ()


class FullContext(ReadOnlyMechanism):
    """All past sessions, word for word. If the budget is too small, the oldest turns are dropped,
    and the reply's context shows what was used."""

    name = "context"

    def __init__(self, store: Store) -> None:
        self._store = store

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """Every earlier turn, with the highest value for the newest. The value grows with the
        turn's length, since the budget is filled by value per token: otherwise short old turns
        would displace long recent ones."""
        turns = _earlier(await self._store.turns.read(request.owner), request)
        past_turns = [
            _contribution(
                turn,
                request,
                mechanism=self.name,
                value=0,
                place=PromptPlace.MEMORY,
                why="all history",
            )
            for turn in turns
        ]
        lengths = [effective_tokens(turn) for turn in past_turns]
        most = max(lengths, default=1) * (len(past_turns) + 1)
        return tuple(
            replace(turn, value=rank * length / most)
            for rank, (turn, length) in enumerate(zip(past_turns, lengths, strict=True), start=1)
        )


class Bm25Baseline(ReadOnlyMechanism):
    """The k past utterances with the best BM25 score."""

    name = "bm25"

    def __init__(self, store: Store, *, k: int = 5) -> None:
        self._store = store
        self._k = k

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The past utterances that match the user's message by words."""
        terms = query_terms(request.text)
        hits = await self._store.index.search_words(
            request.owner, terms, k=self._k + len(request.not_recalled)
        )
        scores = {hit.id: hit.score for hit in hits}
        return await _ranked(self._store, request, scores, mechanism=self.name, k=self._k)


class VectorBaseline(ReadOnlyMechanism):
    """The k past utterances with the nearest vectors."""

    name = "dense"

    def __init__(self, store: Store, *, embedder: Embedder, k: int = 5) -> None:
        self._store = store
        self._embedder = embedder
        self._k = k

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The past utterances that match the user's message by meaning."""
        query = await query_vectors(self._embedder, request.text)
        hits = await self._store.index.nearest(
            request.owner, self._embedder.space, query, k=self._k + len(request.not_recalled)
        )
        scores = {hit.id: hit.score for hit in hits}
        return await _ranked(self._store, request, scores, mechanism=self.name, k=self._k)


class GoldMemory(ReadOnlyMechanism):
    """A memory that people wrote: the upper bound of the paper's ablation.

    It is read from the owner's notes of the kind `GOLD` up to now, one sentence per line;
    `add_gold` writes them. Code may pass `memories` instead: sentences by user.
    """

    name = "gold"

    def __init__(
        self, memories: Mapping[str, Sequence[str]] | None = None, *, store: Store | None = None
    ) -> None:
        self._memories = memories or {}
        self._store = store

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """The sentences written for this user."""
        texts = list(self._memories.get(request.owner.user, ()))
        if self._store is not None:
            notes = await self._store.notes.read(request.owner, kind=GOLD)
            texts += [t for n in notes if n.time <= request.now for t in n.text.splitlines()]
        return tuple(
            Contribution(
                mechanism=self.name,
                place=PromptPlace.MEMORY,
                kind=MemoryKind.SENTENCE,
                id=f"gold.{i}",
                text=text,
                value=1.0,
                sources=(),
                time=request.now,
                why="written by people",
            )
            for i, text in enumerate(texts)
        )


GOLD = "gold"
"""Kind of the notes that people wrote."""


async def add_gold(
    store: Store, owner: Owner, sentences: Sequence[str], *, key: str, at: datetime
) -> None:
    """Store what people wrote about a user, under a key such as the session's number. It is used
    from `at` on."""
    text = "\n".join(" ".join(sentence.split()) for sentence in sentences)
    await store.notes.put(owner, Note(kind=GOLD, key=key, text=text, time=at))


def _earlier(turns: Sequence[Turn], request: ReplyRequest) -> list[Turn]:
    """The turns of past sessions up to the time of the request."""
    current = request.not_recalled
    return [turn for turn in turns if turn.id not in current and turn.time <= request.now]


async def _ranked(
    store: Store, request: ReplyRequest, scores: Mapping[str, float], *, mechanism: str, k: int
) -> tuple[Contribution, ...]:
    turns = _earlier(await store.turns.read(request.owner, ids=list(scores)), request)
    best = sorted(turns, key=lambda turn: -scores[turn.id])[:k]
    return tuple(
        _contribution(
            turn,
            request,
            mechanism=mechanism,
            value=1 / (rank + 1),
            place=PromptPlace.RECALLED,
            why=f"{mechanism} rank {rank}, score {scores[turn.id]:.3f}",
            score=scores[turn.id],
        )
        for rank, turn in enumerate(best, start=1)
    )


def _contribution(
    turn: Turn,
    request: ReplyRequest,
    *,
    mechanism: str,
    value: float,
    place: PromptPlace,
    why: str,
    score: float = 0.0,
) -> Contribution:
    return Contribution(
        mechanism=mechanism,
        place=place,
        kind=MemoryKind.TURN,
        id=turn.id,
        text=line(turn, request.language),
        value=value,
        sources=(turn.id,),
        time=turn.time,
        why=why,
        score=score,
    )
