"""`omoide bench evidence` as a task, so that its results can be compared and reported like all
others. No chat model is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide_bench import evidence
from omoide_bench.corpora import locomo
from omoide_bench.data.locomo import CATEGORIES, SOURCE
from omoide_bench.methods import Method
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.corpora.questions import EvidenceConversation
    from omoide_bench.evidence import Ranker
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Sample, Trial

_SEARCH = Method(name="search", mechanisms=("search",))


class NamedConversation:
    """A conversation as a case."""

    def __init__(self, conversation: EvidenceConversation) -> None:
        self.conversation = conversation
        self.id = conversation.name


class EvidenceTask:
    """Recall at k of gold evidence turns."""

    name = "evidence"
    about = "how much of the evidence for LoCoMo's questions is among the first k turns"
    source = SOURCE
    default_methods: tuple[str, ...] = ("BM25", "rank fusion", "recall")
    alternatives: tuple[str, ...] = ("BM25", "rank fusion", "recall")
    measures = tuple(
        Measure(name=f"recall@{k}", about=f"share of the evidence among the first {k}")
        for k in evidence.CUTS
    )
    options: Mapping[str, str] = {"half": "all (default), tune or held-out"}

    def cases(self, data: Path, sample: Sample) -> tuple[NamedConversation, ...]:
        """The conversations of the wanted half."""
        chosen = evidence.half(locomo.load(data), sample.option("half", "all"))
        return sample.draw([NamedConversation(conversation) for conversation in chosen])

    async def run(self, case: NamedConversation, trial: Trial) -> list[ScoredItem]:
        """Record and embed the conversation, then rank its turns for every question."""
        conversation = case.conversation
        began = conversation.lines[-1].time
        async with trial.lab.new_memory(
            _SEARCH, user=case.id, began=began, model=trial.model
        ) as under_test:
            ranker = _ranker(trial.method.name, under_test, trial)
            outcomes = await evidence.measure(
                under_test.memory, [conversation], {trial.method.name: ranker}
            )
        return [
            ScoredItem(
                id=f"{case.id}/{i}",
                cluster=case.id,
                group=CATEGORIES[outcome.category],
                scores={
                    f"recall@{k}": share
                    for k, share in zip(evidence.CUTS, outcome.recall, strict=True)
                },
            )
            for i, outcome in enumerate(outcomes)
        ]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


def _ranker(name: str, under_test: MemoryUnderTest, trial: Trial) -> Ranker:
    if name == "BM25":
        return evidence.plain_words(under_test.store, tenant=under_test.owner.tenant)
    if name == "rank fusion":
        return evidence.rank_fusion(
            under_test.store, trial.lab.embedder, tenant=under_test.owner.tenant
        )
    return evidence.product(under_test.memory)
