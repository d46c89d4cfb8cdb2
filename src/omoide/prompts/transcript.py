"""A session as text for a model, quoted so that nobody can forge a speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.language import split_sentences
from omoide.prompts import vocabulary
from omoide.prompts.quoting import without_template_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Speaker, Turn

_INJECTED = re.compile(r"<memory>.*?(?:</memory>|\Z)", re.DOTALL | re.IGNORECASE)


def spoken(turn: Turn) -> str:
    """The text of a turn without memory that was injected into a prompt and came back, and with
    chat template tokens neutralised."""
    return without_template_tokens(_INJECTED.sub("", turn.text)).strip()


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one speaker said, on one line."""

    speaker: Speaker
    text: str
    turn: str = ""
    """Id of the turn."""
    name: str = ""
    """The speaker's name, if known."""
    time: datetime | None = None
    beginning: str = ""
    """How the message begins, if this is a later piece of it: what was pasted below "Here is a
    story:" is not about the speaker."""

    def labelled(self, language: str) -> str:
        """`Speaker: text`, with the language's word for the speaker."""
        return f"{vocabulary(language)[self.speaker.value]}: {self.text}"


def line(turn: Turn, language: str) -> str:
    """A turn as `Speaker: text` on one line; line breaks become spaces."""
    return _line(turn).labelled(language)


def lines(turns: Iterable[Turn]) -> list[Line]:
    """One line per turn, without empty turns."""
    return [_line(turn) for turn in turns if spoken(turn)]


def _line(turn: Turn) -> Line:
    return Line(
        speaker=turn.speaker,
        text=" ".join(spoken(turn).split()),
        turn=turn.id,
        name=turn.name or "",
        time=turn.time,
    )


async def parts(
    session: Sequence[Line], *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[list[Line]]:
    """Split the session into as few parts of at most `room` tokens as possible, in order.

    Nothing is dropped. A line that is too long is split between sentences, a sentence that is too
    long anywhere.
    """
    split: list[list[Line]] = []
    used = room + 1
    for whole in session:
        for piece, tokens in await _fitting(whole, room=room, count=count):
            if used + tokens > room:
                split.append([])
                used = 0
            split[-1].append(piece)
            used += tokens
    return split


async def _fitting(
    whole: Line, *, room: int, count: Callable[[str], Awaitable[int]]
) -> list[tuple[Line, int]]:
    tokens = await count(whole.text) + LABEL
    if tokens <= room:
        return [(whole, tokens)]
    beginning = whole.beginning or whole.text[:BEGINNING]
    halves = split_sentences(whole.text)
    if len(halves) < 2:
        halves = [whole.text[: len(whole.text) // 2], whole.text[len(whole.text) // 2 :]]
    middle = len(halves) // 2
    pieces: list[tuple[Line, int]] = []
    first, second = " ".join(halves[:middle]), " ".join(halves[middle:])
    for piece in (replace(whole, text=first), replace(whole, text=second, beginning=beginning)):
        pieces += await _fitting(piece, room=room, count=count)
    return pieces


BEGINNING = 120
"""How many characters of a message are shown with its later pieces."""
LABEL = 6
"""Tokens for the speaker's label and the line break."""
