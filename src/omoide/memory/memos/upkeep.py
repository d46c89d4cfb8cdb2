"""Keeping memos few: what paper C leaves open ("memos only grow").

A new memo on the topic of an older one is merged with it; and when there are still more than the
limit, the two of the older half that are most alike and smallest are folded together. Both make a
new memo by rule, without a model. Nothing is deleted: the memos that went in are still read, and
every turn they cover is a source of the one that took them in.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import log2
from typing import TYPE_CHECKING

from omoide.domain import Kind, Memo
from omoide.language import content_terms, estimate_tokens, split_sentences
from omoide.memory.memos.search import own
from omoide.memory.overlap import coverage, rarity, same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Owner
    from omoide.ports import Embedder, Store


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much is kept."""

    memos: int = 64
    """Not folded, for one user."""
    sentences: int = 6
    """Of the summary of a memo that took others in."""
    tokens: int = 400
    """Of its compressed dialogue."""
    alike: float = 0.5
    """Share of their weighted terms that two memos on one topic have in common."""
    near: float = 0.8
    """Or the cosine of their vectors."""


class Upkeep:
    """Merges and retires the memos of one mechanism."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, bounds: Bounds | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._bounds = bounds or Bounds()

    async def tidy(self, owner: Owner, *, mechanism: str) -> int:
        """Merge what is alike, then fold until the limit holds; how many memos were folded.

        May be run again at any time: each fold is one transaction.
        """
        memos = [
            memo
            for memo in await self._store.memos.read(owner)
            if memo.folded_into is None and own(memo.id, mechanism)
        ]
        weight = rarity(_terms(memo) for memo in memos)
        latest = max((memo.session for memo in memos), default=0)
        folded = 0
        for new in [memo for memo in memos if memo.session == latest and memo.whole]:
            if new in memos and (older := await self._same_topic(owner, new, memos, weight)):
                await self._fold(owner, older, new, memos, weight, mechanism)
                folded += 2
        while len(memos) > self._bounds.memos:
            one, other = _least_missed(memos, weight)
            await self._fold(owner, one, other, memos, weight, mechanism)
            folded += 2
        return folded

    async def _fold(
        self,
        owner: Owner,
        one: Memo,
        other: Memo,
        memos: list[Memo],
        weight: Mapping[str, float],
        mechanism: str,
    ) -> None:
        """Put a merged memo in the place of two."""
        taken = merged(one, other, bounds=self._bounds, weight=weight, mechanism=mechanism)
        await self._store.memos.fold(owner, ids=[one.id, other.id], into=taken)
        memos[:] = sorted(
            [*(m for m in memos if m not in (one, other)), taken], key=lambda memo: memo.time
        )

    async def _same_topic(
        self, owner: Owner, new: Memo, memos: Sequence[Memo], weight: Mapping[str, float]
    ) -> Memo | None:
        """The older memo that is most alike, if any is alike enough."""
        older = {memo.id: memo for memo in memos if memo.session < new.session and memo.whole}
        if not older:
            return None
        shares = {name: _overlap(_terms(new), _terms(m), weight) for name, m in older.items()}
        best = max(shares, key=lambda name: shares[name])
        if shares[best] >= self._bounds.alike:
            return older[best]
        if self._embedder is not None:
            vector = await self._embedder.embed([f"{new.topic}: {new.summary}"])
            space = self._embedder.space
            index = self._store.index
            for hit in await index.nearest(owner, space, vector, k=4, kind=Kind.MEMO):
                if hit.id in older and hit.score >= self._bounds.near:
                    return older[hit.id]
        return None


def merged(
    one: Memo, other: Memo, *, bounds: Bounds, weight: Mapping[str, float], mechanism: str
) -> Memo:
    """One memo of two: both topics, the sentences of both summaries without repetition, and what
    tells most of both dialogues, all in order of time and within the bounds."""
    older, newer = sorted((one, other), key=lambda memo: memo.time)
    sentences = _distinct([*split_sentences(older.summary), *split_sentences(newer.summary)])
    lines = [*older.compressed.splitlines(), *newer.compressed.splitlines()]
    names = "\n".join(sorted((one.id, other.id)))
    return Memo(
        id=f"{mechanism}-{hashlib.blake2s(names.encode(), digest_size=8).hexdigest()}",
        session=newer.session,
        topic=_topics(older, newer, weight),
        summary=" ".join(_telling(sentences, weight, most=bounds.sentences)),
        sources=tuple(dict.fromkeys((*older.sources, *newer.sources))),
        time=newer.time,
        compressed="\n".join(_telling(lines, weight, tokens=bounds.tokens)),
        method=f"merged ({newer.method.removeprefix('merged (').removesuffix(')')})",
        whole=older.whole or newer.whole,
    )


def _least_missed(memos: Sequence[Memo], weight: Mapping[str, float]) -> tuple[Memo, Memo]:
    """Of the older half, the two that are most alike, small ones before large ones: so each turn
    is carried over a few times only, however long the dialogue grows."""
    half = [(memo, _terms(memo)) for memo in memos[: max(2, len(memos) // 2)]]

    def spared(pair: tuple[tuple[Memo, set[str]], tuple[Memo, set[str]]]) -> float:
        (one, its), (other, others) = pair
        size = len(one.sources) + len(other.sources)
        return _overlap(its, others, weight) - 0.15 * log2(1 + size)

    (one, _), (other, _) = max(combinations(half, 2), key=spared)
    return one, other


def _overlap(one: set[str], other: set[str], weight: Mapping[str, float]) -> float:
    """Share of the weighted terms of the smaller that the larger has."""
    smaller, larger = sorted((one, other), key=len)
    return coverage(smaller, larger, weight)


def _terms(memo: Memo) -> set[str]:
    return _terms_of(f"{memo.topic} {memo.summary}")


@lru_cache(maxsize=1024)
def _terms_of(text: str) -> set[str]:
    """Remembered, since each memo is compared with every other; not to be changed."""
    return content_terms(text)


def _topics(older: Memo, newer: Memo, weight: Mapping[str, float], most: int = 3) -> str:
    """The topics of both, the newer first, without one that says the same as another."""
    names: list[str] = []
    for name in (*newer.topic.split(" / "), *older.topic.split(" / ")):
        terms = content_terms(name)
        if name and not any(coverage(terms, content_terms(n), weight) > 0.6 for n in names):
            names.append(name)
    return " / ".join(names[:most])


def _distinct(texts: Sequence[str]) -> list[str]:
    """Without those that a later one repeats."""
    return [
        text
        for i, text in enumerate(texts)
        if not any(same(text, later) for later in texts[i + 1 :])
    ]


def _telling(
    texts: Sequence[str],
    weight: Mapping[str, float],
    *,
    most: int | None = None,
    tokens: int | None = None,
) -> list[str]:
    """Those that tell most beyond the others, as many as are allowed, in their order."""
    rarest = max(weight.values(), default=1.0)
    terms = [content_terms(text) for text in texts]
    left, told, kept = set(range(len(texts))), set[str](), set[int]()
    room = sum(map(estimate_tokens, texts)) if tokens is None else tokens
    while left and (most is None or len(kept) < most):
        worth = {
            i: sum(weight.get(term, rarest) for term in terms[i] - told) / (10 + len(terms[i]))
            for i in left
            if estimate_tokens(texts[i]) <= room
        }
        if not worth:
            break
        best = max(worth, key=lambda i: (worth[i], i))
        room -= estimate_tokens(texts[best])
        told |= terms[best]
        kept.add(best)
        left.remove(best)
    return [text for i, text in enumerate(texts) if i in kept]
