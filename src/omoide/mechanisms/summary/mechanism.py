"""The recursive summary of paper A as a mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from omoide.domain import MemoryKind, Origin, Speaker, empty_summary
from omoide.errors import BadReply, StaleVersion
from omoide.language import content_terms, pack
from omoide.language.asking import asks_about_oneself
from omoide.mechanisms.base import Contribution, MemoryPart, PromptPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Summary
    from omoide.mechanisms.base import ReplyRequest, SessionToDigest
    from omoide.mechanisms.summary.summariser import Summariser
    from omoide.ports import Embedder, Store, Vectors


NEAR = 5
"""How many sentences are repeated next to the user's message."""
CACHED = 2000
"""Texts whose vectors are cached: a memory changes only when a session ends."""
MAX_EMBEDDED_CHARS = 1000
"""Characters of a turn that are embedded."""


class ShownSentence(NamedTuple):
    """A sentence that goes into a prompt, its number, and the part that it belongs to."""

    number: int
    sentence: Sentence
    part: MemoryPart


def part_of(sentence: Sentence) -> MemoryPart:
    """The part of the memory that a sentence belongs to, by whom it is about."""
    return MemoryPart.ASSISTANT if sentence.about is Speaker.ASSISTANT else MemoryPart.USER


class SummaryInPrompt:
    """The newest summary in every prompt, however it is written."""

    name = "summary"

    def __init__(self, *, store: Store, embedder: Embedder | None, near: int = NEAR) -> None:
        """The `near` sentences nearest to the message are repeated next to it."""
        self._store = store
        self._near = near
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """Every sentence of the newest memory as of `now`. For a small model, which overlooks what
        is far above, the sentences nearest to the user's message are repeated next to it."""
        summary = await self._store.summaries.find(request.owner, at=request.now)
        if summary is None:
            return ()
        shown = await self._shown(request, summary)
        all_sentences = [
            Contribution(
                mechanism=self.name,
                place=PromptPlace.MEMORY,
                kind=MemoryKind.SENTENCE,
                id=f"{summary.number}.{i}",
                text=sentence.text,
                value=1.0,
                sources=sentence.sources,
                time=summary.time,
                why=f"in memory version {summary.number}",
                part=part,
            )
            for i, sentence, part in shown
        ]
        nearest = [
            replace(
                all_sentences[i],
                place=PromptPlace.RECALLED,
                id=f"{all_sentences[i].id}.near",
                value=0.5,
                score=cosine,
                why=f"memory nearest to what was said, cosine {cosine:.2f}",
            )
            for i, cosine in await self._nearest(request, [sentence for _, sentence, _ in shown])
        ]
        return (*all_sentences, *nearest)

    async def _shown(self, request: ReplyRequest, summary: Summary) -> list[ShownSentence]:
        """The sentences that go into the prompt: all of them."""
        del request
        return [
            ShownSentence(number, sentence, part_of(sentence))
            for number, sentence in enumerate(summary.sentences, start=1)
        ]

    async def _nearest(
        self, request: ReplyRequest, sentences: Sequence[Sentence]
    ) -> list[tuple[int, float]]:
        """Index and cosine of the sentences nearest to the message, best first. The cosine
        is the mean of the sentence's and its supporting turn's: people ask in their own words,
        which the memory has rephrased."""
        if self._embedder is None or not sentences or not self._near:
            return []
        sources = {s.sources[0] for s in sentences if s.sources}
        turns = await self._store.turns.read(request.owner, ids=sorted(sources))
        turn_texts = {turn.id: turn.text[:MAX_EMBEDDED_CHARS] for turn in turns}
        pairs = [
            (s.text, turn_texts.get(s.sources[0], s.text) if s.sources else s.text)
            for s in sentences
        ]
        wanted = {text for pair in pairs for text in pair}
        known = {text: self._vectors[text] for text in wanted if text in self._vectors}
        unknown = sorted(wanted - known.keys())
        vectors = await self._embedder.embed([request.text[:MAX_EMBEDDED_CHARS], *unknown])
        known.update(zip(unknown, vectors[1:], strict=True))
        self._vectors = known if len(self._vectors) > CACHED else {**self._vectors, **known}
        cosines = [
            (i, float((known[text] + known[words]) @ vectors[0]) / 2)
            for i, (text, words) in enumerate(pairs)
        ]
        terms, rules = set(content_terms(request.text)), pack(request.language)
        asks = rules.questions.asks.search(request.text)
        own = asks_about_oneself(request.text, request.language)
        if not own and (not asks or len(terms) <= rules.note.brief):  # small talk: shared terms
            cosines = [
                (i, cosine)
                for i, cosine in cosines
                if not terms.isdisjoint(content_terms(" ".join(pairs[i])))
            ]
        return sorted(cosines, key=lambda pair: -pair[1])[: self._near]

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Do nothing: use does not change the summary."""


class SummaryMechanism(SummaryInPrompt):
    """M_N in every prompt; after every session a model rewrites it as M_{N+1}."""

    def __init__(
        self,
        *,
        store: Store,
        iterator: Summariser,
        embedder: Embedder | None,
        near: int = NEAR,
    ) -> None:
        super().__init__(store=store, embedder=embedder, near=near)
        self.iterator = iterator

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Commit M_i, or keep the old memory and store the rejected answers."""
        owner, number = to_digest.owner, to_digest.session.number
        history = await self._store.summaries.history(owner)
        if any(v.session == number and v.origin is Origin.DIGEST for v in history):
            return
        old = history[-1] if history else empty_summary(to_digest.at, to_digest.language)
        result = await self.iterator.digest(
            old=old,
            turns=to_digest.turns,
            at=to_digest.at,
            ask=to_digest.ask,
            cited=await self._store.turns.read(owner, ids=old.sources),
        )
        if not to_digest.is_of(await self._store.turns.read(owner, session=number)):
            raise StaleVersion(f"session {number} changed while it was digested: turns were erased")
        for rejected in result.rejected:
            await self._store.summaries.add_rejected(owner, rejected)
        if result.summary is None:
            why = " ".join(result.rejected[-1].problems)
            raise BadReply(
                f"{self.iterator.model.name} gave no usable memory of session {number} in "
                f"{len(result.rejected)} tries: {why} The old memory is kept."
            )
        await self._store.summaries.commit(owner, result.summary)
