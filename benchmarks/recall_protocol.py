"""The recall protocol of paper B on real dialogues: hundreds of tasks instead of ten.

Hou et al. 2024, section 4: each task has an input and four events with times, one of them right;
each model's four scores are scaled to [0, 1] by min-max, go through a softmax, and the loss is
half the squared error to the one-hot truth; two models are compared by a paired, two-tailed t-test
over the tasks. (As their loss is over a softmax of values in [0, 1], it cannot be below 0.18, nor
above 0.53, with four candidates.)

    python benchmarks/recall_protocol.py --data ../shared/data --models /tmp/om

Tasks are built from
- LoCoMo: a question, the observation (a third-person sentence written by the data's authors) that
  rests on its gold evidence turn, and three other observations about the same person; asked a day
  after the last session;
- MSC: a turn of session 2 or 3 that mentions a persona fact of an earlier session, that fact, and
  three other facts of the same person; times by the data's gaps.

What is right does not depend on the time in either set, so a recency term can only cost there;
that is said in the report rather than hidden. Speakers' names are replaced by "the user": names
would give the answer away.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from omoide.adapters.embedders import choose
from omoide.domain.forgetting import THRESHOLD, UNIT, consolidated, recall_probability
from omoide.evals.bootstrap import paired_t as paired
from omoide.evals.metrics import choice_loss as loss
from omoide.language import content_terms
from omoide.memory.baselines.generative_agents_scoring import (
    PAPER,
    Trace,
    Weights,
    heuristic_importance,
    scores,
)
from omoide.memory.events.calibration import of_space
from omoide.memory.events.feeling import feeling
from omoide.memory.overlap import coverage, rarity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from omoide.memory.events.calibration import Calibration
    from omoide.ports import Vectors

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


# ── People with events, out of the data ─────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Happening:
    """An event of a person, and when it was told."""

    text: str
    time: datetime
    session: int


@dataclass(kw_only=True)
class Person:
    """One person of a data set: what is known of them, and inputs that are about an event."""

    key: str
    events: list[Happening]
    related: list[tuple[str, datetime, tuple[int, ...]]] = field(default_factory=list)
    """Input, when it is said, and which events are right."""
    turns: list[tuple[str, datetime]] = field(default_factory=list)


def locomo(data: Path) -> list[Person]:
    """Two people a conversation, with their observations and questions."""
    people = []
    for conversation in json.loads(_text(data / "locomo" / "locomo10.json.gz")):
        talk = conversation["conversation"]
        names = (talk["speaker_a"], talk["speaker_b"])
        times = {
            int(key.split("_")[1]): _locomo_time(value)
            for key, value in talk.items()
            if key.endswith("_date_time")
        }
        last = max(time for number, time in times.items() if f"session_{number}" in talk)
        for name in names:
            found: list[tuple[Happening, set[str]]] = []
            for key, told in conversation["observation"].items():
                session = int(key.split("_")[1])
                for text, evidence in told.get(name, []):
                    ids = evidence if isinstance(evidence, list) else [evidence]
                    event = Happening(
                        text=unnamed(text, name), time=times[session], session=session
                    )
                    found.append((event, set(ids)))
            person = Person(
                key=f"{conversation['sample_id']}/{name}", events=[event for event, _ in found]
            )
            for qa in conversation["qa"]:
                if qa["category"] == 5 or name not in qa["question"]:
                    continue
                right = tuple(i for i, (_, ids) in enumerate(found) if ids & set(qa["evidence"]))
                if right:
                    asked = (unnamed(qa["question"], name), last + timedelta(days=1), right)
                    person.related.append(asked)
            person.turns = [
                (turn["text"], times[number])
                for number in times
                for turn in talk.get(f"session_{number}", [])
                if turn["speaker"] == name and turn["text"].strip()
            ]
            people.append(person)
    return people


def msc(path: Path, *, dialogues: int) -> list[Person]:
    """Two people a dialogue, with their persona facts and the turns that mention one again."""
    people = []
    for line in _text(path).splitlines()[:dialogues]:
        dialogue = json.loads(line)
        times, now = {}, START
        for session in dialogue["sessions"]:
            times[session["session"]] = now
            now += _gap(session.get("gap_to_next") or "1 days")
        for side in (0, 1):
            person = Person(key=f"{dialogue['id']}/{side}", events=[])
            for session in dialogue["sessions"]:
                number, time = session["session"], times[session["session"]]
                said = [
                    turn["text"]
                    for turn in session["turns"]
                    if turn["speaker"] == f"Speaker {side + 1}" and turn["text"].strip()
                ]
                person.turns += [(text, time) for text in said]
                if number in (2, 3):  # the gap before these is known
                    person.related += _mentions(said, time, person.events)
                gold = session.get("gold_persona_summary")
                person.events += [
                    Happening(text=third_person(fact), time=time, session=number)
                    for fact in (gold[side] if gold else [])
                    if fact.strip()
                ]
            people.append(person)
    return people


def _mentions(
    said: Sequence[str], time: datetime, events: Sequence[Happening]
) -> list[tuple[str, datetime, tuple[int, ...]]]:
    weight = rarity(terms_of(event.text) for event in events)
    found = []
    for text in said:
        right = tuple(i for i, e in enumerate(events) if mentions(text, e.text, weight))
        if right:
            found.append((text, time, right))
    return found


@lru_cache(maxsize=100_000)
def terms_of(text: str) -> set[str]:
    """The meaningful terms of a text, remembered."""
    return content_terms(text)


def mentions(text: str, event: str, weight: dict[str, float] | None = None) -> bool:
    """Whether an input speaks of an event, by words: two meaningful terms and most of them."""
    wanted, heard = terms_of(event), terms_of(text)
    return len(wanted & heard) >= 2 and coverage(wanted, heard, weight) >= 0.6


def unnamed(text: str, name: str) -> str:
    """The text with "the user" for the person's name."""
    text = re.sub(rf"\b{re.escape(name)}\b", "the user", text)
    return text[:1].upper() + text[1:]


_THIRD = (
    (r"\bI'm\b|\bI am\b|\bi am\b|\bi'm\b", "the user is"),
    (r"\bI've\b|\bI have\b", "the user has"),
    (r"\b[Ii]\b", "the user"),
    (r"\b[Mm]y\b", "the user's"),
    (r"\bme\b|\bmyself\b", "the user"),
)


def third_person(fact: str) -> str:
    """A persona fact in the third person, well enough."""
    for pattern, words in _THIRD:
        fact = re.sub(pattern, words, fact)
    return fact[:1].upper() + fact[1:]


def _text(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def _locomo_time(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _gap(text: str) -> timedelta:
    number, unit = text.split()[:2]
    return int(number) * (timedelta(hours=1) if unit.startswith("hour") else timedelta(days=1))


# ── Vectors, kept between runs ──────────────────────────────────────────────────────────────


class Cosines:
    """Vectors by text for one embedder, kept in a file."""

    def __init__(self, name: str, *, models: Path, cache: Path) -> None:
        self.embedder = choose(name, models=models, offline=True, api_key=None)
        self._file = cache / f"vectors-{name}.npz"
        self._known: dict[str, Vectors] = {}
        if self._file.exists():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))

    async def learn(self, texts: Iterable[str]) -> None:
        """Embed what is new."""
        assert self.embedder is not None
        new = sorted({text for text in texts if _key(text) not in self._known})
        for start in range(0, len(new), 512):
            batch = new[start : start + 512]
            rows = await self.embedder.embed(batch)
            self._known |= {_key(text): row for text, row in zip(batch, rows, strict=True)}
            print(f"  embedded {start + len(batch)} of {len(new)}", flush=True)
        if new:
            keys = np.array(list(self._known))
            np.savez(self._file, keys=keys, rows=np.stack(list(self._known.values())))

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of a text with each of the others."""
        if not others:
            return []
        rows = np.stack([self._known[_key(other)] for other in others])
        found: list[float] = (rows @ self._known[_key(text)]).tolist()
        return found


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


# ── Tasks and their losses ──────────────────────────────────────────────────────────────────


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


# ── Rivals ──────────────────────────────────────────────────────────────────────────────────


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


def learnt_human(
    given: Sequence[Task], relevance: Callable[[float], float]
) -> tuple[Callable[[Task], list[float]], str]:
    """The unit and the weight of feeling with the least loss on these tasks."""
    choices = [(scale, felt) for scale in (0.3, 1, 3, 10, 30, 1000) for felt in (0.0, 1.0, 3.0)]
    scale, felt = min(
        choices,
        key=lambda c: fmean(
            loss(human(relevance=relevance, unit=UNIT * c[0], felt=c[1])(t)) for t in given
        ),
    )
    return (
        human(relevance=relevance, unit=UNIT * scale, felt=felt),
        f"unit ×{scale:g}, feeling {felt:g}",
    )


def learnt_generative(given: Sequence[Task]) -> tuple[Callable[[Task], list[float]], str]:
    """The weights with the least loss on these tasks."""
    choices = [
        Weights(recency=a, importance=b, relevance=1.0)
        for a in (0.0, 0.1, 0.3, 1.0)
        for b in (0.0, 0.1, 0.3, 1.0)
    ]
    best = min(choices, key=lambda w: fmean(loss(generative(w)(t)) for t in given))
    return generative(best), f"recency {best.recency:g}, importance {best.importance:g}"


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


def report(label: str, made: Sequence[Task], calibration: Calibration) -> None:
    """Mean losses, how often the right event is first, and paired tests, on the second half."""
    fit, held = made[::2], made[1::2]
    best, its = learnt_human(fit, calibration)
    other, others = learnt_generative(fit)
    rivals: dict[str, Callable[[Task], list[float]]] = {
        "human-like (paper: raw cosine)": human(relevance=lambda cosine: cosine),
        "human-like (calibrated)": human(relevance=calibration),
        f"human-like learnt ({its})": best,
        "Generative Agents (paper)": generative(),
        f"Generative Agents learnt ({others})": other,
        "cosine alone": by_cosine,
    }
    losses = {name: [loss(score(task)) for task in held] for name, score in rivals.items()}
    print(f"\n{label}: {len(fit)} tasks to learn from, {len(held)} held out")
    for name, score in rivals.items():
        first = [(s := score(task))[0] >= max(s) for task in held]
        print(f"  {name:56} loss {fmean(losses[name]):.4f}  first {fmean(first):.3f}")
    base = losses["human-like (calibrated)"]
    for name in rivals:
        if name != "human-like (calibrated)":
            c = paired(base, losses[name])
            print(
                f"  calibrated − {name}: {c.mean:+.4f} [{c.low:+.4f}, {c.high:+.4f}], "
                f"t = {c.statistic:.2f}, p = {c.p:.2g}, n = {c.count}"
            )


def by_unit(made: Sequence[Task], calibration: Calibration) -> None:
    """Losses of eq. 8 over all tasks together, by unit and by the weight of feeling."""
    print("\nall tasks together: loss on the half to learn from, and held out")
    for scale in (0.3, 1, 3, 10, 30, 100, 1000):
        for felt in (0.0, 1.0):
            score = human(relevance=calibration, unit=UNIT * scale, felt=felt)
            fit, held = (fmean(loss(score(t)) for t in made[i::2]) for i in (0, 1))
            days = UNIT * scale / timedelta(days=1)
            print(f"  unit {days:8.0f} days, feeling {felt:g}: {fit:.4f}  {held:.4f}")
    held_out = made[1::2]
    for name, score in (("cosine alone", by_cosine), ("Generative Agents", generative())):
        print(f"  {name}: held out {fmean(loss(score(t)) for t in held_out):.4f}")


def trigger(people: Sequence[Person], cosines: Cosines, calibration: Calibration) -> None:
    """What share of related inputs recall a right event at its real age, by unit and threshold."""
    print("\ntrigger on LoCoMo, all events of the person, real ages, g by replay:")
    print("  unit (days)     " + "".join(f"   k={k:.2f}" for k in (0.7, 0.78, 0.82, 0.86)))
    for scale in (1, 3, 10, 30, 1000):
        hits: dict[float, list[bool]] = {}
        for person in people:
            if not person.related:
                continue
            grown, last = replayed(person, cosines, calibration, until=person.related[0][1])
            for text, now, right in person.related:
                texts = [person.events[i].text for i in right]
                chances = [
                    recall_probability(
                        relevance=calibration(c),
                        elapsed=now - last[i],
                        consolidation=grown[i],
                        unit=UNIT * scale,
                    )
                    for i, c in zip(right, cosines(text, texts), strict=True)
                ]
                for k in (0.7, 0.78, 0.82, 0.86):
                    hits.setdefault(k, []).append(max(chances) > k)
        days = UNIT * scale / timedelta(days=1)
        print(f"  {days:12.0f}    " + "".join(f"   {fmean(h):.3f} " for h in hits.values()))


async def main() -> None:
    """Build the tasks, score them, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("/tmp/omoide-vectors"))  # noqa: S108
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--dialogues", type=int, default=100)
    parser.add_argument("--each", type=int, default=40, help="most tasks a person")
    given = parser.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    cosines = Cosines(given.embedder, models=given.models, cache=given.cache)
    assert cosines.embedder is not None
    calibration = of_space(cosines.embedder.space)
    assert calibration is not None, "run benchmarks/calibrate.py first"
    sets = {
        "LoCoMo": locomo(given.data),
        "MSC": msc(given.data / "msc/valid.jsonl.gz", dialogues=given.dialogues),
    }
    for people in sets.values():
        await cosines.learn(
            text
            for p in people
            for text in (
                *(event.text for event in p.events),
                *(text for text, _, _ in p.related),
                *(text for text, _ in p.turns if p.related),
            )
        )
    every: list[Task] = []
    for label, people in sets.items():
        for hard in (False, True):
            made = ready(people, cosines, calibration, hard=hard, each=given.each)
            wrong = "the three others that share most words" if hard else "three others at random"
            report(f"{label}, {wrong}", made, calibration)
            every += made
    by_unit(every, calibration)
    trigger(sets["LoCoMo"], cosines, calibration)
    await cosines.embedder.close()


if __name__ == "__main__":
    asyncio.run(main())
