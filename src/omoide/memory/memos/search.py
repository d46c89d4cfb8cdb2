"""Finding memos: by search, without a model call; or by a model's choice, as in paper C, task 2.

Search takes candidates by words and by vectors and orders them by cosine plus half the share of
the query's terms that a memo has. On LoCoMo that puts a memo with the evidence among the first
three for 84 % of the questions, reciprocal rank fusion for 77 % (docs/LOG.md). Being a likeness
and not a rank, it also allows NOTO: below a threshold nothing is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Kind
from omoide.errors import ModelError
from omoide.language import content_terms, estimate_tokens, query_terms
from omoide.memory.memos.reading import read_choice
from omoide.memory.overlap import coverage, rarity
from omoide.memory.replies import latest
from omoide.ports import Request, Skill
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Memo
    from omoide.memory.mechanism import Ask, Moment
    from omoide.ports import ChatModel, Embedder, Hit, Store

DEPTH = 64
"""How many candidates each ranking gives; as many as are kept unfolded."""
FUSION = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009)."""
WORDS = 0.5
"""Weight of the share of terms beside the cosine; 0.3 to 0.8 do about as well."""
LEAST = {"use-multilingual": 0.58}
"""By the name of an embedder's space: the likeness from which a memo is related to a question.

Fitted on five LoCoMo dialogues so that 10 % of questions about somebody else's life find
anything, names taken out; on the other five 8 % do, and 64 % of the questions about one's own."""
SAID = 0.10
"""How much less is enough for what is no question: it has more words, of which a memo has fewer. On
40 dialogues of MSC's valid part 10 % of what others say then finds a memo, and 61 % of what
the same two say at their next meeting; with the threshold of questions it was 2 % and 39 %."""
LEAST_WORDS = 0.8
"""The share of terms that takes its place where no vectors were measured: on the same dialogues
9 % and 46 %."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A memo that has to do with what was said."""

    memo: Memo
    likeness: float
    why: str


class Retrieval(Protocol):
    """A way of finding memos."""

    async def __call__(self, moment: Moment, *, mechanism: str, k: int) -> tuple[Found, ...]:
        """At most `k` memos of the mechanism that are related to the moment, best first; none is
        the NOTO of the paper."""


class MemoSearch:
    """Words and vectors over the memos that are not folded."""

    def __init__(
        self, *, store: Store, embedder: Embedder | None, least: float | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._least = least

    async def __call__(self, moment: Moment, *, mechanism: str, k: int) -> tuple[Found, ...]:
        """Those above the threshold."""
        ranked = await self.ranked(moment, mechanism=mechanism)
        least = self._threshold(moment.text)
        return tuple(found for found in ranked if found.likeness >= least)[:k]

    async def ranked(self, moment: Moment, *, mechanism: str) -> tuple[Found, ...]:
        """All candidates, best first, whether related or not."""
        owner, index = moment.owner, self._store.index
        by_words = await index.words(owner, query_terms(moment.text), k=DEPTH, kind=Kind.MEMO)
        by_vector: Sequence[Hit] = ()
        if self._embedder is not None:
            query = await self._embedder.embed([moment.text])
            space = self._embedder.space
            by_vector = await index.nearest(owner, space, query, k=DEPTH, kind=Kind.MEMO)
        ids = dict.fromkeys(hit.id for hit in (*by_words, *by_vector))
        memos = await self._store.memos.read(
            owner, ids=[name for name in ids if own(name, mechanism)]
        )
        memos = tuple(memo for memo in memos if memo.time <= moment.now)
        scores = self._scores(moment.text, memos, by_words=by_words, by_vector=by_vector)
        order = sorted(
            memos, key=lambda memo: -scores[memo.id][1] * freshness(memo.time, moment.now)
        )
        return tuple(
            Found(memo=memo, likeness=scores[memo.id][0], why=f"likeness {scores[memo.id][0]:.2f}")
            for memo in order
        )

    def _threshold(self, text: str) -> float:
        if self._least is not None:
            return self._least
        if self._embedder is None or self._embedder.space.name not in LEAST:
            return LEAST_WORDS
        asked = text.rstrip().endswith(("?", "？"))
        return LEAST[self._embedder.space.name] - (0.0 if asked else SAID)

    def _scores(
        self,
        query: str,
        memos: Sequence[Memo],
        *,
        by_words: Sequence[Hit],
        by_vector: Sequence[Hit],
    ) -> Mapping[str, tuple[float, float]]:
        """Likeness and rank score of each memo. Cosines of an embedder that was not measured
        say nothing by themselves: there the words alone decide what is related, and the ranks are
        fused."""
        wanted = content_terms(query)
        held = {memo.id: content_terms(text_of(memo)) for memo in memos}
        weight = rarity(held.values())
        shares = {name: coverage(wanted, terms, weight) for name, terms in held.items()}
        if self._embedder is not None and self._embedder.space.name in LEAST:
            cosine = {hit.id: hit.score for hit in by_vector}
            likeness = {name: cosine.get(name, 0.0) + WORDS * shares[name] for name in held}
            return {name: (likeness[name], likeness[name]) for name in held}
        fused = dict.fromkeys(held, 0.0)
        for ranking in (by_words, by_vector):
            for rank, hit in enumerate(ranking):
                if hit.id in fused:
                    fused[hit.id] += 1 / (FUSION + rank)
        return {name: (shares[name], fused[name]) for name in held}


class MemoChoice:
    """The paper's: a model is shown every topic and summary and says which are related.

    `asker` gives the function that asks the model on behalf of a moment, so that the call is in
    the account. A choice that cannot be read, or a model that cannot be had, falls back to search.
    More memos than fit the window are cut to those that search likes best.
    """

    def __init__(
        self,
        *,
        store: Store,
        model: ChatModel,
        asker: Callable[[Moment], Ask],
        otherwise: MemoSearch,
        shown: int = DEPTH,
        room: int | None = None,
    ) -> None:
        self._store = store
        self._model = model
        self._asker = asker
        self._otherwise = otherwise
        self._shown = shown
        self._room = room

    async def __call__(self, moment: Moment, *, mechanism: str, k: int) -> tuple[Found, ...]:
        """Those the model chose, in its order."""
        memos = [
            memo
            for memo in await self._store.memos.read(moment.owner)
            if memo.folded_into is None
            and own(memo.id, mechanism)
            and memo.time <= moment.now
            and not within(memo, moment, room=self._room)
        ]
        if not memos:
            return ()
        shown = await self._fitting(memos, moment, mechanism)
        request = _question(shown, moment, limit=k)
        try:
            completion = await self._asker(moment)(request)
            chosen = read_choice(completion.text, count=len(shown))
        except ModelError:
            return await self._otherwise(moment, mechanism=mechanism, k=k)
        why = f"chosen by {completion.by or self._model.name}"
        return tuple(
            Found(memo=shown[number - 1], likeness=0.9 / rank, why=why)
            for rank, number in enumerate(chosen[:k], start=1)
        )

    async def _fitting(
        self, memos: Sequence[Memo], moment: Moment, mechanism: str
    ) -> Sequence[Memo]:
        """All of them if they fit; else those that search ranks first, then the newest."""
        room = self._model.window // 2 - estimate_tokens(moment.text)
        cost = {memo.id: estimate_tokens(_listed(memo)) + 6 for memo in memos}
        if len(memos) <= self._shown and sum(cost.values()) <= room:
            return memos
        ranked = await self._otherwise.ranked(moment, mechanism=mechanism)
        order = dict.fromkeys([*(found.memo.id for found in ranked), *(m.id for m in memos[::-1])])
        kept: set[str] = set()
        for name in order:
            if name in cost and len(kept) < self._shown and cost[name] <= room:
                room -= cost[name]
                kept.add(name)
        return [memo for memo in memos if memo.id in kept]


def own(name: str, mechanism: str) -> bool:
    """Whether a memo of this id was written by the mechanism of that name."""
    return name.startswith(f"{mechanism}-")


def within(memo: Memo, moment: Moment, *, room: int | None = None) -> bool:
    """Whether all that the memo covers stands in the prompt anyway, which holds the latest `room`
    tokens of the session."""
    shown = moment.session if room is None else latest(moment.session, room)
    return set(memo.sources) <= {turn.id for turn in shown}


def text_of(memo: Memo) -> str:
    """All the words of a memo."""
    return f"{memo.topic}\n{memo.summary}\n{memo.compressed}"


def freshness(time: datetime, now: datetime) -> float:
    """What an old memo's likeness counts for: 1 when new, 0.9 after a year, never below 0.8."""
    years = max((now - time).total_seconds(), 0.0) / (365.25 * 86_400)
    return float(0.8 + 0.2 * 0.5**years)


def _question(memos: Sequence[Memo], moment: Moment, *, limit: int) -> Request:
    listed = "\n".join(f"{i}. {_listed(memo)}" for i, memo in enumerate(memos, start=1))
    text = " ".join(moment.text.split())[:2000]
    prompt = render("memo_choose", moment.language, limit=str(limit), memos=listed, text=text)
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


def _listed(memo: Memo, longest: int = 240) -> str:
    """Topic and summary on one line, a long one cut."""
    text = " ".join(f"{memo.topic}: {memo.summary}".removeprefix(": ").split())
    return text if len(text) <= longest else f"{text[:longest]}…"
