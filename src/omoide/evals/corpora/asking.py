"""What recall is measured with: conversations, and questions whose evidence is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.evals.data.shapes import Dialogue, Line


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question and the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]
    at: datetime
    asker: Speaker = Speaker.USER
    """Who "I" is in it."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Two people over many sessions."""

    name: str
    speakers: tuple[str, str]
    lines: tuple[Line, ...]
    questions: tuple[Asked, ...]
    """As far as their evidence is known."""
    unanswerable: tuple[Asked, ...] = ()
    """What was never told."""
    named: bool = False
    """Whether the speakers call each other by these names."""


def conversation(
    dialogue: Dialogue,
    questions: Iterable[Asked],
    *,
    unanswerable: Iterable[Asked] = (),
    name: str = "",
    named: bool = False,
) -> Conversation:
    """A dialogue with what is asked of it; lines without words are left out."""
    first, second = dialogue.speakers
    return Conversation(
        name=name or dialogue.id,
        speakers=(first, second),
        lines=tuple(line for line in dialogue.lines if line.text.strip()),
        questions=tuple(questions),
        unanswerable=tuple(unanswerable),
        named=named,
    )
