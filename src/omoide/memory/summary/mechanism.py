"""The recursive summary as a mechanism: paper A behind the shape that all mechanisms have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Kind, Origin, nothing
from omoide.errors import BadReply, StaleVersion
from omoide.language import content_terms
from omoide.memory.mechanism import Contribution, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence
    from omoide.memory.mechanism import Ended, Moment
    from omoide.memory.summary.iterator import Iterator
    from omoide.ports import Embedder, Store, Vectors


NEAR = 5
"""Sentences repeated beside the user's message."""
BRIEF = {"en": 2, "zh": 5, "ja": 5, "ko": 4, "vi": 8}
"""Content terms, by language, up to which a message is small talk: it brings to mind only what it
names. An old friend does not answer "Good night!" with all that he knows."""
CACHED = 2000
"""Texts whose vectors are kept: a memory changes only when a session ends."""
LONGEST = 1000
"""Characters of a turn that its nearness goes by."""


class SummaryMechanism:
    """M_N in every prompt, M_{N+1} after every session."""

    name = "summary"

    def __init__(self, *, store: Store, iterator: Iterator, embedder: Embedder | None) -> None:
        self._store = store
        self.iterator = iterator
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    async def digest(self, ended: Ended) -> None:
        """Commit M_i, or keep the old memory and lay the answers aside."""
        owner, number = ended.owner, ended.session.number
        history = await self._store.summaries.history(owner)
        if any(v.session == number and v.origin is Origin.DIGEST for v in history):
            return
        old = history[-1] if history else nothing(ended.at, ended.language)
        result = await self.iterator.digest(
            old=old,
            turns=ended.turns,
            at=ended.at,
            ask=ended.ask,
            cited=await self._store.turns.read(owner, ids=old.sources),
        )
        if await self._store.turns.read(owner, session=number) != ended.turns:
            raise StaleVersion(f"session {number} was erased in part meanwhile")
        for rejected in result.rejected:
            await self._store.summaries.set_aside(owner, rejected)
        if result.summary is None:
            why = " ".join(result.rejected[-1].problems)
            raise BadReply(
                f"{self.iterator.model.name} gave no usable memory of session {number} in "
                f"{len(result.rejected)} tries: {why} The old memory stands."
            )
        await self._store.summaries.commit(owner, result.summary)

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """Every sentence of the newest memory known at the moment; and, once more, with the
        user's message, those nearest to it: a small model overlooks what stands far above."""
        summary = await self._store.summaries.find(moment.owner, at=moment.now)
        if summary is None:
            return ()
        standing = [
            Contribution(
                mechanism=self.name,
                place=Place.MEMORY,
                kind=Kind.SENTENCE,
                id=f"{summary.number}.{i}",
                text=sentence.text,
                value=1.0,
                sources=sentence.sources,
                time=summary.time,
                why=f"in memory version {summary.number}",
            )
            for i, sentence in enumerate(summary.sentences, start=1)
        ]
        near = [
            replace(
                standing[i],
                place=Place.RECALLED,
                id=f"{standing[i].id}.near",
                value=0.5,
                score=cosine,
                why=f"memory nearest to what was said, cosine {cosine:.2f}",
            )
            for i, cosine in await self._nearest(moment, summary.sentences)
        ]
        return (*standing, *near)

    async def _nearest(
        self, moment: Moment, sentences: Sequence[Sentence]
    ) -> list[tuple[int, float]]:
        """The few sentences nearest to what was said, best first, by place and cosine. A sentence
        is as near as it and the words it rests on are on average: people ask in their own words,
        and the memory has written theirs anew."""
        if self._embedder is None or not sentences:
            return []
        sources = {s.sources[0] for s in sentences if s.sources}
        turns = await self._store.turns.read(moment.owner, ids=sorted(sources))
        said = {turn.id: turn.text[:LONGEST] for turn in turns}
        pairs = [
            (s.text, said.get(s.sources[0], s.text) if s.sources else s.text) for s in sentences
        ]
        wanted = {text for pair in pairs for text in pair}
        known = {text: self._vectors[text] for text in wanted if text in self._vectors}
        unknown = sorted(wanted - known.keys())
        vectors = await self._embedder.embed([moment.text[:LONGEST], *unknown])
        known.update(zip(unknown, vectors[1:], strict=True))
        self._vectors = known if len(self._vectors) > CACHED else {**self._vectors, **known}
        cosines = [
            (i, float((known[text] + known[words]) @ vectors[0]) / 2)
            for i, (text, words) in enumerate(pairs)
        ]
        terms = set(content_terms(moment.text))
        if len(terms) <= BRIEF.get(moment.language, 2):
            cosines = [
                (i, cosine)
                for i, cosine in cosines
                if not terms.isdisjoint(content_terms(" ".join(pairs[i])))
            ]
        return sorted(cosines, key=lambda pair: -pair[1])[:NEAR]

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """A summary is the same whether it was used or not."""
