"""Finds memos: by search, without a model call, or by a model's choice, as in paper C, task 2.

Search takes candidates by words and by vectors and ranks them by cosine plus half the share of
the query's terms that a memo has. On LoCoMo this puts a memo with the evidence among the first
three for 84 % of the questions; reciprocal rank fusion does for 77 %
(docs/experiments/*-memo-compression.md). As a similarity and not a rank, it also allows NOTO: below
a threshold nothing is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.claims.overlap import coverage, rarity
from omoide.domain import MemoryKind
from omoide.errors import ModelError
from omoide.language import content_terms, estimate_tokens, query_terms
from omoide.mechanisms.memos.reading import read_choice
from omoide.mechanisms.reply_forms import latest_that_fit
from omoide.ports import Request, Skill, query_vectors
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Memo
    from omoide.mechanisms.base import Ask, ReplyRequest
    from omoide.ports import ChatModel, Embedder, Hit, Store

DEPTH = 64
"""Number of candidates of each ranking; equal to the limit of unfolded memos."""
MESSAGE_CHARS = 2000
"""Characters of the user's message that a model sees when it chooses."""
LISTED_CHARS = 240
"""Characters of a memo's topic and summary that it sees."""
FUSION = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""
WORDS = 0.5
"""Weight of the share of terms relative to the cosine; 0.3 to 0.8 work about as well."""
QUESTION_THRESHOLD = {"use-multilingual": 0.58}
"""By name of the embedder's space: the similarity from which a memo is related to a question.

Fitted on five LoCoMo dialogues so that 10 % of questions about somebody else's life find
anything, with names removed. On the other five 8 % do, and 64 % of the questions about one's own
life."""
STATEMENT_DISCOUNT = 0.10
"""How much lower the threshold is for statements: they have more words, and a memo has fewer of
them. On 40 dialogues of MSC's validation set 10 % of what others say then finds a memo, and 61 % of
what the same two say in their next session; with the threshold of questions it was 2 % and 39 %."""
WORD_THRESHOLD = 0.8
"""The share of terms used as threshold for embedders that were not measured: on the same dialogues
9 % and 46 %."""


@dataclass(frozen=True, kw_only=True)
class FoundMemo:
    """A memo related to the user's message."""

    memo: Memo
    likeness: float
    why: str


class MemoRetrieval(Protocol):
    """A way of finding memos."""

    async def __call__(
        self, request: ReplyRequest, *, mechanism: str, k: int | None
    ) -> tuple[FoundMemo, ...]:
        """At most `k` memos of the mechanism (any number if None) that are related to the request,
        best first. An empty result is the paper's NOTO."""


class MemoSearch:
    """Searches the memos that are not folded, by words and vectors."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, least: float | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._least = least

    async def __call__(
        self, request: ReplyRequest, *, mechanism: str, k: int | None
    ) -> tuple[FoundMemo, ...]:
        """The memos above the threshold."""
        ranked = await self.ranked(request, mechanism=mechanism)
        least = self._threshold(request.text)
        return tuple(found for found in ranked if found.likeness >= least)[:k]

    async def ranked(self, request: ReplyRequest, *, mechanism: str) -> tuple[FoundMemo, ...]:
        """All candidates, best first, whether related or not."""
        owner, index = request.owner, self._store.index
        by_words = await index.search_words(
            owner, query_terms(request.text), k=DEPTH, kind=MemoryKind.MEMO
        )
        by_vector: Sequence[Hit] = ()
        if self._embedder is not None:
            query = await query_vectors(self._embedder, request.text)
            space = self._embedder.space
            by_vector = await index.nearest(owner, space, query, k=DEPTH, kind=MemoryKind.MEMO)
        ids = dict.fromkeys(hit.id for hit in (*by_words, *by_vector))
        memos = await self._store.memos.read(
            owner, ids=[name for name in ids if written_by(name, mechanism)]
        )
        memos = tuple(memo for memo in memos if memo.time <= request.now)
        scores = self._scores(request.text, memos, by_words=by_words, by_vector=by_vector)
        order = sorted(
            memos, key=lambda memo: -scores[memo.id][1] * freshness(memo.time, request.now)
        )
        return tuple(
            FoundMemo(
                memo=memo, likeness=scores[memo.id][0], why=f"likeness {scores[memo.id][0]:.2f}"
            )
            for memo in order
        )

    def _threshold(self, text: str) -> float:
        if self._least is not None:
            return self._least
        if self._embedder is None or self._embedder.space.name not in QUESTION_THRESHOLD:
            return WORD_THRESHOLD
        asked = text.rstrip().endswith(("?", "？"))
        return QUESTION_THRESHOLD[self._embedder.space.name] - (
            0.0 if asked else STATEMENT_DISCOUNT
        )

    def _scores(
        self,
        query: str,
        memos: Sequence[Memo],
        *,
        by_words: Sequence[Hit],
        by_vector: Sequence[Hit],
    ) -> Mapping[str, tuple[float, float]]:
        """Similarity and ranking score of each memo. Absolute cosines of an unmeasured embedder
        mean nothing: then only the words decide what is related, and the ranks are fused."""
        wanted = content_terms(query)
        terms_by_id = {memo.id: content_terms(memo_text(memo)) for memo in memos}
        weight = rarity(terms_by_id.values())
        shares = {name: coverage(wanted, terms, weight) for name, terms in terms_by_id.items()}
        if self._embedder is not None and self._embedder.space.name in QUESTION_THRESHOLD:
            cosine = {hit.id: hit.score for hit in by_vector}
            similarity = {name: cosine.get(name, 0.0) + WORDS * shares[name] for name in shares}
            return {name: (similarity[name], similarity[name]) for name in shares}
        fused = dict.fromkeys(shares, 0.0)
        for ranking in (by_words, by_vector):
            for rank, hit in enumerate(ranking):
                if hit.id in fused:
                    fused[hit.id] += 1 / (FUSION + rank)
        return {name: (shares[name], fused[name]) for name in shares}


class MemoChoice:
    """The paper's method: a model sees every topic and summary and says which are related.

    `asker` returns the function that asks the model on behalf of a request, so that the call is in
    the ledger. If the answer is unreadable or the model unavailable, it falls back to search. If
    the memos do not fit the window, only those that search ranks best are shown.
    """

    def __init__(
        self,
        *,
        store: Store,
        model: ChatModel,
        asker: Callable[[ReplyRequest], Ask],
        otherwise: MemoSearch,
        room: int | None = None,
    ) -> None:
        self._store = store
        self._model = model
        self._asker = asker
        self._otherwise = otherwise
        self._room = room

    async def __call__(
        self, request: ReplyRequest, *, mechanism: str, k: int | None
    ) -> tuple[FoundMemo, ...]:
        """The memos that the model chose, in its order."""
        memos = [
            memo
            for memo in await self._store.memos.read(request.owner)
            if memo.folded_into is None
            and written_by(memo.id, mechanism)
            and memo.time <= request.now
            and not covered_by(memo, request, room=self._room)
        ]
        if not memos:
            return ()
        shown = await self._fitting(memos, request, mechanism)
        choice = choice_request(shown, request, limit=len(shown) if k is None else k)
        try:
            completion = await self._asker(request)(choice)
            chosen = read_choice(completion.text, count=len(shown))
        except ModelError:
            return await self._otherwise(request, mechanism=mechanism, k=k)
        why = f"chosen by {completion.by or self._model.name}"
        return tuple(
            FoundMemo(memo=shown[number - 1], likeness=0.9 / rank, why=why)
            for rank, number in enumerate(chosen[:k], start=1)
        )

    async def _fitting(
        self, memos: Sequence[Memo], request: ReplyRequest, mechanism: str
    ) -> Sequence[Memo]:
        """All memos if they fit; otherwise those that search ranks best, then the newest."""
        room = self._model.window // 2 - estimate_tokens(request.text)
        cost = {memo.id: estimate_tokens(_listed(memo)) + 6 for memo in memos}
        if sum(cost.values()) <= room:
            return memos
        ranked = await self._otherwise.ranked(request, mechanism=mechanism)
        order = dict.fromkeys([*(found.memo.id for found in ranked), *(m.id for m in memos[::-1])])
        kept: set[str] = set()
        for name in order:
            if name in cost and cost[name] <= room:
                room -= cost[name]
                kept.add(name)
        return [memo for memo in memos if memo.id in kept]


def written_by(name: str, mechanism: str) -> bool:
    """Whether the memo with this id was written by the mechanism of that name."""
    return name.startswith(f"{mechanism}-")


def covered_by(memo: Memo, request: ReplyRequest, *, room: int | None = None) -> bool:
    """Whether everything that the memo covers is already in the prompt, which holds the latest
    `room` tokens of the session."""
    shown = request.session if room is None else latest_that_fit(request.session, room)
    return set(memo.sources) <= {turn.id for turn in shown}


def memo_text(memo: Memo) -> str:
    """All the words of a memo."""
    return f"{memo.topic}\n{memo.summary}\n{memo.compressed}"


def freshness(time: datetime, now: datetime) -> float:
    """Factor for an old memo's similarity: 1 when new, 0.9 after a year, never below 0.8."""
    years = max((now - time).total_seconds(), 0.0) / (365.25 * 86_400)
    return float(0.8 + 0.2 * 0.5**years)


def choice_request(memos: Sequence[Memo], request: ReplyRequest, *, limit: int) -> Request:
    """The request that asks which memos, at most `limit`, are related to the message."""
    listed = "\n".join(f"{i}. {_listed(memo)}" for i, memo in enumerate(memos, start=1))
    text = " ".join(request.text.split())[:MESSAGE_CHARS]
    prompt = render("memo_choose", request.language, limit=str(limit), memos=listed, text=text)
    number = {"type": "integer", "minimum": 0, "maximum": len(memos)}
    numbers = {"type": "array", "items": number, "minItems": 1, "maxItems": limit}
    return Request(
        messages=prompt.messages,
        max_tokens=20 + 8 * limit,
        schema={
            "type": "object",
            "properties": {"numbers": numbers},
            "required": ["numbers"],
            "additionalProperties": False,
        },
        skill=Skill.CHOICE,
    )


def _listed(memo: Memo, max_chars: int = LISTED_CHARS) -> str:
    """Topic and summary on one line, truncated if too long."""
    text = " ".join(f"{memo.topic}: {memo.summary}".removeprefix(": ").split())
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"
