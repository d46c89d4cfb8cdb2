"""Paper B's protocol as a task: which of four events does an input bring to mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.data import locomo as locomo_data
from omoide.evals.data import msc as msc_data
from omoide.evals.metrics import choice_loss
from omoide.evals.protocol import people
from omoide.evals.protocol.contest import by_cosine, generative, human, ready
from omoide.evals.running.items import Item
from omoide.evals.tasks.base import Measure
from omoide.memory.events.calibration import of_space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.evals.protocol.contest import Task as Contest
    from omoide.evals.protocol.people import Person
    from omoide.evals.tasks.base import Sample, Trial
    from omoide.memory.events.calibration import Calibration
    from omoide.ports import Embedder

RIVALS = ("human-recall", "human-recall:raw", "generative-agents", "cosine")
EACH = 40
"""Most tasks a person."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """A person of a data set."""

    id: str
    data_set: str
    person: Person


class RecallProtocol:
    """Losses of human-like recall and Generative Agents, hundreds of tasks instead of ten."""

    name = "recall"
    about = "which of four events an input brings to mind, by paper B's protocol; no model asked"
    source = locomo_data.SOURCE
    usual: tuple[str, ...] = RIVALS
    rivals: tuple[str, ...] = RIVALS
    measures = (
        Measure(name="loss", about="half the squared error", percent=False, better=-1),
        Measure(name="first", about="whether the right event has the highest score"),
    )
    options: Mapping[str, str] = {
        "sets": "locomo,msc (default both)",
        "dialogues": "so many MSC dialogues of the valid part (default 100)",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Known, ...]:
        """People with inputs that are about one of their events."""
        found: list[Known] = []
        for name in sample.option("sets", "locomo,msc").split(","):
            people_ = _people(name, data, int(sample.option("dialogues", "100")))
            found += [
                Known(id=one.key, data_set=name, person=one) for one in people_ if one.related
            ]
        return sample.draw(found)

    async def run(self, case: Known, trial: Trial) -> list[Item]:
        """With wrong events at random, and with those that share most words."""
        if trial.lab.embedder is None:
            raise BadInput("the recall protocol compares vectors; name an embedder")
        calibration = of_space(trial.lab.embedder.space)
        if calibration is None:
            raise BadInput(
                f"there is no calibration for {trial.lab.embedder.space.name}; "
                "run benchmarks/calibrate.py"
            )
        cosines = await _cosines(case.person, trial.lab.embedder)
        score = _rival(trial.method.name, calibration)
        items = []
        for hard in (False, True):
            made = ready([case.person], cosines, calibration, hard=hard, each=EACH)
            for i, contest in enumerate(made):
                given = score(contest)
                items.append(
                    Item(
                        id=f"{case.id}/{'hard' if hard else 'random'}/{i}",
                        cluster=case.id,
                        group=f"{case.data_set}, {'alike' if hard else 'random'} events",
                        scores={"loss": choice_loss(given), "first": float(given[0] >= max(given))},
                    )
                )
        return items

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Nothing beyond the means."""
        del items
        return {}


def _people(name: str, data: Path, dialogues: int) -> list[Person]:
    if name == "locomo":
        return people.locomo(locomo_data.SOURCE.find(data, "locomo10.json"))
    if name == "msc":
        return people.msc(msc_data.SOURCE.find(data, "valid.jsonl"), dialogues=dialogues)
    raise BadInput(f"the recall protocol knows the sets locomo and msc, not {name!r}")


def _rival(name: str, calibration: Calibration) -> Callable[[Contest], list[float]]:
    if name == "human-recall":
        return human(relevance=calibration)
    if name == "human-recall:raw":
        return human(relevance=lambda cosine: cosine)
    return generative() if name == "generative-agents" else by_cosine


async def _cosines(
    person: Person, embedder: Embedder
) -> Callable[[str, Sequence[str]], list[float]]:
    """The vectors of all that is compared, embedded at once."""
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
