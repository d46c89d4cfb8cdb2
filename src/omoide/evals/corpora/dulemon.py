"""DuLeMon (Xu et al. 2022), the sample of twenty Chinese dialogues: sentences of two personas, and
for many turns the tag of the sentence that it rests on.

A query is a sentence of the bot's or one that the user is held to have told; its evidence, the
turns that people tagged with it. The dialogues are the sessions of one owner, a week apart, so that
the turns of all of them are candidates.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.evals.corpora.asking import Asked, Conversation
from omoide.evals.data import dulemon
from omoide.evals.data.shapes import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from omoide.evals.data.dulemon import Grounded
    from omoide.evals.data.shapes import Line

FILE = "samples.json"
CATEGORY = 14


def load(folder: Path) -> tuple[Conversation, ...]:
    """One conversation of all dialogues."""
    found = list(enumerate(dulemon.load(folder, FILE), start=1))
    at = FIRST_DAY + timedelta(weeks=len(found) + 1)
    return (
        Conversation(
            name="dulemon",
            speakers=("user", "bot"),
            lines=tuple(line for number, one in found for line in _lines(one, number)),
            questions=tuple(asked for number, one in found for asked in _asked(one, number, at)),
        ),
    )


def _lines(one: Grounded, number: int) -> Iterator[Line]:
    """The dialogue as a session of its own."""
    for line in one.dialogue.lines:
        later = line.time + timedelta(weeks=number)
        yield replace(line, id=_id(number, line.id), session=number, time=later)


def _asked(one: Grounded, number: int, at: datetime) -> Iterator[Asked]:
    """The bot's sentences first, as the file has them."""
    told = (label for label in one.facts if label not in one.unsaid)
    for label in sorted(told, key=lambda label: label[0]):
        gold = frozenset(_id(number, line) for line, known in one.grounds.items() if label in known)
        if gold:
            yield Asked(
                text=one.facts[label],
                category=CATEGORY,
                evidence=gold,
                at=at,
                asker=Speaker.ASSISTANT if label.startswith("B") else Speaker.USER,
            )


def _id(number: int, line: str) -> str:
    return f"{number}:{line}"
