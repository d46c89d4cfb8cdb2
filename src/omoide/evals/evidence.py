"""How much of the evidence for a question is among the first k turns that come to mind.

The conversations are recorded by `Memory.record`, embedded by its worker, and asked by
`Memory.recall`: what is measured is what users get.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import Owner, Speaker, nothing
from omoide.engine import Utterance
from omoide.evals.bootstrap import estimate
from omoide.evals.corpora import dulemon, longmemeval, memorybank, msc, real_persona_chat
from omoide.evals.corpora.locomo import TUNED_ON
from omoide.evals.data import locomo
from omoide.language import query_terms
from omoide.memory.search.evidence import Weights
from omoide.memory.search.recall import Recall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from omoide.engine import Memory
    from omoide.evals.bootstrap import Estimate
    from omoide.evals.corpora.asking import Asked, Conversation
    from omoide.ports import Embedder, Progress, Space, Vectors

    Ranker = Callable[[str, Asked], Awaitable[Sequence[str]]]
    """Turns for a user's question, best first."""

CUTS = (5, 10, 20, 50)
CATEGORIES = {code: f"{code} {name}" for code, name in locomo.CATEGORIES.items()} | {
    memorybank.CATEGORIES["en"]: "English",
    memorybank.CATEGORIES["zh"]: "Chinese",
    longmemeval.CATEGORY: "marked turns",
    dulemon.CATEGORY: "tagged turns",
    msc.CATEGORY: "shared words",
    **{code: name for name, code in real_persona_chat.CATEGORIES.items()},
}
_FUSION, _DEPTH = 60, 50


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One question by one ranker: the share of its evidence among the first k, for each cut."""

    conversation: str
    question: str
    category: int
    ranker: str
    recall: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the result."""

    ranker: str
    questions: str
    """Which: all, or a category."""
    recall: dict[int, Estimate]


def half(conversations: Sequence[Conversation], which: str) -> tuple[Conversation, ...]:
    """The conversations that weights were fitted on, the others, or all."""
    halves = {"tune": slice(TUNED_ON), "held-out": slice(TUNED_ON, None), "all": slice(None)}
    return tuple(conversations[halves[which]])


async def measure(
    memory: Memory,
    conversations: Sequence[Conversation],
    rankers: Mapping[str, Ranker],
    *,
    progress: Progress = lambda done, total, what: None,
) -> list[Outcome]:
    """Record, embed and ask everything."""
    work = sum(len(c.lines) + len(c.questions) for c in conversations)
    done, outcomes = 0, []
    for conversation in conversations:
        progress(done, work, f"{conversation.name}: embedding")
        await record(memory, conversation)
        done += len(conversation.lines)
        for asked in conversation.questions:
            for name, ranker in rankers.items():
                best = await ranker(conversation.name, asked)
                outcomes.append(
                    Outcome(
                        conversation=conversation.name,
                        question=asked.text,
                        category=asked.category,
                        ranker=name,
                        recall=tuple(recall_at(best, asked.evidence, k) for k in CUTS),
                    )
                )
            done += 1
            if done % 50 == 0:
                progress(done, work, f"{conversation.name}: asking")
    progress(work, work, "evidence")
    return outcomes


def recall_at(best: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """The share of the evidence among the first `k`.

    >>> recall_at(["a", "b", "c"], frozenset({"b", "d"}), 2)
    0.5
    """
    return len(evidence.intersection(best[:k])) / len(evidence)


async def record(memory: Memory, conversation: Conversation) -> None:
    """Record a conversation, the first speaker as the user, and embed it."""
    for number in dict.fromkeys(line.session for line in conversation.lines):
        await memory.record(
            conversation.name,
            [
                Utterance(
                    speaker=_role(conversation, line.speaker),
                    text=line.text,
                    id=line.id,
                    time=line.time,
                    name=line.speaker if conversation.named else None,
                )
                for line in conversation.lines
                if line.session == number
            ],
            session=str(number),
        )
    await memory.settle()


def _role(conversation: Conversation, name: str) -> Speaker:
    return Speaker.USER if name == conversation.speakers[0] else Speaker.ASSISTANT


def summarise(outcomes: Sequence[Outcome]) -> list[Line]:
    """Means with intervals, over all questions and by category, for each ranker."""
    lines = []
    present = sorted({o.category for o in outcomes})
    for ranker in dict.fromkeys(o.ranker for o in outcomes):
        own = [o for o in outcomes if o.ranker == ranker]
        groups = {"all": own} | {
            CATEGORIES[code]: [o for o in own if o.category == code] for code in present
        }
        lines += [
            Line(
                ranker=ranker,
                questions=name,
                recall={k: estimate([o.recall[i] for o in group]) for i, k in enumerate(CUTS)},
            )
            for name, group in groups.items()
            if group
        ]
    return lines


# ── Rankers ─────────────────────────────────────────────────────────────────────────────────


def product(memory: Memory) -> Ranker:
    """`Memory.recall`, as users call it."""

    async def rank(user: str, asked: Asked) -> list[str]:
        found = await memory.recall(user, asked.text, at=asked.at, k=CUTS[-1], asker=asked.asker)
        return [item.sources[0] for item in found]

    return rank


def plain_words(memory: Memory) -> Ranker:
    """BM25 over the turns."""

    async def rank(user: str, asked: Asked) -> list[str]:
        terms = query_terms(asked.text)
        hits = await memory.store.index.words(_owner(memory, user), terms, k=CUTS[-1])
        return [hit.id for hit in hits]

    return rank


def rank_fusion(memory: Memory, embedder: Embedder | None) -> Ranker:
    """BM25 and cosines by reciprocal rank (Cormack et al. 2009): recall as it was before."""

    async def rank(user: str, asked: Asked) -> list[str]:
        index, owner = memory.store.index, _owner(memory, user)
        rankings = [await index.words(owner, query_terms(asked.text), k=_DEPTH)]
        if embedder is not None:
            vector = await embedder.embed([asked.text])
            rankings.append(await index.nearest(owner, embedder.space, vector, k=_DEPTH))
        scores: dict[str, float] = {}
        for ranking in rankings:
            for place, hit in enumerate(ranking):
                scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (_FUSION + place)
        return sorted(scores, key=lambda name: -scores[name])[: CUTS[-1]]

    return rank


def weighed(memory: Memory, embedder: Embedder | None, weights: Weights) -> Ranker:
    """Recall with other weights."""
    recall = Recall(store=memory.store, embedder=embedder, weights=weights)

    async def rank(user: str, asked: Asked) -> list[str]:
        found = await recall(
            _owner(memory, user),
            asked.text,
            summary=nothing(asked.at),
            at=asked.at,
            k=CUTS[-1],
            asker=asked.asker,
        )
        return [item.sources[0] for item in found]

    return rank


def ablations() -> dict[str, Weights]:
    """Weights without one kind of evidence each; and from the first kinds to all of them."""
    full = Weights()
    kinds = ("words", "meaning", "neighbours", "session", "speaker", "time", "when", "telling")
    found = {f"without {kind}": replace(full, **{kind: 0.0}) for kind in kinds}
    steps = ("speaker", "neighbours", "session", "time", "when", "telling")
    grown = replace(full, **dict.fromkeys(steps, 0.0))
    found["words + meaning"] = grown
    for kind in steps[:-1]:
        grown = replace(grown, **{kind: getattr(full, kind)})
        found[f"+ {kind}"] = grown
    return found


class Remembered:
    """An embedder that embeds the same question once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, ...], Vectors] = {}

    @property
    def space(self) -> Space:
        """As the embedder's."""
        return self._embedder.space

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        key = tuple(texts)
        if key not in self._known:
            self._known[key] = await self._embedder.embed(texts)
        return self._known[key]

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()


def _owner(memory: Memory, user: str) -> Owner:
    return Owner(tenant=memory.tenant, user=user)
