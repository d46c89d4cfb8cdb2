"""Invented talks between a user and a friend, in five languages: made by us, free to be shipped.

Each language has a file of phrases written by hand (`en.toml` and so on). A chain is what two
people say at two to eight meetings: facts are told in many ways, change, are corrected, and at a
later meeting something is said that calls for one of them. All of it comes from a fixed seed, and
`known` is all that the speakers tell of themselves: `complete` is true of every talk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.tuning.talk import Talk

if TYPE_CHECKING:
    from omoide.domain import Speaker


@dataclass(frozen=True, kw_only=True)
class Cue:
    """Something the user says at a later meeting, and how a friend who remembers replies."""

    at: int
    """Which of the talk's lines is the message; the lines before it are what was said so far, and
    the next one is the reply."""
    message: str
    facts: tuple[tuple[Speaker, str], ...]
    """All that is known at that moment and still true, in the third person and without the name
    (`Fact(about=…, text=…)`), the fact that shows in the reply first."""
    fits: int
    """How many facts, from the first, show in the reply: 0 where none belongs there, and the reply
    is small talk or an answer to a general question."""
    reply: str
    kind: str
    """What sort of fact is called for ("allergy", "commute"); empty where none is."""


@dataclass(frozen=True, kw_only=True)
class OwnTalk(Talk):
    """A talk of our own making, with the moments that call for what was told before."""

    cues: tuple[Cue, ...] = ()


def cues(talk: Talk) -> tuple[Cue, ...]:
    """The moments of a talk at which a remembered fact should, or should not, show."""
    return talk.cues if isinstance(talk, OwnTalk) else ()
