"""A session as text for a model: who said what, quoted so that nobody can forge a speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.prompts import words
from omoide.prompts.quoting import plain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from omoide.domain import Speaker, Turn

_INJECTED = re.compile(r"<memory>.*?(?:</memory>|\Z)", re.DOTALL | re.IGNORECASE)


def spoken(turn: Turn) -> str:
    """What the turn itself says, as plain words: memory that was put into a prompt and came back
    is not said, and tokens of a chat template are letters."""
    return plain(_INJECTED.sub("", turn.text)).strip()


@dataclass(frozen=True, kw_only=True)
class Line:
    """Something one speaker said, on one line."""

    speaker: Speaker
    text: str

    def labelled(self, language: str) -> str:
        """`Speaker: text`, in the words of the language."""
        return f"{words(language)[self.speaker.value]}: {self.text}"


def line(turn: Turn, language: str) -> str:
    """`Speaker: text` on one line; line breaks inside become spaces."""
    return _line(turn).labelled(language)


def lines(turns: Iterable[Turn]) -> list[Line]:
    """One line a turn, leaving out turns in which nothing was said."""
    return [_line(turn) for turn in turns if spoken(turn)]


def _line(turn: Turn) -> Line:
    return Line(speaker=turn.speaker, text=" ".join(spoken(turn).split()))


async def parts(
    session: Sequence[Line], *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[list[Line]]:
    """The session in as few parts as fit `room` tokens each, in order, nothing dropped.

    A line that alone is too long is cut at sentences, and a sentence that is too long anywhere.
    """
    joined: list[list[Line]] = []
    used = room + 1
    for whole in session:
        for piece, tokens in await _fitting(whole, room=room, count=count):
            if used + tokens > room:
                joined.append([])
                used = 0
            joined[-1].append(piece)
            used += tokens
    return joined


async def _fitting(
    whole: Line, *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[tuple[Line, int]]:
    tokens = await count(whole.text) + LABEL
    if tokens <= room:
        return [(whole, tokens)]
    halves = split_sentences(whole.text)
    if len(halves) < 2:
        halves = [whole.text[: len(whole.text) // 2], whole.text[len(whole.text) // 2 :]]
    middle = len(halves) // 2
    found: list[tuple[Line, int]] = []
    for half in (" ".join(halves[:middle]), " ".join(halves[middle:])):
        found += await _fitting(Line(speaker=whole.speaker, text=half), room=room, count=count)
    return found


LABEL = 6
"""Tokens for the speaker's label and the line break."""
