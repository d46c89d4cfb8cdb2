"""The contest: an input and four events, one of them right; each rival's loss.

Each rival's four scores are scaled to [0, 1] by min-max, go through a softmax, and the loss is
half the squared error to the one-hot truth. As the softmax is of values in [0, 1], the loss cannot
be below 0.18 nor above 0.53 with four candidates.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain.forgetting import THRESHOLD, UNIT, consolidated, recall_probability
from omoide.language import content_terms
from omoide.memory.baselines.generative_agents_scoring import (
    PAPER,
    Trace,
    Weights,
    heuristic_importance,
    scores,
)
from omoide.memory.events.feeling import feeling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from omoide.evals.protocol.people import Happening, Person
    from omoide.memory.events.calibration import Calibration

    Cosines = Callable[[str, Sequence[str]], list[float]]
    """The cosine of a text with each of the others."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """An input and four events, the first of which is right."""

    text: str
    now: datetime
    events: tuple[Happening, ...]
    cosines: tuple[float, ...] = ()
    grown: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    """g of each event, as the dialogue before would have made it."""
    recalled: tuple[datetime, ...] = ()


def tasks(people: Sequence[Person], *, each: int, hard: bool, seed: int) -> list[Task]:
    """At most `each` tasks a person; the wrong events at random, or those that share most words."""
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    made = []
    for person in people:
        asked = dice.sample(person.related, min(each, len(person.related)))
        for text, now, right in asked:
            before = [i for i, e in enumerate(person.events) if e.time <= now]
            others = [i for i in before if i not in right]
            if len(others) < 3:
                continue
            if hard:
                terms = content_terms(text)
                others.sort(key=lambda i: -len(terms & content_terms(person.events[i].text)))
                wrong = others[:3]
            else:
                wrong = dice.sample(others, 3)
            chosen = tuple(person.events[i] for i in (dice.choice(right), *wrong))
            made.append(Task(text=text, now=now, events=chosen))
    return made


def human(
    *,
    relevance: Callable[[float], float],
    unit: timedelta = UNIT,
    felt: float = 0.0,
) -> Callable[[Task], list[float]]:
    """Eq. 8."""

    def score(task: Task) -> list[float]:
        return [
            recall_probability(
                relevance=relevance(cosine),
                elapsed=task.now - last,
                consolidation=grown * (1 + felt * feeling(event.text, "en")),
                unit=unit,
            )
            for event, cosine, grown, last in zip(
                task.events, task.cosines, task.grown, task.recalled, strict=True
            )
        ]

    return score


def generative(weights: Weights = PAPER, decay: float = 0.995) -> Callable[[Task], list[float]]:
    """Recency, importance (without a model here) and relevance."""

    def score(task: Task) -> list[float]:
        traces = [
            Trace(
                elapsed=task.now - last,
                importance=heuristic_importance(event.text, "en"),
                relevance=cosine,
            )
            for event, cosine, last in zip(task.events, task.cosines, task.recalled, strict=True)
        ]
        return scores(traces, weights=weights, decay=decay)

    return score


def by_cosine(task: Task) -> list[float]:
    """Relevance alone."""
    return list(task.cosines)


def replayed(
    person: Person, cosines: Cosines, calibration: Calibration, *, until: datetime
) -> tuple[list[float], list[datetime]]:
    """g and the last recall of each event, had the mechanism listened to the dialogue so far."""
    grown = [1.0] * len(person.events)
    last = [event.time for event in person.events]
    for text, now in sorted(person.turns, key=lambda turn: turn[1]):
        known = [i for i, event in enumerate(person.events) if event.time < now]
        if now > until or not known:
            continue
        raw = cosines(text, [person.events[i].text for i in known])
        chance = {
            i: recall_probability(
                relevance=calibration(c), elapsed=now - last[i], consolidation=grown[i]
            )
            for i, c in zip(known, raw, strict=True)
        }
        best = max(chance, key=lambda i: chance[i])
        if chance[best] > THRESHOLD:
            grown[best] = consolidated(grown[best], elapsed=now - last[best])
            last[best] = now
    return grown, last


def ready(
    people: Sequence[Person], cosines: Cosines, calibration: Calibration, *, hard: bool, each: int
) -> list[Task]:
    """The tasks with cosines, and with what the dialogue made of each event."""
    made = []
    for person in people:
        states: dict[datetime, tuple[list[float], list[datetime]]] = {}
        place = {id(event): i for i, event in enumerate(person.events)}
        for task in tasks([person], each=each, hard=hard, seed=7):
            if task.now not in states:
                states[task.now] = replayed(person, cosines, calibration, until=task.now)
            grown, last = states[task.now]
            chosen = [place[id(event)] for event in task.events]
            made.append(
                replace(
                    task,
                    cosines=tuple(cosines(task.text, [event.text for event in task.events])),
                    grown=tuple(grown[i] for i in chosen),
                    recalled=tuple(last[i] for i in chosen),
                )
            )
    return made
