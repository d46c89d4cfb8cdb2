"""Generated talks between a user and a friend, in five languages: our own, free to ship.

Each language has a file of phrases written by hand (`en.toml` and so on). A chain is the dialogue
of two people at two to eight meetings: facts are stated in many ways, change, are corrected, and
at a later meeting something calls for one of them. Everything derives from a fixed seed, and
`known` lists all facts that the speakers state about themselves: every talk is `complete`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide_tune.talk import TrainingTalk

if TYPE_CHECKING:
    from omoide.domain import Speaker


@dataclass(frozen=True, kw_only=True)
class RecallCue:
    """A message of the user at a later meeting, and the reply of a friend who remembers."""

    at: int
    """Index of the message among the talk's lines; the lines before it are the dialogue so far, and
    the next one is the reply."""
    message: str
    facts: tuple[tuple[Speaker, str], ...]
    """All facts that are known and still true at that point, in the third person and without the
    name (`Fact(about=…, text=…)`); those used in the reply come first."""
    fits: int
    """How many facts, from the first, the reply uses: 0 if none fits, and the reply
    is small talk or an answer to a general question."""
    reply: str
    kind: str
    """The kind of fact that is called for ("allergy", "commute"); empty if none is."""


@dataclass(frozen=True, kw_only=True)
class OwnTalk(TrainingTalk):
    """A generated talk, with the messages that call for an earlier fact."""

    cues: tuple[RecallCue, ...] = ()


def cues(talk: TrainingTalk) -> tuple[RecallCue, ...]:
    """The messages of a talk whose replies should, or should not, use a remembered fact."""
    return talk.cues if isinstance(talk, OwnTalk) else ()
