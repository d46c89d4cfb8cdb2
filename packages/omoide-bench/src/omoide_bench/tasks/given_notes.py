"""A message with fixed notes in its prompt, for tasks that run no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, Owner, Speaker, Turn
from omoide.engine import complete
from omoide.mechanisms import (
    REPLY_FORMS,
    Contribution,
    PromptPlace,
    ReplyRequest,
    is_looping,
    reply_tokens_for,
)
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.running.cached_model import without_loops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Completion
    from omoide_bench.tasks.base import Trial


async def reply_with(
    notes: Sequence[str], message: str, *, user: str, language: str, trial: Trial
) -> tuple[str, Completion]:
    """The reply to a message with the product's prompt and these notes, and what it cost."""
    settings = trial.lab.settings
    request = REPLY_FORMS[settings.effective_reply_form](
        _reply_request(user, message, language),
        [
            note
            for place in (PromptPlace.MEMORY, PromptPlace.RECALLED)
            for note in _note_sentences(notes, place)
        ],
        window=trial.model.window,
        max_tokens=reply_tokens_for(settings),
    )
    answer = await complete(trial.model, request)
    return without_loops(answer.text, is_looping).strip(), answer


def _reply_request(user: str, message: str, language: str) -> ReplyRequest:
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


def _note_sentences(facts: Sequence[str], place: PromptPlace) -> list[Contribution]:
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
