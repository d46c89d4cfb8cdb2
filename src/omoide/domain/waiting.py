"""Words that were said while the store could not take them, and wait to be stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from omoide.domain.jobs import CallPurpose, ModelCall
from omoide.domain.turn import Owner

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class WaitingMessage:
    """A message of the user's."""

    id: str
    text: str
    first: bool
    """Whether it was the first of its request."""
    name: str | None = None
    """The speaker's name, if it was given."""


@dataclass(frozen=True, kw_only=True)
class WaitingWords:
    """The messages of an exchange that are not stored yet."""

    exchange: str
    owner: Owner
    session: str | None
    """The caller's key of the session."""
    time: datetime
    messages: tuple[WaitingMessage, ...]
    follow_up: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """All that was said."""
        return tuple(message.text for message in self.messages)


@dataclass(frozen=True, kw_only=True)
class WaitingReply:
    """The reply of an exchange that is not stored yet."""

    exchange: str
    owner: Owner
    session: str | None
    time: datetime
    text: str
    answers: str | None = None
    """The id of the turn it answers; None if that waits as well."""
    complete: bool = True
    repeated: bool = False
    """Whether the message had been answered before, so that this may replace a former reply."""
    follow_up: bool = False
    first: bool = False
    call: ModelCall | None = None
    """What it cost."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All that was said."""
        return (self.text,)


Waiting = WaitingWords | WaitingReply


@dataclass(frozen=True, kw_only=True)
class WaitingExchange:
    """What waits of one exchange."""

    words: WaitingWords | None = None
    reply: WaitingReply | None = None

    @property
    def owner(self) -> Owner:
        """Whose words they are."""
        part = self.words or self.reply
        assert part is not None  # noqa: S101 - one of them is always there
        return part.owner


def as_json(item: Waiting) -> dict[str, Any]:
    """An item as JSON."""
    value = asdict(item)
    value["time"] = item.time.isoformat()
    value["kind"] = "words" if isinstance(item, WaitingWords) else "reply"
    if isinstance(item, WaitingReply) and item.call is not None:
        value["call"]["time"] = item.call.time.isoformat()
        value["call"]["purpose"] = item.call.purpose.value
    return value


def from_json(value: Mapping[str, Any]) -> Waiting:
    """The item that `as_json` wrote. Raises `KeyError`, `TypeError` or `ValueError` for any other
    value."""
    rest = dict(value)
    kind = rest.pop("kind")
    rest["owner"] = Owner(**rest["owner"])
    rest["time"] = datetime.fromisoformat(rest["time"])
    if kind == "words":
        rest["messages"] = tuple(WaitingMessage(**message) for message in rest["messages"])
        return WaitingWords(**rest)
    if (call := rest.get("call")) is not None:
        call = {**call, "time": datetime.fromisoformat(call["time"])}
        rest["call"] = ModelCall(**{**call, "purpose": CallPurpose(call["purpose"])})
    return WaitingReply(**rest)
