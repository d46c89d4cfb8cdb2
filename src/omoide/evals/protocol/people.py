"""People with dated events and inputs that are about one of them, out of LoCoMo and MSC.

- LoCoMo: a question, the observation (a third-person sentence written by the data's authors) that
  rests on its gold evidence turn, and other observations about the same person; asked a day after
  the last session;
- MSC: a turn of session 2 or 3 that mentions a persona fact of an earlier session, that fact, and
  other facts of the same person; times by the data's gaps.

What is right does not depend on the time in either set, so a recency term can only cost there.
Speakers' names are replaced by "the user": names would give the answer away.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide.memory.overlap import coverage, rarity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


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


def locomo(path: Path) -> list[Person]:
    """Two people a conversation, with their observations and questions."""
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
    packed = path.suffix == ".gz"
    with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as file:
        return file.read()


def _locomo_time(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _gap(text: str) -> timedelta:
    number, unit = text.split()[:2]
    return int(number) * (timedelta(hours=1) if unit.startswith("hour") else timedelta(days=1))
