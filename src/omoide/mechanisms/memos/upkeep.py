"""Keeps the number of memos limited, which paper C leaves open ("memos only grow").

A new memo on the topic of an older one is merged with it. If there are still more memos than the
limit, the two of the older half that are most similar and smallest are folded. Both make a new
memo by rule, without a model. Nothing is deleted: folded memos can still be read, and the new memo
has all their sources.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import log2
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, rarity, same_terms
from omoide.domain import Memo, MemoryKind
from omoide.language import content_terms, estimate_tokens, split_sentences
from omoide.mechanisms.memos.search import written_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Owner
    from omoide.ports import Embedder, Store


@dataclass(frozen=True, kw_only=True)
class MemoLimits:
    """Limits for merging and folding memos."""

    memos: int = 64
    """Maximum number of unfolded memos of one user."""
    sentences: int = 6
    """Maximum number of sentences in the summary of a merged memo."""
    tokens: int = 400
    """Maximum number of tokens of its compressed dialogue."""
    alike: float = 0.5
    """Share of weighted terms from which two memos are on the same topic."""
    near: float = 0.8
    """Cosine from which two memos are on the same topic."""
    folds: int = 200
    """Most folds at a time: of a time in which nothing tidied them there may be a thousand."""
    compared: int = 64
    """Most of the oldest memos of which the two to be folded are chosen."""


class MemoUpkeep:
    """Merges and folds the memos of one mechanism."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, bounds: MemoLimits | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._bounds = bounds or MemoLimits()

    async def tidy(self, owner: Owner, *, mechanism: str) -> int:
        """Merge similar memos, then fold until the limit holds. Returns how many were folded.

        Can be run again at any time: each fold is one transaction.
        """
        memos = [
            memo
            for memo in await self._store.memos.read(owner)
            if memo.folded_into is None and written_by(memo.id, mechanism)
        ]
        weight = rarity(_terms(memo) for memo in memos)
        latest = max((memo.session for memo in memos), default=0)
        folded = 0
        for new in [memo for memo in memos if memo.session == latest and memo.whole]:
            if new in memos and (older := await self._same_topic(owner, new, memos, weight)):
                await self._fold(owner, older, new, memos, weight, mechanism)
                folded += 2
        for _ in range(min(len(memos) - self._bounds.memos, self._bounds.folds)):
            one, other = _most_expendable(memos[: 2 * self._bounds.compared], weight)
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
        """Replace two memos by a merged one."""
        merged = merged_memo(one, other, bounds=self._bounds, weight=weight, mechanism=mechanism)
        await self._store.memos.fold(owner, ids=[one.id, other.id], into=merged)
        memos[:] = sorted(
            [*(m for m in memos if m not in (one, other)), merged], key=lambda memo: memo.time
        )

    async def _same_topic(
        self, owner: Owner, new: Memo, memos: Sequence[Memo], weight: Mapping[str, float]
    ) -> Memo | None:
        """The most similar older memo, if it is similar enough."""
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
            for hit in await index.nearest(owner, space, vector, k=4, kind=MemoryKind.MEMO):
                if hit.id in older and hit.score >= self._bounds.near:
                    return older[hit.id]
        return None


def merged_memo(
    one: Memo, other: Memo, *, bounds: MemoLimits, weight: Mapping[str, float], mechanism: str
) -> Memo:
    """Merge two memos: both topics, the sentences of both summaries without repetition, and the
    most informative lines of both dialogues, in order of time and within the limits."""
    older, newer = sorted((one, other), key=lambda memo: memo.time)
    sentences = _distinct([*split_sentences(older.summary), *split_sentences(newer.summary)])
    lines = [*older.compressed.splitlines(), *newer.compressed.splitlines()]
    names = "\n".join(sorted((one.id, other.id)))
    return Memo(
        id=f"{mechanism}-{hashlib.blake2s(names.encode(), digest_size=8).hexdigest()}",
        session=newer.session,
        topic=_topics(older, newer, weight),
        summary=" ".join(_most_informative(sentences, weight, most=bounds.sentences)),
        sources=tuple(dict.fromkeys((*older.sources, *newer.sources))),
        time=newer.time,
        compressed="\n".join(_most_informative(lines, weight, tokens=bounds.tokens)),
        method=f"merged ({newer.method.removeprefix('merged (').removesuffix(')')})",
        whole=older.whole or newer.whole,
    )


def _most_expendable(memos: Sequence[Memo], weight: Mapping[str, float]) -> tuple[Memo, Memo]:
    """The two most similar memos of the older half, with a preference for small ones. So each turn
    is folded only a few times, however long the dialogue grows."""
    half = [(memo, _terms(memo)) for memo in memos[: max(2, len(memos) // 2)]]

    def score(pair: tuple[tuple[Memo, set[str]], tuple[Memo, set[str]]]) -> float:
        (one, its), (other, others) = pair
        size = len(one.sources) + len(other.sources)
        return _overlap(its, others, weight) - 0.15 * log2(1 + size)

    (one, _), (other, _) = max(combinations(half, 2), key=score)
    return one, other


def _overlap(one: set[str], other: set[str], weight: Mapping[str, float]) -> float:
    """Share of the smaller set's weighted terms that the larger has."""
    smaller, larger = sorted((one, other), key=len)
    return coverage(smaller, larger, weight)


def _terms(memo: Memo) -> set[str]:
    return _terms_of(f"{memo.topic} {memo.summary}")


@lru_cache(maxsize=1024)
def _terms_of(text: str) -> set[str]:
    """Cached, since each memo is compared with every other. Do not modify the result."""
    return content_terms(text)


def _topics(older: Memo, newer: Memo, weight: Mapping[str, float], most: int = 3) -> str:
    """The topics of both, the newer first, without near-duplicates."""
    names: list[str] = []
    for name in (*newer.topic.split(" / "), *older.topic.split(" / ")):
        terms = content_terms(name)
        if name and not any(coverage(terms, content_terms(n), weight) > 0.6 for n in names):
            names.append(name)
    return " / ".join(names[:most])


def _distinct(texts: Sequence[str]) -> list[str]:
    """The texts without those that a later one repeats."""
    return [
        text
        for i, text in enumerate(texts)
        if not any(same_terms(text, later) for later in texts[i + 1 :])
    ]


def _most_informative(
    texts: Sequence[str],
    weight: Mapping[str, float],
    *,
    most: int | None = None,
    tokens: int | None = None,
) -> list[str]:
    """The texts that add most to the others, as many as allowed, in their order."""
    rarest = max(weight.values(), default=1.0)
    terms = [content_terms(text) for text in texts]
    left, covered, kept = set(range(len(texts))), set[str](), set[int]()
    room = sum(map(estimate_tokens, texts)) if tokens is None else tokens
    while left and (most is None or len(kept) < most):
        worth = {
            i: sum(weight.get(term, rarest) for term in terms[i] - covered) / (10 + len(terms[i]))
            for i in left
            if estimate_tokens(texts[i]) <= room
        }
        if not worth:
            break
        best = max(worth, key=lambda i: (worth[i], i))
        room -= estimate_tokens(texts[best])
        covered |= terms[best]
        kept.add(best)
        left.remove(best)
    return [text for i, text in enumerate(texts) if i in kept]
