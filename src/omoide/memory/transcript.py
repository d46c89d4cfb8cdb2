"""A session as text for a model: who said what, quoted so that nobody can forge a speaker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import split_sentences
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from omoide.domain import Turn

_MARK = re.compile(r"</?\s*memory\s*>", re.IGNORECASE)
_INJECTED = re.compile(r"<memory>.*?(?:</memory>|\Z)", re.DOTALL | re.IGNORECASE)


def spoken(turn: Turn) -> str:
    """What the turn itself says: memory that was put into a prompt and came back is not said."""
    return _INJECTED.sub("", turn.text).strip()


def quoted(text: str) -> str:
    """Text to stand between the marks of memory in a prompt: it cannot close them."""
    return _MARK.sub("", text)


def line(turn: Turn, language: str) -> str:
    """`Speaker: text` on one line; line breaks inside become spaces."""
    label = words(language)["user" if turn.speaker is Speaker.USER else "assistant"]
    return f"{label}: {' '.join(spoken(turn).split())}"


def lines(turns: Iterable[Turn], language: str) -> list[str]:
    """One line a turn, leaving out turns in which nothing was said."""
    return [line(turn, language) for turn in turns if spoken(turn)]


async def parts(
    text_lines: Sequence[str], *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[str]:
    """The lines joined into as few parts as fit `room` tokens each, in order, nothing dropped.

    A line that alone is too long is cut at sentences, and a sentence that is too long anywhere.
    """
    pieces: list[tuple[str, int]] = []
    for text in text_lines:
        pieces += await _fitting(text, room=room, count=count)
    joined: list[str] = []
    used = room + 1
    for piece, tokens in pieces:
        if used + tokens + 1 > room:
            joined.append(piece)
            used = tokens
        else:
            joined[-1] += "\n" + piece
            used += tokens + 1
    return joined


async def _fitting(
    text: str, *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[tuple[str, int]]:
    tokens = await count(text)
    if tokens <= room:
        return [(text, tokens)]
    label, _, said = text.partition(": ")
    halves = split_sentences(said)
    if len(halves) < 2:
        halves = [said[: len(said) // 2], said[len(said) // 2 :]]
    middle = len(halves) // 2
    found: list[tuple[str, int]] = []
    for half in (" ".join(halves[:middle]), " ".join(halves[middle:])):
        found += await _fitting(f"{label}: {half}", room=room, count=count)
    return found
