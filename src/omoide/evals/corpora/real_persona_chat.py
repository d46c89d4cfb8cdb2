"""RealPersonaChat (Yamashita et al. 2023), Japanese: pairs of people who met on many days.

There are no questions in it. A query is one noun, or two, of a turn, and its evidence the turns
that have them all, at most five: **made from the words themselves**, so the set tells whether short
Japanese queries are looked up rightly, not how good recall is. Nouns are runs of kanji or katakana
between other characters; one-character nouns stand for the short queries.
"""

from __future__ import annotations

import random
import re
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from omoide.evals.corpora.asking import Asked, Conversation, conversation
from omoide.evals.data import real_persona_chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from omoide.evals.data.shapes import Line

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
    return tuple(
        conversation(
            pair,
            _asked(pair.lines, random.Random("".join(pair.speakers))),  # noqa: S311
        )
        for pair in real_persona_chat.load(folder, limit=PAIRS)
    )


def _asked(lines: Sequence[Line], dice: random.Random) -> Iterator[Asked]:
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
