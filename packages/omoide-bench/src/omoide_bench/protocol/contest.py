"""The contest: an input and four events, one of them right; the loss of each method.

Each method's four scores are scaled to [0, 1] by min-max and go through a softmax; the loss is half
the squared error to the one-hot truth. As the softmax is over values in [0, 1], the loss with four
candidates lies between 0.18 and 0.53.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import forgetting
from omoide.language import content_terms
from omoide.mechanisms import recall_settings
from omoide.mechanisms.baselines import generative_agents_scoring
from omoide.mechanisms.events import emotion
from omoide.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from omoide.mechanisms.events import RecallSettings
    from omoide_bench.protocol.people import Person, PersonEvent

    Cosines = Callable[[str, Sequence[str]], list[float]]
    """Cosines of a text with each of the others."""

PAPER = recall_settings(Settings.of("hou2024"))
"""The paper's constants."""


@dataclass(frozen=True, kw_only=True)
class RecallTask:
    """An input and four events, the first of which is right."""

    text: str
    now: datetime
    events: tuple[PersonEvent, ...]
    cosines: tuple[float, ...] = ()
    grown: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    """g of each event after the dialogue so far."""
    recalled: tuple[datetime, ...] = ()


def tasks(people: Sequence[Person], *, each: int, hard: bool, seed: int) -> list[RecallTask]:
    """At most `each` tasks per person; wrong events are random, or those that share most words."""
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    contests = []
    for person in people:
        chosen_inputs = dice.sample(person.related, min(each, len(person.related)))
        for text, now, right in chosen_inputs:
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
            contests.append(RecallTask(text=text, now=now, events=chosen))
    return contests


def human(
    *,
    relevance: Callable[[float], float],
    unit: timedelta = forgetting.UNIT,
    felt: float = 0.0,
) -> Callable[[RecallTask], list[float]]:
    """Scores by eq. 8 of paper B."""

    def score(task: RecallTask) -> list[float]:
        return [
            forgetting.recall_probability(
                relevance=relevance(cosine),
                elapsed=task.now - last,
                consolidation=grown * (1 + felt * emotion(event.text, "en")),
                unit=unit,
            )
            for event, cosine, grown, last in zip(
                task.events, task.cosines, task.grown, task.recalled, strict=True
            )
        ]

    return score


def generative(
    importance: Callable[[str], float] | None = None,
    *,
    weights: generative_agents_scoring.AgentWeights = generative_agents_scoring.PAPER,
    decay: float = 0.995,
) -> Callable[[RecallTask], list[float]]:
    """Scores of Generative Agents: recency, importance (without a model unless it is given) and
    relevance."""

    rate = importance or (lambda text: generative_agents_scoring.heuristic_importance(text, "en"))

    def score(task: RecallTask) -> list[float]:
        traces = [
            generative_agents_scoring.ScoreTrace(
                elapsed=task.now - last,
                importance=rate(event.text),
                relevance=cosine,
            )
            for event, cosine, last in zip(task.events, task.cosines, task.recalled, strict=True)
        ]
        return generative_agents_scoring.agent_scores(traces, weights=weights, decay=decay)

    return score


def by_cosine(task: RecallTask) -> list[float]:
    """Scores by cosine only."""
    return list(task.cosines)


def replayed(
    person: Person,
    cosines: Cosines,
    relevance: Callable[[float], float],
    *,
    until: datetime,
    knobs: RecallSettings = PAPER,
) -> tuple[list[float], list[datetime]]:
    """g and the last recall of each event, if the mechanism had processed the dialogue so far."""
    grown = [1.0] * len(person.events)
    last = [event.time for event in person.events]
    for text, now in sorted(person.turns, key=lambda turn: turn[1]):
        known = [i for i, event in enumerate(person.events) if event.time < now]
        if now > until or not known:
            continue
        raw = cosines(text, [person.events[i].text for i in known])
        chance = {
            i: forgetting.recall_probability(
                relevance=relevance(c),
                elapsed=now - last[i],
                consolidation=grown[i],
                unit=knobs.unit,
            )
            for i, c in zip(known, raw, strict=True)
        }
        best = max(chance, key=lambda i: chance[i])
        if chance[best] > knobs.threshold:
            grown[best] = forgetting.consolidated(
                grown[best], elapsed=now - last[best], unit=knobs.spacing
            )
            last[best] = now
    return grown, last


def ready(
    people: Sequence[Person],
    cosines: Cosines,
    relevance: Callable[[float], float],
    *,
    hard: bool,
    each: int,
    knobs: RecallSettings = PAPER,
) -> list[RecallTask]:
    """The tasks with cosines, and with the state of each event after the dialogue so far, with
    these settings of recall."""
    contests = []
    for person in people:
        states: dict[datetime, tuple[list[float], list[datetime]]] = {}
        index = {id(event): i for i, event in enumerate(person.events)}
        for task in tasks([person], each=each, hard=hard, seed=7):
            if task.now not in states:
                states[task.now] = replayed(person, cosines, relevance, until=task.now, knobs=knobs)
            grown, last = states[task.now]
            chosen = [index[id(event)] for event in task.events]
            contests.append(
                replace(
                    task,
                    cosines=tuple(cosines(task.text, [event.text for event in task.events])),
                    grown=tuple(grown[i] for i in chosen),
                    recalled=tuple(last[i] for i in chosen),
                )
            )
    return contests
