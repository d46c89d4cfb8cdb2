"""Evidence in the prompt: ours beside BM25 with as many turns and tokens.

    python benchmarks/equal_budgets.py DATA/beam [--profile large] [--embedder none] [--limit 2]

Every conversation of a corpus with gold turns (`omoide_bench.corpora`) is recorded, and
`Memory.context` is asked each question. BM25 ranks the turns by the store's own index and fills
three budgets, skipping turns that do not fit: that of the profile, exactly what ours showed (turns
and tokens), and the 5 turns and 1,600 tokens of the `bm25` baseline. Brackets: conversations drawn
anew. No model is asked.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omoide import Settings, bootstrap
from omoide.domain import MemoryKind, Owner
from omoide.language import estimate_tokens, query_terms
from omoide_bench.corpora import load
from omoide_bench.evidence import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.engine import Runtime
    from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion

DEPTH, DRAWS = 60, 2000
PROFILES = {"small": (6, 400), "large": (30, 3000)}
"""Most turns and tokens that recall brings to one prompt."""
BASELINE = (5, 1600)
"""Turns and tokens of the `bm25` baseline."""


async def by_words(
    runtime: Runtime, user: str, question: EvidenceQuestion
) -> list[tuple[str, int]]:
    """The ids and tokens of the best turns by BM25, best first."""
    owner = Owner(tenant=runtime.settings.tenant, user=user)
    hits = await runtime.store.index.search_words(owner, query_terms(question.text), k=DEPTH)
    turns = {t.id: t for t in await runtime.store.turns.read(owner, ids=[hit.id for hit in hits])}
    found = [turns[hit.id] for hit in hits if hit.id in turns]
    return [(t.id, estimate_tokens(t.text)) for t in found if t.time <= question.at]


def filled(ranked: Sequence[tuple[str, int]], turns: int, tokens: int) -> list[str]:
    """As many of the turns as fit."""
    chosen: list[str] = []
    for name, size in ranked:
        if len(chosen) < turns and size <= tokens:
            chosen.append(name)
            tokens -= size
    return chosen


async def ask(
    runtime: Runtime, conversation: EvidenceConversation, profile: str
) -> dict[str, list[float]]:
    """The share of each question's evidence that every method shows, and how much ours shows."""
    memory = runtime.memory()
    await record(memory, conversation)
    figures = defaultdict[str, list[float]](list)
    for question in conversation.questions:
        context = await memory.context(conversation.name, question.text, at=question.at)
        shown = [c for c in context.recalled if c.kind is MemoryKind.TURN]
        tokens = sum(estimate_tokens(c.text) for c in shown)
        ranked = await by_words(runtime, conversation.name, question)
        chosen = {
            "ours": [name for c in shown for name in c.sources],
            "BM25, the profile's budget": filled(ranked, *PROFILES[profile]),
            "BM25, as many turns and tokens": filled(ranked, len(shown), tokens),
            "BM25, 5 turns, 1,600 tokens": filled(ranked, *BASELINE),
        }
        for name, ids in chosen.items():
            share = len(question.evidence.intersection(ids)) / len(question.evidence)
            figures[name].append(100 * share)
        figures["turns of ours"].append(len(shown))
        figures["tokens of ours"].append(tokens)
    return figures


def interval(parts: Sequence[Sequence[float]]) -> str:
    """The mean over all questions, and 95 % by drawing conversations anew."""
    dice = np.random.default_rng(0)
    drawn = [
        np.mean(np.concatenate([parts[i] for i in dice.integers(0, len(parts), len(parts))]))
        for _ in range(DRAWS)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{np.mean(np.concatenate(parts)):.1f} [{low:.1f}, {high:.1f}]"


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--profile", choices=PROFILES, default="small")
    parser.add_argument("--limit", type=int, help="number of conversations")
    options = parser.parse_args()
    settings = Settings(
        db=Path(":memory:"),
        mechanisms=("search",),
        embedder=options.embedder,
        model="none",
        profile=options.profile,
    )
    async with await bootstrap.open_runtime(settings) as runtime:
        every = [
            await ask(runtime, conversation, options.profile)
            for conversation in load(options.corpus)[: options.limit]
            if conversation.questions
        ]
    for name in every[0]:
        print(f"{name}: {interval([figures[name] for figures in every])}")
    for name in [name for name in every[0] if name.startswith("BM25")]:
        apart = [np.subtract(figures["ours"], figures[name]).tolist() for figures in every]
        print(f"ours - {name}: {interval(apart)}")


if __name__ == "__main__":
    asyncio.run(main())
