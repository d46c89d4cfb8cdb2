"""The questions, written for this task: `questions.jsonl`, one JSON object per line.

    {"id": "en-floor", "language": "en", "question": "Which floor do I live on?",
     "fact": "User's flat is on the third floor.", "answer": "third|3rd",
     "near": [["User's office is on the ninth floor.", "ninth|9th"], …]}

`answer` is a pattern that a right reply matches. `near` are similar notes that are not the answer,
each with the pattern of its value. A question without a fact is about the world. There are 24
questions with and 8 without a fact per language; they are of other kinds than the training data of
replies (`omoide_tune.written.asked`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources

from omoide.language import detect_language
from omoide_bench.unknown.admitting import admits, only_asks

FAR = (5, 11)
"""Offsets of the questions whose facts serve as unrelated notes."""
WORLD = (0, 3, 7, 12, 18)
"""The same for questions about the world."""


@dataclass(frozen=True, kw_only=True)
class UnknownQuestion:
    """A question, its answer, and other notes."""

    id: str
    language: str
    question: str
    answer: str
    fact: str = ""
    """The fact that answers it; empty if it is about the world."""
    others: tuple[tuple[str, str], ...] = ()
    """Notes that do not answer it, with the patterns of their values."""
    place: int = 0
    """Index of the fact among the other notes."""

    def given_notes(self, arm: str) -> tuple[str, ...]:
        """The notes in the prompt: in `known` the fact among the others, in `unknown` and `world`
        only the others."""
        notes = [text for text, _ in self.others]
        if arm == "known":
            notes.insert(self.place, self.fact)
        return tuple(notes)

    def has(self, arm: str) -> bool:
        """Whether the question belongs to that arm."""
        return bool(self.fact) is (arm != "world")


@dataclass(frozen=True, kw_only=True)
class UnknownMarks:
    """The checks of a reply."""

    right: bool
    """It contains the answer."""
    admits: bool
    """It says that it does not know, in any language."""
    asks: bool
    """It only asks."""
    borrows: bool
    """It contains another note's value and does not say that it does not know."""
    language: bool

    @property
    def made_up(self) -> bool:
        """If the fact is unknown: whether the reply answers anyway."""
        return self.borrows or not (self.admits or self.asks)


def load() -> tuple[UnknownQuestion, ...]:
    """All questions, each with its other notes."""
    text = (resources.files(__package__) / "questions.jsonl").read_text("utf-8")
    read = [json.loads(line) for line in text.splitlines()]
    questions, seen = [], dict[str, int]()
    for number, row in enumerate(read):
        language, near = row["language"], row.pop("near", [])
        facts = [
            (r["fact"], r["answer"]) for r in read if r["language"] == language and "fact" in r
        ]
        start = seen[language] = seen.get(language, -1) + 1
        steps = FAR if near else WORLD
        unrelated = [facts[(start + step) % len(facts)] for step in steps]
        others = [*((note, value) for note, value in near), *unrelated]
        offset = number % len(others)
        questions.append(
            UnknownQuestion(
                **row,
                others=tuple(others[offset:] + others[:offset]),
                place=number % (len(others) + 1),
            )
        )
    return tuple(questions)


def marks(question: UnknownQuestion, reply: str) -> UnknownMarks:
    """Check a reply."""
    language = detect_language(reply, default=question.language)
    admitted = any(admits(reply, code) for code in {question.language, language})
    values = [
        value for _, value in question.others if not re.search(value, question.question, re.I)
    ]
    borrowed = any(re.search(value, reply, re.IGNORECASE) for value in values)
    return UnknownMarks(
        right=re.search(question.answer, reply, re.IGNORECASE) is not None,
        admits=admitted,
        asks=only_asks(reply, question.language),
        borrows=borrowed and not admitted,
        language=language == question.language,
    )
