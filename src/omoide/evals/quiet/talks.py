"""The talks, written for this: `talks.en.jsonl` and so on, one JSON object a line.

    {"topic": "moons of Jupiter", "lines": ["U: How many moons …", "A: …"], "user": []}

A user asks about the world, gets help, or settles something with somebody. `user` is all that they
tell of themselves that will matter in a month: mostly nothing. No model has learnt from them; those
by which our own adapters learn that there may be nothing to note are others by the same hands
(`omoide.tuning.everyday`), so that for these adapters it is the easiest exam of its kind.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from omoide.language import LANGUAGES, content_terms
from omoide.memory.overlap import coverage

FOUND = 0.6
"""Share of a fact's words that a note must have to be about it."""


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What was said, and what is worth noting of it."""

    id: str
    language: str
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the other, and the words."""
    told: tuple[str, ...]
    """In the third person, without the name."""


def load() -> tuple[Talk, ...]:
    """All of them, a language after the other."""
    return tuple(
        Talk(
            id=f"{language}-{number}",
            language=language,
            lines=tuple((said[0], said[3:]) for said in row["lines"]),
            told=tuple(row["user"]),
        )
        for language in LANGUAGES
        for number, row in enumerate(_rows(language), start=1)
    )


def found(told: tuple[str, ...], notes: list[str]) -> int:
    """How many of the facts some note holds.

    >>> found(("has two cats.", "lives in Oslo."), ["User has two cats."])
    1
    """
    held = [content_terms(note) for note in notes]
    return sum(any(coverage(content_terms(fact), one) >= FOUND for one in held) for fact in told)


def _rows(language: str) -> list[dict[str, list[str]]]:
    text = (resources.files(__package__) / f"talks.{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]
