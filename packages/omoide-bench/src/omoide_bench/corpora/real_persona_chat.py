"""RealPersonaChat (Yamashita et al. 2023), Japanese: pairs of people who chatted on several days.

It has no questions. A query is one or two nouns of a turn; its evidence is the turns that contain
all of them, at most five. **The evidence is derived from the query's words**, so the set shows
whether short Japanese queries are looked up correctly, not how good recall is. Nouns are runs of
kanji or katakana between other characters; one-character nouns represent short queries.
"""

from __future__ import annotations

import random
import re
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion, conversation
from omoide_bench.data import real_persona_chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import DatasetLine

FILE = "multi_day_pairs.jsonl.gz"
CATEGORIES = {"one character": 16, "one noun": 17, "two nouns": 18}
PAIRS = 12
EACH = 10
"""Queries per category and pair."""
MAX_EVIDENCE_TURNS = 5
"""Most evidence turns of a query."""
_NOUN = re.compile(r"[\u4e00-\u9fff]+|[\u30a1-\u30f6ー]{2,}")


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """The first pairs, one per owner."""
    return tuple(
        conversation(
            pair,
            _asked(pair.lines, random.Random("".join(pair.speakers))),  # noqa: S311
        )
        for pair in real_persona_chat.load(folder, limit=PAIRS)
    )


def _asked(lines: Sequence[DatasetLine], dice: random.Random) -> Iterator[EvidenceQuestion]:
    nouns = {line.id: _NOUN.findall(line.text) for line in lines}
    last = max(line.time for line in lines)
    wanted: dict[str, list[tuple[str, ...]]] = {
        "one character": [
            (x,) for words_of_line in nouns.values() for x in words_of_line if len(x) == 1
        ],
        "one noun": [(x,) for words_of_line in nouns.values() for x in words_of_line if len(x) > 1],
        "two nouns": [
            (x, y) for words_of_line in nouns.values() for x, y in pairwise(words_of_line)
        ],
    }
    for name, choices in wanted.items():
        left = EACH
        for words in dice.sample(choices, len(choices)):
            if not left:
                break
            gold = frozenset(x.id for x in lines if all(word in x.text for word in words))
            if len(gold) <= MAX_EVIDENCE_TURNS and len(set(words)) == len(words):
                left -= 1
                yield EvidenceQuestion(
                    text="と".join(words),
                    category=CATEGORIES[name],
                    evidence=gold,
                    at=last + timedelta(days=1),
                )
