"""The talk that every source of instruction data provides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omoide.domain import Speaker
    from omoide.mechanisms import Line


@dataclass(frozen=True, kw_only=True)
class TaughtSentence:
    """A sentence that a model wrote about a talk."""

    speaker: Speaker
    sentence: str
    model: str


@dataclass(frozen=True, kw_only=True)
class TrainingTalk:
    """A dialogue with the facts about its speakers, or about itself."""

    key: str
    language: str
    lines: tuple[Line, ...]
    stated: tuple[tuple[Speaker, str], ...] = ()
    """Statements of the speakers about themselves, in the first person."""
    known: tuple[tuple[Speaker, str], ...] = ()
    """The same in the third person, without the name ("lives in Leeds.")."""
    complete: bool = False
    """Whether `stated` and `known` list everything that the speakers say about themselves."""
    topic: str = ""
    summary: str = ""
    chain: str = ""
    """The chain it belongs to: consecutive meetings of the same two people."""
    changed: tuple[tuple[Speaker, str, str], ...] = ()
    """Speaker, the fact known from an earlier talk of the chain, and the fact that replaces it."""
    later: tuple[str, ...] = ()
    """What the user might say about this talk at another time."""
    assisted: bool = False
    """Whether the other speaker is an assistant who replies as one should."""
    taught: tuple[TaughtSentence, ...] = ()
    """What a model found beyond the listed facts."""
