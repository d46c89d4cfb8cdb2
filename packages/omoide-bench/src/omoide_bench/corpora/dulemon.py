"""DuLeMon (Xu et al. 2022), the sample of twenty Chinese dialogues: sentences of two personas, with
tags on many turns for the sentence that the turn is based on.

A query is a sentence of the bot's persona or one that the user stated. Its evidence is the turns
that annotators tagged with it. The dialogues are sessions of one owner, a week apart, so that all
their turns are candidates.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion
from omoide_bench.data import dulemon
from omoide_bench.data.shapes import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from omoide_bench.data.dulemon import GroundedDialogue
    from omoide_bench.data.shapes import DatasetLine

FILE = "samples.json"
CATEGORY = 14


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """All dialogues as one conversation."""
    dialogues = list(enumerate(dulemon.load(folder, FILE), start=1))
    at = FIRST_DAY + timedelta(weeks=len(dialogues) + 1)
    return (
        EvidenceConversation(
            name="dulemon",
            speakers=("user", "bot"),
            lines=tuple(
                line for number, grounded in dialogues for line in _lines(grounded, number)
            ),
            questions=tuple(
                question
                for number, grounded in dialogues
                for question in _asked(grounded, number, at)
            ),
        ),
    )


def _lines(grounded: GroundedDialogue, number: int) -> Iterator[DatasetLine]:
    """The lines of a dialogue as one session."""
    for line in grounded.dialogue.lines:
        later = line.time + timedelta(weeks=number)
        yield replace(line, id=_id(number, line.id), session=number, time=later)


def _asked(grounded: GroundedDialogue, number: int, at: datetime) -> Iterator[EvidenceQuestion]:
    """The questions of a dialogue, the bot's sentences first, as in the file."""
    labels = (label for label in grounded.facts if label not in grounded.unsaid)
    for label in sorted(labels, key=lambda label: label[0]):
        gold = frozenset(
            _id(number, line) for line, known in grounded.grounds.items() if label in known
        )
        if gold:
            yield EvidenceQuestion(
                text=grounded.facts[label],
                category=CATEGORY,
                evidence=gold,
                at=at,
                asker=Speaker.ASSISTANT if label.startswith("B") else Speaker.USER,
            )


def _id(number: int, line: str) -> str:
    return f"{number}:{line}"
