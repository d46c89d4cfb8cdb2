"""Paper B's protocol as a task: which of four events is recalled for an input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.mechanisms.events import calibration
from omoide_bench.data import locomo as locomo_data
from omoide_bench.data import msc as msc_data
from omoide_bench.metrics import choice_loss
from omoide_bench.protocol import people
from omoide_bench.protocol.contest import by_cosine, generative, human, ready
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.mechanisms.events import Calibration
    from omoide.ports import Embedder
    from omoide_bench.protocol.contest import RecallTask as Contest
    from omoide_bench.protocol.people import Person
    from omoide_bench.tasks.base import Sample, Trial

RIVALS = ("human-recall", "human-recall:raw", "generative-agents", "cosine")
EACH = 40
"""Most contests per person."""


@dataclass(frozen=True, kw_only=True)
class DatasetPerson:
    """A person of a data set."""

    id: str
    data_set: str
    person: Person


class RecallProtocol:
    """Losses of human-like recall and Generative Agents, over hundreds of contests instead of the
    paper's ten."""

    name = "recall"
    about = "which of four events is recalled for an input, by paper B's protocol; no model calls"
    source = locomo_data.SOURCE
    default_methods: tuple[str, ...] = RIVALS
    alternatives: tuple[str, ...] = RIVALS
    measures = (
        Measure(name="loss", about="half the squared error", percent=False, better=-1),
        Measure(name="first", about="whether the right event has the highest score"),
    )
    options: Mapping[str, str] = {
        "sets": "locomo,msc (default both)",
        "dialogues": "number of MSC dialogues of the valid split (default 100)",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[DatasetPerson, ...]:
        """People with inputs about one of their events."""
        people_of_sets: list[DatasetPerson] = []
        for name in sample.option("sets", "locomo,msc").split(","):
            people_ = _people(name, data, int(sample.option("dialogues", "100")))
            people_of_sets += [
                DatasetPerson(id=person.key, data_set=name, person=person)
                for person in people_
                if person.related
            ]
        return sample.draw(people_of_sets)

    async def run(self, case: DatasetPerson, trial: Trial) -> list[ScoredItem]:
        """Contests with random wrong events, and with those that share the most words."""
        if trial.lab.embedder is None:
            raise BadInput("the recall protocol compares vectors; set --embedder")
        measured = calibration.calibration_for(trial.lab.embedder.space)
        if measured is None:
            raise BadInput(
                f"there is no calibration for {trial.lab.embedder.space.name}; "
                "run benchmarks/calibrate.py"
            )
        cosines = await _cosines(case.person, trial.lab.embedder)
        score = _rival(trial.method.name, measured)
        items = []
        for hard in (False, True):
            contests = ready([case.person], cosines, measured, hard=hard, each=EACH)
            for i, contest in enumerate(contests):
                relevances = score(contest)
                items.append(
                    ScoredItem(
                        id=f"{case.id}/{'hard' if hard else 'random'}/{i}",
                        cluster=case.id,
                        group=f"{case.data_set}, {'alike' if hard else 'random'} events",
                        scores={
                            "loss": choice_loss(relevances),
                            "first": float(relevances[0] >= max(relevances)),
                        },
                    )
                )
        return items

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


def _people(name: str, data: Path, dialogues: int) -> list[Person]:
    if name == "locomo":
        return people.locomo(locomo_data.SOURCE.find(data, "locomo10.json"))
    if name == "msc":
        return people.msc(msc_data.SOURCE.find(data, "valid.jsonl"), dialogues=dialogues)
    raise BadInput(f"the recall protocol has no data set {name!r}; it has locomo and msc")


def _rival(name: str, calibration: Calibration) -> Callable[[Contest], list[float]]:
    if name == "human-recall":
        return human(relevance=calibration)
    if name == "human-recall:raw":
        return human(relevance=lambda cosine: cosine)
    return generative() if name == "generative-agents" else by_cosine


async def _cosines(
    person: Person, embedder: Embedder
) -> Callable[[str, Sequence[str]], list[float]]:
    """A function for cosines of a person's texts, which are all embedded at once."""
    texts = dict.fromkeys(
        (
            *(event.text for event in person.events),
            *(text for text, _, _ in person.related),
            *(text for text, _ in person.turns),
        )
    )
    rows = await embedder.embed(list(texts))
    known = dict(zip(texts, rows, strict=True))

    def cosines(text: str, others: Sequence[str]) -> list[float]:
        return [float(known[other] @ known[text]) for other in others]

    return cosines
