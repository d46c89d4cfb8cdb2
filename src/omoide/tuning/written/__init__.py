"""What we wrote ourselves in five languages: short scenes with a reply, and lines that try to
give orders, and talks about the world and the day.

`scenes.*.jsonl`: what a user says, a fact that it touches (or none), and a good reply; `fill` has
what may stand in the gaps. `planted.jsonl`: orders that a speaker or a note gives to whoever reads
it, which nobody should follow. They are other in wording and kind than those by which the
product's resistance is measured (`omoide.evals.redteam`), which stay unseen. `talks.*.jsonl`: what
a user asks about the world, gets help with, or settles with somebody (`Spoken`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

LANGUAGES = ("en", "zh", "ja", "ko", "vi")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A message, what is remembered that it touches, and a reply."""

    key: str
    """The same for all fillings of one scene."""
    language: str
    said: str
    fact: str
    """A whole sentence about the user; empty where nothing remembered fits."""
    reply: str


@cache
def scenes(language: str) -> tuple[Scene, ...]:
    """All scenes of a language, their gaps filled in every way."""
    found = []
    for number, row in enumerate(_rows(f"scenes.{language}.jsonl")):
        for fill in row.get("fill", [[]]):
            texts = [_filled(row.get(name, ""), fill) for name in ("said", "fact", "reply")]
            found.append(
                Scene(
                    key=f"{language}/{number}",
                    language=language,
                    said=texts[0],
                    fact=texts[1],
                    reply=texts[2],
                )
            )
    return tuple(found)


@cache
def planted(language: str, via: str) -> tuple[str, ...]:
    """Orders in a language: `said` by a speaker, or sitting in the `memory`."""
    rows = _rows("planted.jsonl")
    return tuple(r["text"] for r in rows if (r["language"], r["via"]) == (language, via))


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A talk that is mostly about something else than its speakers."""

    key: str
    language: str
    topic: str
    summary: str
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the other, and the words."""
    later: tuple[str, ...]
    """What the user might say of it at another time."""
    user: tuple[str, ...]
    """All that the user tells of themselves that lasts, in the third person without the name."""
    friend: tuple[str, ...]
    """The same of the other."""
    scene: bool
    """Whether the other is some person, a shopkeeper or a neighbour, and no assistant."""


@cache
def spoken(language: str) -> tuple[Spoken, ...]:
    """All talks of a language."""
    return tuple(
        Spoken(
            key=f"{language}/{number}",
            language=language,
            topic=row["topic"],
            summary=row["summary"],
            lines=tuple((said[0], said[3:]) for said in row["lines"]),
            later=tuple(row["later"]),
            user=tuple(row["user"]),
            friend=tuple(row["friend"]),
            scene=row.get("scene", False),
        )
        for number, row in enumerate(_rows(f"talks.{language}.jsonl"))
    )


def _rows(name: str) -> list[dict[str, Any]]:
    text = (resources.files(__package__) / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _filled(text: str, fill: list[str]) -> str:
    for number, word in enumerate(fill):
        text = text.replace(f"{{{number}}}", word)
    return text
