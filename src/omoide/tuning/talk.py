"""What every source of instruction data gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.domain import Speaker
    from omoide.memory.transcript import Line


@dataclass(frozen=True, kw_only=True)
class Taught:
    """A sentence that a talk was given by a model."""

    speaker: Speaker
    sentence: str
    model: str


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A dialogue and what is known to be true of its speakers, or of itself."""

    key: str
    language: str
    lines: tuple[Line, ...]
    told: tuple[tuple[Speaker, str], ...] = ()
    """Who says of themselves what, in the first person."""
    known: tuple[tuple[Speaker, str], ...] = ()
    """The same in the third person, without the name ("lives in Leeds.")."""
    complete: bool = False
    """Whether `told` and `known` hold everything that the speakers tell of themselves."""
    topic: str = ""
    summary: str = ""
    chain: str = ""
    """Talks of one chain are what the same two people said at one meeting after another."""
    changed: tuple[tuple[Speaker, str, str], ...] = ()
    """Who it is about, what was known from an earlier talk of the chain, what is so instead."""
    later: tuple[str, ...] = ()
    """What the user might say at another time about what was talked of here."""
    assisted: bool = False
    """Whether the other is an assistant, and what it says is how one should reply."""
    taught: tuple[Taught, ...] = ()
    """What a model found beside what is listed."""
