"""Which notes stand beside the user's message for a small model, and what it is asked to do with
them.

A greeting recalls nothing, and a small model answers it like a stranger. So a greeting after a
pause gets the user's name and the newest of the memory beside it, and a line of its own that says
what to do with them (docs/experiments/2026-11-16-friend.md).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.claims.names import name_in
from omoide.claims.overlap import coverage
from omoide.language import content_terms, estimate_tokens, pack
from omoide.mechanisms.base import PromptPlace
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution, ReplyRequest

RECALLED = "reply_small_recalled"
GREETING = "reply_small_greeting"
"""The prompts of the last message."""
SHARED_WORDS = 1 / 3
"""The share of a question's content words in one note from which that note surely belongs to it."""
PAUSE = timedelta(days=1)
"""Time since the newest memory after which somebody comes back."""
BRIEF = 24
"""Most tokens of a message that is a greeting and nothing else."""
SHARED = 3
"""Notes beside a greeting."""


def placed_notes(
    request: ReplyRequest, contributions: Sequence[Contribution]
) -> tuple[str, tuple[Contribution, ...]]:
    """The prompt of the last message, and the contributions with the notes that belong beside
    it."""
    if greets_after_pause(request, contributions):
        return GREETING, _with_shared(request, contributions)
    return RECALLED, tuple(contributions)


def is_known(request: ReplyRequest, contributions: Sequence[Contribution]) -> bool:
    """Whether memory surely holds what is asked: a note or turn beside the message has a third of
    the question's words. Cosines do not tell, least of all in a language that the embedder does not
    cover."""
    wanted = content_terms(request.text)
    recalled = [c.text for c in contributions if c.place is PromptPlace.RECALLED]
    return any(coverage(wanted, content_terms(text)) >= SHARED_WORDS for text in recalled)


def greets_after_pause(request: ReplyRequest, contributions: Sequence[Contribution]) -> bool:
    """Whether the message only greets, begins a session, and memory is from another day."""
    if len(request.session) != 1 or estimate_tokens(request.text) > BRIEF:
        return False
    times = [c.time for c in contributions if c.place is PromptPlace.MEMORY]
    came_back = bool(times) and request.now - max(times) >= PAUSE
    return came_back and bool(pack(request.language).replies.greeting.search(request.text))


def usual_greeting(language: str) -> str:
    """What somebody says who comes back: the message of the worked example."""
    return render(GREETING, language, text="", recalled="").messages[0].content.splitlines()[0]


def _with_shared(
    request: ReplyRequest, contributions: Sequence[Contribution]
) -> tuple[Contribution, ...]:
    """The contributions with the user's name and the newest of the memory beside the message."""
    memory = [c for c in contributions if c.place is PromptPlace.MEMORY]
    named = [c for c in memory if name_in(c.text, request.language)][-1:]
    newest = [c for c in memory if c not in named][-(SHARED - len(named)) :]
    beside = [replace(c, place=PromptPlace.RECALLED, id=f"{c.id}.near") for c in (*named, *newest)]
    return (*memory, *beside)
