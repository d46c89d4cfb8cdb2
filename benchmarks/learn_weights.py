"""Learn the weights of recall's evidence from several corpora, leaving each one out once.

    python benchmarks/learn_weights.py --embedder gte-small-memory DATA/locomo DATA/beam …

Every turn of a conversation is a candidate. Listwise logistic regression: the probability of each
gold turn among itself and all turns that are not gold. Every corpus counts alike. Printed are the
weights, and recall at 5, 10, 20 and 50 on each corpus with weights of the others and of all.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omoide import Settings, bootstrap
from omoide.domain import Owner
from omoide.language import detect_language
from omoide.mechanisms.search import (
    KINDS,
    EvidenceWeights,
    FeatureReader,
    indexed_terms,
    parse_query,
    reads,
    search_vector,
    weigh_evidence,
)
from omoide_bench.corpora import load
from omoide_bench.evidence import CUTS, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DECAY, STEPS, RATE = 0.001, 200, 0.1
"""L2 penalty, steps and rate of Adam."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A question: the evidence for every turn, and which turns are gold."""

    evidence: NDArray[np.float32]
    gold: NDArray[np.bool_]

    def recall(self, weights: Floats) -> list[float]:
        """The share of gold turns among the first k, for each k."""
        best = np.argsort(-(self.evidence @ weights), kind="stable")[: CUTS[-1]]
        found = self.gold[best]
        return [found[:k].sum() / self.gold.sum() for k in CUTS]


async def collect(folder: Path, embedder: str) -> list[Case]:
    """All questions of a corpus whose language the embedder can read."""
    settings = Settings(
        db=Path(":memory:"), mechanisms=("search",), embedder=embedder, model="none"
    )
    cases = []
    async with await bootstrap.open_runtime(settings) as runtime:
        with_features = FeatureReader(runtime.store)
        vectors = runtime.embedder
        space = vectors.space if vectors else None
        for conversation in load(folder):
            language = detect_language(conversation.lines[0].text)
            if space is not None and not reads(space.name, language):
                continue
            await record(runtime.memory(), conversation)
            owner = Owner(tenant=settings.tenant, user=conversation.name)
            for question in conversation.questions:
                query = await search_vector(vectors, question.text) if vectors else None
                data = await runtime.store.index.search_data(
                    owner, indexed_terms(question.text), space=space, query=query
                )
                data = await with_features(owner, data)
                parsed = parse_query(
                    question.text,
                    asked=question.at.date(),
                    voices=data.table.speakers,
                    asker=question.asker,
                    known=data.postings,
                )
                weighed = weigh_evidence(data, parsed, EvidenceWeights())
                cases.append(
                    Case(
                        evidence=np.stack([getattr(weighed, kind) for kind in KINDS], 1),
                        gold=np.isin(data.table.ids, list(question.evidence)),
                    )
                )
    return [case for case in cases if case.gold.any()]


def learn(corpora: Sequence[Sequence[Case]], *, each: int) -> Floats:
    """The weights that make gold turns most likely, at most `each` questions a corpus."""
    parts = []
    for cases in corpora:
        chosen = cases[:: max(1, len(cases) // each)][:each]
        share = 1 / len(chosen) / len(corpora)
        for case in chosen:
            rows = case.evidence.astype(np.float64)
            parts.append((rows[case.gold], rows[~case.gold], share / case.gold.sum()))
    weights, mean, square = (np.zeros(len(KINDS)) for _ in range(3))
    for step in range(1, STEPS + 1):
        slope = 2 * DECAY * weights
        for gold, others, share in parts:
            scores = others @ weights
            odds = np.exp(scores - scores.max())
            expected, log_sum = odds @ others / odds.sum(), scores.max() + np.log(odds.sum())
            missed = 1 / (1 + np.exp(np.clip(gold @ weights - log_sum, -500, 500)))
            slope += share * (missed[:, None] * (expected - gold)).sum(0)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        move = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
        weights -= RATE * move
    return weights


def shown(cases: Sequence[Case], weights: Floats) -> str:
    """Recall at each k in percent."""
    return "/".join(f"{100 * x:.1f}" for x in np.mean([case.recall(weights) for case in cases], 0))


async def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--each", type=int, default=150, help="most questions of a corpus")
    given = parser.parse_args()
    corpora = {folder.name: await collect(folder, given.embedder) for folder in given.folders}
    everything = learn(list(corpora.values()), each=given.each)
    print({kind: round(float(x), 2) for kind, x in zip(KINDS, everything, strict=True)})
    for name, cases in corpora.items():
        others = [other for key, other in corpora.items() if key != name]
        left_out = shown(cases, learn(others, each=given.each)) if others else "–"
        print(f"{name}, {len(cases)} questions: {left_out} left out, {shown(cases, everything)} in")


if __name__ == "__main__":
    asyncio.run(main())
