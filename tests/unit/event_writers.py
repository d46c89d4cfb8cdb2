"""A writer of events for tests: it asks no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import content_terms, split_sentences
from omoide.mechanisms.events.form import EventDraft, to_events
from omoide.mechanisms.events.writer import EventsWritten
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from omoide.mechanisms.base import SessionToDigest

LEAST = 3
"""Terms of a sentence that says something."""


class ExtractiveEventWriter:
    """Takes the user's sentences verbatim, if they say something and are not questions."""

    async def __call__(self, to_digest: SessionToDigest) -> EventsWritten:
        """One event for each sentence."""
        turns = [turn for turn in to_digest.turns if spoken(turn)]
        drafts = [
            EventDraft(text=f"User: {sentence}", participants=("User",))
            for turn in turns
            if turn.speaker is Speaker.USER
            for sentence in split_sentences(spoken(turn))
            if len([term for term in content_terms(sentence) if term[0] != "~"]) >= LEAST
            and not sentence.endswith("?")
        ]
        events = to_events(
            drafts,
            turns=turns,
            session=to_digest.session.number,
            at=to_digest.at,
            language=to_digest.language,
        )
        return EventsWritten(events=events)
