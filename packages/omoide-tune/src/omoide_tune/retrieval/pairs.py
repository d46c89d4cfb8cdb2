"""Questions with the turn that answers each, kept only if they find that turn again.

A line of the file, made up:

    {"question": "What is Ann's dog called?", "style": "direct", "source": "own",
     "language": "en", "held_out": false, "conversation": "own/en/7", "turn": "0.3",
     "negatives": [["own/en/7", "0.5"]]}

A pair without a turn is a question that nothing in its conversation answers.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from omoide_tune.retrieval.asking import example_questions
from omoide_tune.retrieval.words import Bm25, rank, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from omoide_tune.retrieval.shapes import Conversation

FOUND = 20
"""A question is kept if its turn is among so many, by vectors or by words."""
NEAR, NEGATIVES = 60, 24
"""Wrong turns: so many out of the nearest so many."""
COPIED = 0.8
"""Share of the question's words that its turn may hold at most."""
LEAKED = 0.6
"""Share of its words that a worked example's question may hold and its turn does not."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a model asked about a turn."""

    text: str
    style: str
    conversation: str
    turn: str


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A question, the turn that answers it, and turns that do not."""

    question: str
    style: str
    source: str
    language: str
    held_out: bool
    conversation: str
    turn: str
    """Empty where nothing answers."""
    negatives: tuple[tuple[str, str], ...] = ()


def copied(question: str, turn: str) -> bool:
    """Whether the question is made of the turn's own words, or of a worked example's.

    >>> copied("my dog is called Rex", "Well, my dog is called Rex.")
    True
    """
    asked = terms(question)
    if not asked:
        return True
    said = set(terms(turn))
    if sum(term in said for term in asked) / len(asked) > COPIED:
        return True
    return any(
        sum(term in example and term not in said for term in asked) / len(asked) > LEAKED
        for example in _examples()
    )


@cache
def _examples() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms(text)) for text in example_questions())


def checked(
    pool: Sequence[Conversation],
    questions: Sequence[Question],
    *,
    turns: NDArray[np.float32],
    asked: NDArray[np.float32],
    seed: int = 1,
) -> Iterator[Pair]:
    """The questions that find their turn among all turns of the pool, with wrong turns.

    `turns` and `asked` are the vectors of an embedder that was not tuned, in order.
    """
    places = [(c.name, t.id) for c in pool for t in c.turns]
    where = {key: place for place, key in enumerate(places)}
    texts = [turn.text for c in pool for turn in c.turns]
    of = {c.name: c for c in pool}
    words = Bm25(texts)
    dice = random.Random(f"{seed}/{pool[0].name}")  # noqa: S311 - an order, not a secret
    cosines = asked @ turns.T
    known: set[tuple[str, str, str]] = set()
    for row, question in enumerate(questions):
        key = (question.conversation, question.turn, question.text)
        if key in known:
            continue  # the same words under another label
        known.add(key)
        gold = where[question.conversation, question.turn]
        if copied(question.text, texts[gold]):
            continue
        found = rank(cosines[row], gold) <= FOUND
        if not found:
            scores = words.scores(question.text)
            found = scores[gold] > 0 and rank(scores, gold) <= FOUND
        if not found:
            continue
        # Its neighbours often say the same; they are neither right nor wrong.
        near = [i for i in np.argsort(-cosines[row])[: NEAR + 3].tolist() if abs(i - gold) > 1]
        wrong = dice.sample(near, min(NEGATIVES, len(near)))
        about = of[question.conversation]
        yield Pair(
            question=question.text,
            style=question.style,
            source=about.source,
            language=about.language,
            held_out=about.held_out,
            conversation=question.conversation,
            turn=question.turn,
            negatives=tuple(places[i] for i in wrong),
        )


def unanswered(
    pairs: Sequence[Pair], pool_of: Mapping[str, int], *, share: float = 0.05, seed: int = 1
) -> Iterator[Pair]:
    """Questions put to a conversation of another pool of the same source: nothing answers them."""
    dice = random.Random(seed)  # noqa: S311 - an order, not a secret
    groups: dict[tuple[str, str, bool], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.source, pair.language, pair.held_out), []).append(pair)
    for group in groups.values():
        for pair in dice.sample(group, int(share * len(group))):
            other = dice.choice(group)
            if pool_of[other.conversation] != pool_of[pair.conversation]:
                fields = asdict(pair) | {"conversation": other.conversation, "turn": ""}
                yield Pair(**fields | {"negatives": ()})


def write(path: Path, pairs: Iterable[Pair]) -> None:
    """One line a pair."""
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")


def read(path: Path) -> list[Pair]:
    """What `write` wrote."""
    with path.open(encoding="utf-8") as file:
        records = map(json.loads, file)
        return [
            Pair(**record | {"negatives": tuple(map(tuple, record["negatives"]))})
            for record in records
        ]


def card(
    pairs: Sequence[Pair], *, asked: int, licences: Mapping[str, str], model: str
) -> dict[str, object]:
    """Counts by source, language and style, with the licence of each source."""
    kept = Counter((p.source, p.language) for p in pairs if p.turn)
    empty = Counter((p.source, p.language) for p in pairs if not p.turn)
    return {
        "model": model,
        "asked": asked,
        "kept": sum(kept.values()),
        "held_out": sum(p.held_out for p in pairs if p.turn),
        "unanswered": sum(empty.values()),
        "sources": [
            {
                "source": source,
                "language": language,
                "licence": licences[source],
                "pairs": count,
                "unanswered": empty[source, language],
            }
            for (source, language), count in sorted(kept.items())
        ],
        "styles": dict(sorted(Counter(p.style for p in pairs if p.turn).items())),
        "kept_if": f"own turn among the first {FOUND} of its pool by an embedder that was not "
        f"tuned or by BM25, and at most {COPIED:.0%} of its words are the turn's",
    }
