"""Words that were said while the store could not take them, and wait to be stored."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, fields
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
    database: str = ""
    """Which database it was said to (`database_id`); empty if that is not known."""
    erased: str | None = None
    """When the owner had last been erased as this was kept; empty for never, None if the database
    could not say."""

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
    database: str = ""
    """As of `WaitingWords`."""
    erased: str | None = None
    """As of `WaitingWords`."""
    final: bool = True
    """Whether the exchange is over: no process goes on writing it. Without any text this is all it
    says."""

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

    def is_erased(self, last: datetime | None) -> bool:
        """Whether the owner was erased after any of it was said, given the owner's last erasure."""
        parts = [part for part in (self.words, self.reply) if part is not None]
        return any(is_erased(part, last) for part in parts)


def is_erased(item: Waiting, last: datetime | None) -> bool:
    """Whether the owner was erased after it was said, given the owner's last erasure."""
    if last is None:
        return False
    return item.time <= last if item.erased is None else item.erased != erasure_text(last)


def erasure_text(last: datetime | None) -> str:
    """The last erasure of an owner as it is kept with what waits."""
    return "" if last is None else last.isoformat()


def database_id(key: bytes) -> str:
    """Names a database, given its secret, without giving that away."""
    return hashlib.blake2b(key, digest_size=12, person=b"omoide-spool").hexdigest()


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
    """The item that `as_json` wrote; what a later version added to it is ignored. Raises
    `KeyError`, `TypeError` or `ValueError` for any other value."""
    kind = value["kind"]
    known = {field.name for field in fields(WaitingWords if kind == "words" else WaitingReply)}
    rest = {name: part for name, part in value.items() if name in known}
    rest["owner"] = Owner(**rest["owner"])
    rest["time"] = datetime.fromisoformat(rest["time"])
    if kind == "words":
        rest["messages"] = tuple(WaitingMessage(**message) for message in rest["messages"])
        return WaitingWords(**rest)
    if (call := rest.get("call")) is not None:
        call = {**call, "time": datetime.fromisoformat(call["time"])}
        rest["call"] = ModelCall(**{**call, "purpose": CallPurpose(call["purpose"])})
    return WaitingReply(**rest)
