"""Hand-written material in five languages: short scenes with a reply, planted instructions,
and talks about the world and everyday matters.

`scenes.*.jsonl`: a user's message, a fact that it touches (or none), and a good reply; `fill` has
values for the gaps. `planted.jsonl`: instructions to the reader, in a turn or a note,
which nobody should follow. They differ in wording and kind from those of the red team
(`omoide_bench.redteam`), which stay unseen. `talks.*.jsonl`: a user
asks about the world, gets help, or arranges something with somebody (`WrittenTalk`).
`questions.*.jsonl`: what may be asked weeks after a conversation, and the turns that answer it; the
conversations are those of `omoide_tune.retrieval.conversations`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

LANGUAGES = ("en", "zh", "ja", "ko", "vi")


@dataclass(frozen=True, kw_only=True)
class ReplyScene:
    """A message, a remembered fact that it touches, and a reply."""

    key: str
    """The same for all fillings of one scene."""
    language: str
    said: str
    fact: str
    """A whole sentence about the user; empty if no fact fits."""
    reply: str


@cache
def scenes(language: str) -> tuple[ReplyScene, ...]:
    """All scenes of a language, with every filling of their gaps."""
    found = []
    for number, row in enumerate(_rows(f"scenes.{language}.jsonl")):
        for fill in row.get("fill", [[]]):
            texts = [_filled(row.get(name, ""), fill) for name in ("said", "fact", "reply")]
            found.append(
                ReplyScene(
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
    """Planted instructions in a language: `said` by a speaker, or in the `memory`."""
    rows = _rows("planted.jsonl")
    return tuple(r["text"] for r in rows if (r["language"], r["via"]) == (language, via))


@dataclass(frozen=True, kw_only=True)
class WrittenTalk:
    """A talk that is mostly not about its speakers."""

    key: str
    language: str
    topic: str
    summary: str
    lines: tuple[tuple[str, str], ...]
    """`U` for the user or `A` for the other, and the text."""
    later: tuple[str, ...]
    """What the user might say about it at another time."""
    user: tuple[str, ...]
    """All lasting facts about the user, in the third person without the name."""
    friend: tuple[str, ...]
    """The same about the other."""
    scene: bool
    """Whether the other is a person, such as a shopkeeper or a neighbour, and not an assistant."""


@cache
def spoken(language: str) -> tuple[WrittenTalk, ...]:
    """All talks of a language."""
    return tuple(
        WrittenTalk(
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


@dataclass(frozen=True, kw_only=True)
class WrittenQuestion:
    """What may be asked or said weeks after a conversation, and the turns that answer it."""

    conversation: str
    """Its name; the part before the first slash is its source."""
    turns: tuple[str, ...]
    """The ids of all turns in which the answer is said."""
    style: str
    """`direct`, `general` (names the kind of thing), `indirect` (shares no word with the answer),
    `when`, `several` (is answered by several turns together) or `chat` (no question)."""
    text: str

    @property
    def source(self) -> str:
        """The data set of its conversation."""
        return self.conversation.partition("/")[0]


@cache
def questions(language: str) -> tuple[WrittenQuestion, ...]:
    """All questions of a language."""
    return tuple(
        WrittenQuestion(
            conversation=row["conversation"],
            turns=tuple(row["turns"]),
            style=row["style"],
            text=row["question"],
        )
        for row in _rows(f"questions.{language}.jsonl")
    )


def _rows(name: str) -> list[dict[str, Any]]:
    text = (resources.files(__package__) / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _filled(text: str, fill: list[str]) -> str:
    for number, word in enumerate(fill):
        text = text.replace(f"{{{number}}}", word)
    return text
