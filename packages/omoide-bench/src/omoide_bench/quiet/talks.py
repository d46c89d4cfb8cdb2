"""The talks, written for this task: `talks.en.jsonl` and so on, one JSON object per line.

    {"topic": "moons of Jupiter", "lines": ["U: How many moons …", "A: …"], "user": []}

A user asks about the world, gets help, or arranges something with somebody. `user` lists the facts
about themselves that will still matter in a month: mostly none. No model was trained on these
talks. Our own LoRA adapters learn that there may be nothing to note from other talks by the same
authors (`omoide_tune.everyday`), so for these adapters this is the easiest exam of its kind.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from omoide.claims import coverage
from omoide.language import LANGUAGES, content_terms

FOUND = 0.6
"""Share of a fact's words that a note must have to count as that fact."""


@dataclass(frozen=True, kw_only=True)
class QuietTalk:
    """A talk, and the facts worth noting."""

    id: str
    language: str
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the assistant, and the text."""
    facts: tuple[str, ...]
    """In the third person, without the name."""


def load() -> tuple[QuietTalk, ...]:
    """All talks, by language."""
    return tuple(
        QuietTalk(
            id=f"{language}-{number}",
            language=language,
            lines=tuple((line[0], line[3:]) for line in row["lines"]),
            facts=tuple(row["user"]),
        )
        for language in LANGUAGES
        for number, row in enumerate(_rows(language), start=1)
    )


def found(facts: tuple[str, ...], notes: list[str]) -> int:
    """How many of the facts are in some note.

    >>> found(("has two cats.", "lives in Oslo."), ["User has two cats."])
    1
    """
    note_terms = [content_terms(note) for note in notes]
    return sum(
        any(coverage(content_terms(fact), terms) >= FOUND for terms in note_terms) for fact in facts
    )


def _rows(language: str) -> list[dict[str, list[str]]]:
    text = (resources.files(__package__) / f"talks.{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]
