"""LoCoMo (Maharana et al. 2024): ten long conversations of two people, and questions about them.

The file is a list of conversations; of one, shortened:

    {"sample_id": "conv-26",
     "conversation": {
       "speaker_a": "Caroline", "speaker_b": "Melanie",
       "session_1_date_time": "1:56 pm on 8 May, 2023",
       "session_1": [
         {"speaker": "Caroline", "dia_id": "D1:3",
          "text": "I went to a LGBTQ support group yesterday and it was so powerful."},
         {"speaker": "Melanie", "dia_id": "D1:14", "text": "Yeah, I painted that lake sunrise!",
          "blip_caption": "a photo of a painting of a sunset over a lake"}]},
     "qa": [
       {"question": "When did Caroline go to the LGBTQ support group?", "answer": "7 May 2023",
        "evidence": ["D1:3"], "category": 2}]}

Categories: 1 several turns together, 2 time, 3 open, 4 a single turn, 5 no answer. Questions have
no date; they are taken to be asked on the day after the last session. An image that was shared is
told by its caption. Evidence is every `D…:…` in the field that names an existing turn.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

FILE = "locomo10.json.gz"
TUNED_ON = 5
"""The weights of recall were fitted on the first so many conversations."""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
_EVIDENCE = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One turn."""

    id: str
    session: int
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question and the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Two people over many sessions."""

    name: str
    speakers: tuple[str, str]
    lines: tuple[Line, ...]
    questions: tuple[Asked, ...]
    """Of categories 1 to 4, as far as their evidence exists."""
    unanswerable: tuple[Asked, ...]
    """Of category 5."""


def load(folder: Path) -> tuple[Conversation, ...]:
    """All conversations, in the order of the file."""
    path = folder / FILE
    if not path.exists():
        raise BadInput(f"there is no {path}; give the folder that holds LoCoMo's {FILE}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return tuple(_conversation(record) for record in json.load(file))


def _conversation(record: dict[str, Any]) -> Conversation:
    told = record["conversation"]
    lines: list[Line] = []
    number = 1
    while f"session_{number}_date_time" in told:
        began = datetime.strptime(
            told[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y"
        ).replace(tzinfo=UTC)
        for place, turn in enumerate(told.get(f"session_{number}", ())):
            caption = turn.get("blip_caption")
            lines.append(
                Line(
                    id=turn["dia_id"],
                    session=number,
                    speaker=turn["speaker"],
                    text=turn["text"] + (f" [shares {caption}]" if caption else ""),
                    time=began + timedelta(seconds=place),
                )
            )
        number += 1
    known = {line.id for line in lines}
    questions = [
        Asked(
            text=question["question"],
            category=question["category"],
            evidence=frozenset(_EVIDENCE.findall(" ".join(question.get("evidence", ())))) & known,
            at=lines[-1].time + timedelta(days=1),
        )
        for question in record["qa"]
    ]
    return Conversation(
        name=record["sample_id"],
        speakers=(told["speaker_a"], told["speaker_b"]),
        lines=tuple(lines),
        questions=tuple(q for q in questions if q.category in CATEGORIES and q.evidence),
        unanswerable=tuple(q for q in questions if q.category not in CATEGORIES),
    )
