"""A message with fixed notes in its prompt, for tasks that run no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, Owner, Speaker, Turn
from omoide.mechanisms import Contribution, PromptPlace, ReplyRequest
from omoide_bench.data.shapes import FIRST_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence


def reply_request(user: str, message: str, language: str) -> ReplyRequest:
    """A reply request for a session that begins with the message."""
    turn = Turn(
        id="message",
        session=2,
        position=1,
        speaker=Speaker.USER,
        text=message,
        time=FIRST_DAY,
        language=language,
    )
    return ReplyRequest(
        owner=Owner(tenant="bench", user=user),
        text=message,
        session=(turn,),
        now=FIRST_DAY,
        language=language,
    )


def note_sentences(facts: Sequence[str], place: PromptPlace) -> list[Contribution]:
    """Facts as contributions at one place in the prompt."""
    return [
        Contribution(
            mechanism="summary",
            place=place,
            kind=MemoryKind.SENTENCE,
            id=f"1.{number}{'' if place is PromptPlace.MEMORY else '.near'}",
            text=fact,
            value=1.0,
            sources=(),
            time=FIRST_DAY,
            why="handed",
        )
        for number, fact in enumerate(facts, start=1)
    ]
