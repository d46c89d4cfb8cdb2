"""Evidence as a task: `omoide bench evidence` in the form of all others, so that its results can
be compared and reported with them. No chat model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.evals import evidence
from omoide.evals.corpora import locomo
from omoide.evals.data.locomo import CATEGORIES, SOURCE
from omoide.evals.methods import Method
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.corpora.asking import Conversation
    from omoide.evals.evidence import Ranker
    from omoide.evals.running.lab import Place
    from omoide.evals.tasks.base import Sample, Trial

_SEARCH = Method(name="search", mechanisms=("search",))


class Named:
    """A conversation with an id."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.id = conversation.name


class Evidence:
    """Recall at k of gold evidence turns."""

    name = "evidence"
    about = "how much of the evidence for LoCoMo's questions is among the first k turns"
    source = SOURCE
    usual: tuple[str, ...] = ("BM25", "rank fusion", "recall")
    rivals: tuple[str, ...] = ("BM25", "rank fusion", "recall")
    measures = tuple(
        Measure(name=f"recall@{k}", about=f"share of the evidence among the first {k}")
        for k in evidence.CUTS
    )
    options: Mapping[str, str] = {"half": "all (default), tune or held-out"}

    def cases(self, data: Path, sample: Sample) -> tuple[Named, ...]:
        """Conversations."""
        chosen = evidence.half(locomo.load(data), sample.option("half", "all"))
        return sample.draw([Named(one) for one in chosen])

    async def run(self, case: Named, trial: Trial) -> list[Item]:
        """Record, embed, ask every question."""
        conversation = case.conversation
        began = conversation.lines[-1].time
        async with trial.lab.place(_SEARCH, user=case.id, began=began, model=trial.model) as place:
            ranker = _ranker(trial.method.name, place, trial)
            outcomes = await evidence.measure(
                place.memory, [conversation], {trial.method.name: ranker}
            )
        return [
            Item(
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

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}


def _ranker(name: str, place: Place, trial: Trial) -> Ranker:
    if name == "BM25":
        return evidence.plain_words(place.memory)
    if name == "rank fusion":
        return evidence.rank_fusion(place.memory, trial.lab.embedder)
    return evidence.product(place.memory)
