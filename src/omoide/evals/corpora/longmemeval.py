"""LongMemEval (Wu et al. 2024): one question over some fifty sessions with an assistant.

The turns that hold the answer are marked in the corpus (`has_answer`). Of one item, with words of
our own:

    {"question": "What do I grow?", "question_date": "2023/05/30 (Tue) 23:40",
     "haystack_dates": ["2023/05/20 (Sat) 02:21"],
     "haystack_sessions": [[{"role": "user", "content": "I grow tomatoes.", "has_answer": true}]]}
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.evals.locomo import Asked, Conversation, Line

if TYPE_CHECKING:
    from pathlib import Path

FILE = "one_item_of_longmemeval_s.json.gz"
CATEGORY = 13


def load(folder: Path) -> tuple[Conversation, ...]:
    """The one item that there is."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return tuple(map(_conversation, found if isinstance(found, list) else [found]))


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def _conversation(item: dict[str, Any]) -> Conversation:
    sessions = sorted(
        zip(item["haystack_dates"], item["haystack_sessions"], strict=True),
        key=lambda session: _time(session[0]),
    )
    lines, gold = [], set()
    for number, (date, turns) in enumerate(sessions, start=1):
        for place, turn in enumerate(turns):
            name = f"{number}:{place}"
            lines.append(
                Line(
                    id=name,
                    session=number,
                    speaker=turn["role"],
                    text=turn["content"],
                    time=_time(date) + timedelta(seconds=place),
                )
            )
            if turn.get("has_answer"):
                gold.add(name)
    asked = Asked(
        text=item["question"],
        category=CATEGORY,
        evidence=frozenset(gold),
        at=_time(item["question_date"]),
    )
    return Conversation(
        name=item["question_id"],
        speakers=("user", "assistant"),
        lines=tuple(line for line in lines if line.text.strip()),
        questions=(asked,),
        unanswerable=(),
        named=False,
    )
