"""What memory is measured against: no memory, all of it, a person's notes, plain retrieval.

Wang et al. 2023, section 5.3 and appendix B: context-only, retrieval of k past utterances by BM25
or by vectors, and gold memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Kind, Note
from omoide.language import query_terms
from omoide.memory.mechanism import Contribution, Onlooker, Place, weighed
from omoide.memory.transcript import line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Turn
    from omoide.memory.mechanism import Moment
    from omoide.ports import Embedder, Store


class SessionOnly(Onlooker):
    """The paper's "without memory": the current session and nothing else."""

    name = "session"

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """Nothing."""
        del moment
        return ()


class ContextOnly(Onlooker):
    """All past sessions, word for word. What does not fit the budget is left out from the
    oldest on, and the reply's account of what went in says so."""

    name = "context"

    def __init__(self, store: Store) -> None:
        self._store = store

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """Every earlier turn, the newest worth most. A turn's value grows with its length, since
        the budget goes to what is worth most a token: else short turns of long ago would push out
        long ones of yesterday."""
        turns = _earlier(await self._store.turns.read(moment.owner), moment)
        told = [
            _said(turn, moment, mechanism=self.name, value=0, place=Place.MEMORY, why="all history")
            for turn in turns
        ]
        lengths = [weighed(one) for one in told]
        most = max(lengths, default=1) * (len(told) + 1)
        return tuple(
            replace(one, value=place * length / most)
            for place, (one, length) in enumerate(zip(told, lengths, strict=True), start=1)
        )


class Bm25(Onlooker):
    """The k past utterances with the best BM25 score."""

    name = "bm25"

    def __init__(self, store: Store, *, k: int = 5) -> None:
        self._store = store
        self._k = k

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """By the words of the user's input."""
        terms = query_terms(moment.text)
        hits = await self._store.index.words(moment.owner, terms, k=self._k + len(moment.session))
        scores = {hit.id: hit.score for hit in hits}
        return await _ranked(self._store, moment, scores, mechanism=self.name, k=self._k)


class Dense(Onlooker):
    """The k past utterances with the nearest vectors."""

    name = "dense"

    def __init__(self, store: Store, *, embedder: Embedder, k: int = 5) -> None:
        self._store = store
        self._embedder = embedder
        self._k = k

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """By the meaning of the user's input."""
        query = await self._embedder.embed([moment.text])
        hits = await self._store.index.nearest(
            moment.owner, self._embedder.space, query, k=self._k + len(moment.session)
        )
        scores = {hit.id: hit.score for hit in hits}
        return await _ranked(self._store, moment, scores, mechanism=self.name, k=self._k)


class Gold(Onlooker):
    """A memory that people wrote: the upper bound of the paper's ablation.

    It is read from the owner's notes of the kind `GOLD`, a sentence a line, as far as they were
    there at the moment; `gold` writes one. `memories` are sentences by user, for code that has them
    at hand.
    """

    name = "gold"

    def __init__(
        self, memories: Mapping[str, Sequence[str]] | None = None, *, store: Store | None = None
    ) -> None:
        self._memories = memories or {}
        self._store = store

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """The sentences written for this user."""
        texts = list(self._memories.get(moment.owner.user, ()))
        if self._store is not None:
            notes = await self._store.notes.read(moment.owner, kind=GOLD)
            texts += [t for n in notes if n.time <= moment.now for t in n.text.splitlines()]
        return tuple(
            Contribution(
                mechanism=self.name,
                place=Place.MEMORY,
                kind=Kind.SENTENCE,
                id=f"gold.{i}",
                text=text,
                value=1.0,
                sources=(),
                time=moment.now,
                why="written by people",
            )
            for i, text in enumerate(texts)
        )


GOLD = "gold"
"""Kind of the notes that hold what people wrote."""


async def gold(
    store: Store, owner: Owner, sentences: Sequence[str], *, key: str, at: datetime
) -> None:
    """Note what people wrote about a user, under a key such as the session's number; it counts
    from `at` on."""
    text = "\n".join(" ".join(sentence.split()) for sentence in sentences)
    await store.notes.put(owner, Note(kind=GOLD, key=key, text=text, time=at))


def _earlier(turns: Sequence[Turn], moment: Moment) -> list[Turn]:
    """The turns of past sessions, as far as they were said by then."""
    current = {turn.id for turn in moment.session}
    return [turn for turn in turns if turn.id not in current and turn.time <= moment.now]


async def _ranked(
    store: Store, moment: Moment, scores: Mapping[str, float], *, mechanism: str, k: int
) -> tuple[Contribution, ...]:
    turns = _earlier(await store.turns.read(moment.owner, ids=list(scores)), moment)
    best = sorted(turns, key=lambda turn: -scores[turn.id])[:k]
    return tuple(
        _said(
            turn,
            moment,
            mechanism=mechanism,
            value=1 / (rank + 1),
            place=Place.RECALLED,
            why=f"{mechanism} rank {rank}, score {scores[turn.id]:.3f}",
            score=scores[turn.id],
        )
        for rank, turn in enumerate(best, start=1)
    )


def _said(
    turn: Turn,
    moment: Moment,
    *,
    mechanism: str,
    value: float,
    place: Place,
    why: str,
    score: float = 0.0,
) -> Contribution:
    return Contribution(
        mechanism=mechanism,
        place=place,
        kind=Kind.TURN,
        id=turn.id,
        text=line(turn, moment.language),
        value=value,
        sources=(turn.id,),
        time=turn.time,
        why=why,
        score=score,
    )
