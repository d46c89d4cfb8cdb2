"""Work for the next reply that can be done before the user's message is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.engine.context import RECENT
from omoide.engine.messages import Utterance
from omoide.language import dominant_language
from omoide.mechanisms.reply_notes import usual_greeting
from omoide.ports import PreparableModel

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.engine.services import Services


async def prepare_reply(
    services: Services, owner: Owner, *, now: datetime, begun: str = ""
) -> None:
    """Have the model load, and read all of the next prompt but the user's message, and the words
    with which that has `begun`. The language is that of what the user said last. Does nothing for a
    model that cannot read ahead."""
    model, turns = services.model, services.store.turns
    if not isinstance(model, PreparableModel):
        return
    current = [s for s in await turns.sessions(owner) if s.open and s.key is None]
    session = await turns.read(owner, session=current[-1].number) if current else ()
    latest = session or await turns.read(owner, last=2 * RECENT)
    words = [turn.text for turn in latest if turn.speaker is Speaker.USER]
    said = [Utterance(speaker=t.speaker, text=t.text, name=t.name, time=t.time) for t in session]
    # Stands for the message to come, which is not read: only its language counts, and that who
    # comes back after a pause is likely to greet.
    expected = words[-1] if words else ""
    if begun:
        expected = begun
    elif words and not session:
        expected = usual_greeting(dominant_language(words[-RECENT:]))
    said.append(Utterance(speaker=Speaker.USER, text=expected))
    method = await services.methods.of(owner)
    context = await method.contexts.for_words(said, owner=owner, now=now)
    await model.prepare(
        context.request(window=model.window),
        begun=begun.rstrip(),  # a space at the end belongs to the token of the next word
    )
