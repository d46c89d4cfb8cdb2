"""A message and the notes that its reply is handed, where no memory is run to find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, Owner, Speaker, Turn
from omoide.evals.data.shapes import FIRST_DAY
from omoide.memory.mechanism import Contribution, Moment, Place

if TYPE_CHECKING:
    from collections.abc import Sequence


def moment(user: str, message: str, language: str) -> Moment:
    """A session that begins with the message."""
    turn = Turn(
        id="message",
        session=2,
        position=1,
        speaker=Speaker.USER,
        text=message,
        time=FIRST_DAY,
        language=language,
    )
    return Moment(
        owner=Owner(tenant="bench", user=user),
        text=message,
        session=(turn,),
        now=FIRST_DAY,
        language=language,
    )


def told(facts: Sequence[str], place: Place) -> list[Contribution]:
    """Sentences of a memory, at a place in the prompt."""
    return [
        Contribution(
            mechanism="summary",
            place=place,
            kind=Kind.SENTENCE,
            id=f"1.{number}{'' if place is Place.MEMORY else '.near'}",
            text=fact,
            value=1.0,
            sources=(),
            time=FIRST_DAY,
            why="handed",
        )
        for number, fact in enumerate(facts, start=1)
    ]
