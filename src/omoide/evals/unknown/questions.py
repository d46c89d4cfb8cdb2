"""The questions, written for this: `questions.jsonl`, one JSON object a line.

    {"id": "en-floor", "language": "en", "question": "Which floor do I live on?",
     "fact": "User's flat is on the third floor.", "answer": "third|3rd",
     "near": [["User's office is on the ninth floor.", "ninth|9th"], …]}

`answer` is a pattern that a right reply holds. `near` are notes of the same sort that are not the
answer, each with the pattern of its value. A question without a fact is one about the world. There
are 24 and 8 of them a language; they are of other sorts than those that replies are learnt from
(`omoide.tuning.written.asked`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources

from omoide.evals.unknown.admitting import admits, only_asks
from omoide.language import detect

FAR = (5, 11)
"""How many questions further on the facts of other sorts are from."""
WORLD = (0, 3, 7, 12, 18)
"""The same for the notes beside a question about the world."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, its answer, and what else is remembered."""

    id: str
    language: str
    question: str
    answer: str
    fact: str = ""
    """What was told; empty where it is about the world."""
    others: tuple[tuple[str, str], ...] = ()
    """Notes that do not answer it, with the patterns of their values."""
    place: int = 0
    """Where among the others the fact stands."""

    def handed(self, arm: str) -> tuple[str, ...]:
        """The notes that a reply is given: in `known` the fact among the others, in `unknown` and
        `world` the others alone."""
        notes = [text for text, _ in self.others]
        if arm == "known":
            notes.insert(self.place, self.fact)
        return tuple(notes)

    def has(self, arm: str) -> bool:
        """Whether it is asked in that arm."""
        return bool(self.fact) is (arm != "world")


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What a reply does."""

    right: bool
    """Holds the answer."""
    admits: bool
    """Says that it does not know, in whatever language."""
    asks: bool
    """Does nothing but ask."""
    borrows: bool
    """Holds another note's value and does not say that it does not know."""
    language: bool

    @property
    def made_up(self) -> bool:
        """Where nothing was told: whether it answers all the same."""
        return self.borrows or not (self.admits or self.asks)


def load() -> tuple[Question, ...]:
    """All questions, each with the notes that stand beside its fact."""
    text = (resources.files(__package__) / "questions.jsonl").read_text("utf-8")
    read = [json.loads(line) for line in text.splitlines()]
    found, seen = [], dict[str, int]()
    for number, row in enumerate(read):
        language, near = row["language"], row.pop("near", [])
        own = [(r["fact"], r["answer"]) for r in read if r["language"] == language and "fact" in r]
        start = seen[language] = seen.get(language, -1) + 1
        steps = FAR if near else WORLD
        far = [own[(start + step) % len(own)] for step in steps]
        others = [*((note, value) for note, value in near), *far]
        turn = number % len(others)
        found.append(
            Question(
                **row, others=tuple(others[turn:] + others[:turn]), place=number % (len(others) + 1)
            )
        )
    return tuple(found)


def marks(question: Question, reply: str) -> Marks:
    """How the reply did."""
    spoken = detect(reply, default=question.language)
    unknowing = any(admits(reply, code) for code in {question.language, spoken})
    values = [
        value for _, value in question.others if not re.search(value, question.question, re.I)
    ]
    borrowed = any(re.search(value, reply, re.IGNORECASE) for value in values)
    return Marks(
        right=re.search(question.answer, reply, re.IGNORECASE) is not None,
        admits=unknowing,
        asks=only_asks(reply, question.language),
        borrows=borrowed and not unknowing,
        language=spoken == question.language,
    )
