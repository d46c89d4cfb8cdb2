"""How much of the evidence for a question is among the first k recalled turns.

Conversations are recorded by `Memory.record`, embedded by its worker, and queried by
`Memory.recall`: this measures what users get.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Owner, Speaker, empty_summary
from omoide.language import query_terms
from omoide.mechanisms.search import Recall
from omoide_bench.corpora import (
    beam,
    dmr_like,
    dulemon,
    longmemeval,
    memdaily,
    memorybank,
    msc,
    real_persona_chat,
)
from omoide_bench.corpora.locomo import TUNED_ON
from omoide_bench.data import locomo
from omoide_bench.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from omoide import Memory
    from omoide.mechanisms.search import EvidenceWeights
    from omoide.ports import Embedder, Progress, Space, Store, Vectors
    from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion
    from omoide_bench.statistics import Estimate

    Ranker = Callable[[str, EvidenceQuestion], Awaitable[Sequence[str]]]
    """Ranks turns for a user's question, best first."""

CUTS = (5, 10, 20, 50)
CATEGORIES = {code: f"{code} {name}" for code, name in locomo.CATEGORIES.items()} | {
    memorybank.CATEGORIES["en"]: "English",
    memorybank.CATEGORIES["zh"]: "Chinese",
    longmemeval.CATEGORY: "marked turns",
    dulemon.CATEGORY: "tagged turns",
    msc.CATEGORY: "shared words",
    **{code: name for name, code in real_persona_chat.CATEGORIES.items()},
    **{code: name.replace("_", " ") for name, code in beam.CATEGORIES.items()},
    **{code: name for name, code in dmr_like.CATEGORIES.items()},
    **{code: name[3:].replace("_", " ") for name, code in memdaily.CATEGORIES.items()},
}
_FUSION, _DEPTH = 60, 50


@dataclass(frozen=True, kw_only=True)
class QuestionOutcome:
    """One question with one ranker: the share of its evidence among the first k, for each k."""

    conversation: str
    question: str
    category: int
    ranker: str
    recall: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class EvidenceResult:
    """Recall of one ranker on one group of questions."""

    ranker: str
    questions: str
    """`all`, or a category."""
    recall: dict[int, Estimate]


def half(
    conversations: Sequence[EvidenceConversation], which: str
) -> tuple[EvidenceConversation, ...]:
    """The conversations that the weights were fitted on (`tune`), the others, or all."""
    halves = {"tune": slice(TUNED_ON), "held-out": slice(TUNED_ON, None), "all": slice(None)}
    return tuple(conversations[halves[which]])


async def measure(
    memory: Memory,
    conversations: Sequence[EvidenceConversation],
    rankers: Mapping[str, Ranker],
    *,
    progress: Progress = lambda done, total, what: None,
) -> list[QuestionOutcome]:
    """Record and embed the conversations, then ask every question with every ranker."""
    work = sum(len(c.lines) + len(c.questions) for c in conversations)
    done, outcomes = 0, []
    for conversation in conversations:
        progress(done, work, f"{conversation.name}: embedding")
        await record(memory, conversation)
        done += len(conversation.lines)
        for question in conversation.questions:
            for name, ranker in rankers.items():
                best = await ranker(conversation.name, question)
                outcomes.append(
                    QuestionOutcome(
                        conversation=conversation.name,
                        question=question.text,
                        category=question.category,
                        ranker=name,
                        recall=tuple(recall_at(best, question.evidence, k) for k in CUTS),
                    )
                )
            done += 1
            if done % 50 == 0:
                progress(done, work, f"{conversation.name}: asking")
    progress(work, work, "evidence")
    return outcomes


def recall_at(best: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Share of the evidence among the first `k`.

    >>> recall_at(["a", "b", "c"], frozenset({"b", "d"}), 2)
    0.5
    """
    return len(evidence.intersection(best[:k])) / len(evidence)


async def record(memory: Memory, conversation: EvidenceConversation) -> None:
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
    await memory.run_jobs()


def _role(conversation: EvidenceConversation, name: str) -> Speaker:
    return Speaker.USER if name == conversation.speakers[0] else Speaker.ASSISTANT


def summarise(outcomes: Sequence[QuestionOutcome]) -> list[EvidenceResult]:
    """Means with intervals, over all questions and by category, for each ranker."""
    lines = []
    present = sorted({o.category for o in outcomes})
    for ranker in dict.fromkeys(o.ranker for o in outcomes):
        outcomes_of_ranker = [o for o in outcomes if o.ranker == ranker]
        groups = {"all": outcomes_of_ranker} | {
            CATEGORIES[code]: [o for o in outcomes_of_ranker if o.category == code]
            for code in present
        }
        lines += [
            EvidenceResult(
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

    async def rank(user: str, question: EvidenceQuestion) -> list[str]:
        items = await memory.recall(
            user, question.text, at=question.at, k=CUTS[-1], asker=question.asker
        )
        return [item.sources[0] for item in items]

    return rank


def plain_words(store: Store, *, tenant: str) -> Ranker:
    """BM25 over the turns."""

    async def rank(user: str, question: EvidenceQuestion) -> list[str]:
        terms = query_terms(question.text)
        hits = await store.index.search_words(Owner(tenant=tenant, user=user), terms, k=CUTS[-1])
        return [hit.id for hit in hits]

    return rank


def rank_fusion(store: Store, embedder: Embedder | None, *, tenant: str) -> Ranker:
    """BM25 and cosines fused by reciprocal rank (Cormack et al. 2009): the former recall."""

    async def rank(user: str, question: EvidenceQuestion) -> list[str]:
        index, owner = store.index, Owner(tenant=tenant, user=user)
        rankings = [await index.search_words(owner, query_terms(question.text), k=_DEPTH)]
        if embedder is not None:
            vector = await embedder.embed([question.text])
            rankings.append(await index.nearest(owner, embedder.space, vector, k=_DEPTH))
        scores: dict[str, float] = {}
        for ranking in rankings:
            for position, hit in enumerate(ranking):
                scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (_FUSION + position)
        return sorted(scores, key=lambda name: -scores[name])[: CUTS[-1]]

    return rank


def weighed(
    store: Store, embedder: Embedder | None, *, tenant: str, weights: EvidenceWeights
) -> Ranker:
    """Recall with the given weights."""
    recall = Recall(store=store, embedder=embedder, weights=weights)

    async def rank(user: str, question: EvidenceQuestion) -> list[str]:
        items = await recall(
            Owner(tenant=tenant, user=user),
            question.text,
            summary=empty_summary(question.at),
            at=question.at,
            k=CUTS[-1],
            asker=question.asker,
        )
        return [item.sources[0] for item in items]

    return rank


def ablations(full: EvidenceWeights) -> dict[str, EvidenceWeights]:
    """These weights without one kind of evidence each; and kinds added one by one."""
    near = ("near_words", "near_meaning", "answers")
    steps = {
        "speaker": ("speaker",),
        "neighbours": near,
        "session": ("session",),
        "time": ("time",),
        "when": ("when",),
        "question": ("question",),
    }
    groups = {"words": ("words",), "meaning": ("meaning",), **steps}
    weights = {
        f"without {name}": replace(full, **dict.fromkeys(kinds, 0.0))
        for name, kinds in groups.items()
    }
    grown = replace(full, **{kind: 0.0 for kinds in steps.values() for kind in kinds})
    weights["words + meaning"] = grown
    for name, kinds in list(steps.items())[:-1]:
        grown = replace(grown, **{kind: getattr(full, kind) for kind in kinds})
        weights[f"+ {name}"] = grown
    return weights


class CachedQueryEmbedder:
    """An embedder that caches the vectors of questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, ...], Vectors] = {}

    @property
    def space(self) -> Space:
        """The embedder's space."""
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
