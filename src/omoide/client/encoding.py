"""What callers pass in, as JSON for the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.client.decoding import decode_all
from omoide.client.exchange import RemoteContext
from omoide.domain.text import checked_text
from omoide.domain.time import aware
from omoide.engine import Utterance, utterances
from omoide.engine.messages import chat_messages
from omoide.mechanisms.base import Contribution

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from omoide.engine.memory import Messages

UNLIMITED = 2**31
"""A length that no text has: the server knows its limit."""


def iso(time: datetime | None, what: str) -> str | None:
    """A time as the server takes it."""
    return None if time is None else aware(time, what).isoformat()


def sent_turn(said: Utterance) -> dict[str, Any]:
    """A message to record, as JSON."""
    given = {"id": said.id, "time": iso(said.time, "time"), "name": said.name}
    return {
        "speaker": said.speaker,
        "text": checked_text(said.text, max_chars=UNLIMITED),
        **{name: value for name, value in given.items() if value is not None},
    }


def sent_messages(messages: Messages) -> dict[str, Any]:
    """What the user says, as the fields of a request."""
    if not isinstance(messages, str | Utterance):
        return {"messages": [dict(message) for message in chat_messages(messages)]}
    (said,) = utterances(messages)
    return {n: v for n, v in sent_turn(said).items() if n != "speaker"}


def as_messages(messages: Messages) -> list[dict[str, Any]]:
    """What the user says, as messages for a model."""
    if not isinstance(messages, str | Utterance):
        return [dict(message) for message in chat_messages(messages)]
    return [{"role": "user", "content": utterances(messages)[0].text}]


def decoded_context(found: Mapping[str, Any]) -> RemoteContext:
    """A context as the server answered it."""
    return RemoteContext(
        text=found["text"],
        messages=found["messages"],
        contributions=decode_all(Contribution, found["contributions"]),
    )


def sent_contribution(contribution: Contribution) -> dict[str, Any]:
    """A contribution that was used, as JSON."""
    return {
        "mechanism": contribution.mechanism,
        "place": contribution.place,
        "kind": contribution.kind,
        "id": contribution.id,
        "time": contribution.time.isoformat(),
    }
