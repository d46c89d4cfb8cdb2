"""Paper B's protocol as a task: which of four events is recalled for an input.

`as:hou2024` has the paper's constants and `as:omoide` ours, both with relevance calibrated for the
embedder; with `event_relevance=cosine` it is the cosine as it is. `as:generative-agents` has the
model rate how important events are, and `generative-agents:heuristic` does without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.engine import complete
from omoide.errors import BadInput
from omoide.mechanisms import recall_settings
from omoide.mechanisms.baselines import importance_request, read_ratings
from omoide.mechanisms.events import calibration
from omoide.settings import Settings
from omoide_bench.concurrency import gather_all
from omoide_bench.data import locomo as locomo_data
from omoide_bench.data import msc as msc_data
from omoide_bench.methods import AS
from omoide_bench.metrics import choice_loss
from omoide_bench.protocol import people
from omoide_bench.protocol.contest import PAPER, by_cosine, generative, human, ready
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.mechanisms.events import Calibration, RecallSettings
    from omoide.ports import Embedder
    from omoide_bench.protocol.contest import RecallTask as Contest
    from omoide_bench.protocol.people import Person
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.tasks.base import Sample, Trial

RAW = "as:hou2024,event_relevance=cosine"
AGENTS, HEURISTIC, COSINE = "as:generative-agents", "generative-agents:heuristic", "cosine"
WITHOUT_MODEL = ("as:hou2024", RAW, "as:omoide", HEURISTIC, COSINE)
RIVALS = (*WITHOUT_MODEL, AGENTS)
RATED = 20
"""Events that the model rates in one call."""
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
    about = "which of four events is recalled for an input, by paper B's protocol"
    source = locomo_data.SOURCE
    default_methods: tuple[str, ...] = WITHOUT_MODEL
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
        knobs, relevance = _recall(trial.method.name, measured)
        groups = {
            hard: ready([case.person], cosines, relevance, hard=hard, each=EACH, knobs=knobs)
            for hard in (False, True)
        }
        contests_of_case = [contest for group in groups.values() for contest in group]
        score = await _rival(trial, contests_of_case, measured)
        items = []
        for hard, contests in groups.items():
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


def _recall(name: str, calibration: Calibration) -> tuple[RecallSettings, Callable[[float], float]]:
    """The settings of recall that events grew by before the contest, and their relevance: those of
    the method, or the paper's for one that has none."""
    if name not in WITHOUT_MODEL[:3]:
        return PAPER, calibration
    preset, _, changed = name.removeprefix(AS).partition(",")
    changes = dict([changed.split("=")]) if changed else {}
    knobs = recall_settings(Settings.of(preset, **changes))
    return knobs, calibration if knobs.calibrated else float


async def _rival(
    trial: Trial, contests: Sequence[Contest], measured: Calibration
) -> Callable[[Contest], list[float]]:
    """How the method scores the events of a contest."""
    name = trial.method.name
    if name == COSINE:
        return by_cosine
    if name == HEURISTIC:
        return generative()
    if name == AGENTS:
        return generative(await _importance(trial.model, contests))
    knobs, relevance = _recall(name, measured)
    return human(relevance=relevance, unit=knobs.unit)


async def _importance(model: MethodModel, contests: Sequence[Contest]) -> Callable[[str], float]:
    """How important the model finds each event. Raises `BadReply` for an unreadable rating."""
    texts = list(dict.fromkeys(e.text for contest in contests for e in contest.events))
    parts = [texts[i : i + RATED] for i in range(0, len(texts), RATED)]
    answers = await gather_all(complete(model, importance_request(part, "en")) for part in parts)
    rated = {
        text: float(rating)
        for part, answer in zip(parts, answers, strict=True)
        for text, rating in zip(part, read_ratings(answer.text, len(part)), strict=True)
    }
    return rated.__getitem__


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
