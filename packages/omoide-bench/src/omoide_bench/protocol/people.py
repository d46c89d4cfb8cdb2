"""People with dated events, and inputs about one of these events, from LoCoMo and MSC.

- LoCoMo: a question, the observation (a third-person sentence by the data's authors) whose source
  is the question's evidence turn, and other observations about the same person; asked a day after
  the last session;
- MSC: a turn of session 2 or 3 that mentions a persona fact of an earlier session, that fact, and
  other facts about the same person; times follow the data's gaps.

In both sets the right event does not depend on time, so a recency term can only do harm. Speakers'
names are replaced by "the user": names would give the answer away.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from omoide.claims import coverage, rarity
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class PersonEvent:
    """An event of a person, and when it was mentioned."""

    text: str
    time: datetime
    session: int


@dataclass(kw_only=True)
class Person:
    """One person of a data set: their events, and inputs about an event."""

    key: str
    events: list[PersonEvent]
    related: list[tuple[str, datetime, tuple[int, ...]]] = field(default_factory=list)
    """Input, its time, and the indices of the right events."""
    turns: list[tuple[str, datetime]] = field(default_factory=list)


def locomo(path: Path) -> list[Person]:
    """Two people per conversation, with their observations and questions."""
    people = []
    for conversation in json.loads(_text(path)):
        talk = conversation["conversation"]
        names = (talk["speaker_a"], talk["speaker_b"])
        times = {
            int(key.split("_")[1]): _locomo_time(value)
            for key, value in talk.items()
            if key.endswith("_date_time")
        }
        last = max(time for number, time in times.items() if f"session_{number}" in talk)
        for name in names:
            observed: list[tuple[PersonEvent, set[str]]] = []
            for key, observations in conversation["observation"].items():
                session = int(key.split("_")[1])
                for text, evidence in observations.get(name, []):
                    ids = evidence if isinstance(evidence, list) else [evidence]
                    event = PersonEvent(
                        text=unnamed(text, name), time=times[session], session=session
                    )
                    observed.append((event, set(ids)))
            person = Person(
                key=f"{conversation['sample_id']}/{name}", events=[event for event, _ in observed]
            )
            for qa in conversation["qa"]:
                if qa["category"] == 5 or name not in qa["question"]:
                    continue
                right = tuple(i for i, (_, ids) in enumerate(observed) if ids & set(qa["evidence"]))
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
    """Two people per dialogue, with their persona facts and the turns that mention one again."""
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
                texts = [
                    turn["text"]
                    for turn in session["turns"]
                    if turn["speaker"] == f"Speaker {side + 1}" and turn["text"].strip()
                ]
                person.turns += [(text, time) for text in texts]
                if number in (2, 3):  # the gap before these is known
                    person.related += _mentions(texts, time, person.events)
                gold = session.get("gold_persona_summary")
                person.events += [
                    PersonEvent(text=third_person(fact), time=time, session=number)
                    for fact in (gold[side] if gold else [])
                    if fact.strip()
                ]
            people.append(person)
    return people


def _mentions(
    texts: Sequence[str], time: datetime, events: Sequence[PersonEvent]
) -> list[tuple[str, datetime, tuple[int, ...]]]:
    weight = rarity(terms_of(event.text) for event in events)
    related = []
    for text in texts:
        right = tuple(i for i, e in enumerate(events) if mentions(text, e.text, weight))
        if right:
            related.append((text, time, right))
    return related


@lru_cache(maxsize=100_000)
def terms_of(text: str) -> set[str]:
    """The content terms of a text, cached."""
    return content_terms(text)


def mentions(text: str, event: str, weight: dict[str, float] | None = None) -> bool:
    """Whether an input mentions an event: at least two and most of its content terms occur."""
    wanted, present = terms_of(event), terms_of(text)
    return len(wanted & present) >= 2 and coverage(wanted, present, weight) >= 0.6


def unnamed(text: str, name: str) -> str:
    """The text with "the user" in place of the person's name."""
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
    """A persona fact in the third person, by rough rules."""
    for pattern, words in _THIRD:
        fact = re.sub(pattern, words, fact)
    return fact[:1].upper() + fact[1:]


def _text(path: Path) -> str:
    packed = path.suffix == ".gz"
    with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as file:
        return file.read()


def _locomo_time(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _gap(text: str) -> timedelta:
    number, unit = text.split()[:2]
    return int(number) * (timedelta(hours=1) if unit.startswith("hour") else timedelta(days=1))
