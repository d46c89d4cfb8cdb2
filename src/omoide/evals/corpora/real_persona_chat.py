"""RealPersonaChat (Yamashita et al. 2023), Japanese: pairs of people who met on many days.

There are no questions in it. A query is one noun, or two, of a turn, and its evidence the turns
that have them all, at most five: **made from the words themselves**, so the set tells whether short
Japanese queries are looked up rightly, not how good recall is. Nouns are runs of kanji or katakana
between other characters; one-character nouns stand for the short queries. Of one pair, with words
of our own:

    {"pair": ["AA", "BB"], "dialogues": [{"utterances": [
        {"interlocutor_id": "AA", "text": "犬を飼いました", "timestamp": "2022-08-13T17:40:16"}]}]}
"""

from __future__ import annotations

import gzip
import json
import random
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omoide.evals.locomo import Asked, Conversation, Line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "multi_day_pairs.jsonl.gz"
CATEGORIES = {"one character": 16, "one noun": 17, "two nouns": 18}
PAIRS = 12
EACH = 10
"""Queries of each category from a pair."""
MOST = 5
"""Turns that may hold them."""
_NOUN = re.compile(r"[\u4e00-\u9fff]+|[\u30a1-\u30f6ー]{2,}")


def load(folder: Path) -> tuple[Conversation, ...]:
    """The first pairs, each an owner."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line, _ in zip(file, range(PAIRS), strict=False)]
    return tuple(map(_conversation, records))


def _conversation(record: dict[str, Any]) -> Conversation:
    lines: list[Line] = []
    for number, dialogue in enumerate(record["dialogues"], start=1):
        for place, turn in enumerate(dialogue["utterances"]):
            told = turn["timestamp"]
            # A few have none: they came after the one before.
            time = datetime.fromisoformat(told).replace(tzinfo=UTC) if told != "NaT" else None
            if turn["text"].strip() and (time or lines):
                lines.append(
                    Line(
                        id=f"{number}:{place}",
                        session=number,
                        speaker=turn["interlocutor_id"],
                        text=turn["text"],
                        time=time or lines[-1].time,
                    )
                )
    first, second = record["pair"]
    return Conversation(
        name=f"{first} {second}",
        speakers=(first, second),
        lines=tuple(lines),
        questions=tuple(_asked(lines, random.Random(f"{first}{second}"))),  # noqa: S311
        unanswerable=(),
        named=False,
    )


def _asked(lines: list[Line], dice: random.Random) -> Iterator[Asked]:
    nouns = {line.id: _NOUN.findall(line.text) for line in lines}
    last = max(line.time for line in lines)
    wanted: dict[str, list[tuple[str, ...]]] = {
        "one character": [(x,) for found in nouns.values() for x in found if len(x) == 1],
        "one noun": [(x,) for found in nouns.values() for x in found if len(x) > 1],
        "two nouns": [(x, y) for found in nouns.values() for x, y in pairwise(found)],
    }
    for name, choices in wanted.items():
        left = EACH
        for words in dice.sample(choices, len(choices)):
            if not left:
                break
            gold = frozenset(x.id for x in lines if all(word in x.text for word in words))
            if len(gold) <= MOST and len(set(words)) == len(words):
                left -= 1
                yield Asked(
                    text="と".join(words),
                    category=CATEGORIES[name],
                    evidence=gold,
                    at=last + timedelta(days=1),
                )
