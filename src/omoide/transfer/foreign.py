"""Conversations out of other programs' exports, before they are recorded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide.domain.text import checked_text
from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide.domain import Speaker


OLDEST, NEWEST = 1900, 9000
"""Years beyond which a time is a mistake, and could not be shown in every time zone."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One message as another program kept it. Without a time, it takes that of its neighbour."""

    id: str
    speaker: Speaker
    text: str
    time: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Something in a file that was not recorded: where it stood, and why."""

    where: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One conversation of another program: it becomes one session."""

    key: str
    """Which it is, the same at each export."""
    messages: tuple[Heard, ...]
    started: datetime | None = None
    title: str = ""
    left_out: tuple[LeftOut, ...] = ()

    def placed(self, at: datetime) -> Conversation:
        """With a time for every message: its own, else the one before it, else the start of the
        conversation, else `at`."""
        known = [message.time for message in self.messages if message.time]
        last = self.started or (known[0] if known else at)
        messages = []
        for message in self.messages:
            last = message.time or last
            messages.append(replace(message, time=last))
        return replace(self, messages=tuple(messages), started=self.started or last)


@dataclass(frozen=True, kw_only=True)
class _Found:
    id: str | None
    speaker: Speaker
    text: str
    time: datetime | None


class Gathering:
    """The messages of one conversation as they are found, and what was left out of it.

    `unique` says that the source's message ids are unique in all the world, not only within
    their conversation: then a message that was copied into a second one is recorded once.
    """

    def __init__(self, *, source: str, where: str, longest: int, unique: bool) -> None:
        self._source = source
        self._where = where
        self._longest = longest
        self._unique = unique
        self._found: list[_Found] = []
        self._left_out: list[LeftOut] = []

    def leave_out(self, reason: str, *, where: str = "") -> None:
        """Note that something is not taken along."""
        place = ", ".join(part for part in (self._where, where) if part)
        self._left_out.append(LeftOut(where=place, reason=reason))

    def speaker(
        self, message: dict[str, object], key: str, known: Mapping[str, Speaker], *, where: str
    ) -> Speaker | None:
        """Who said a message, by what stands under `key`; noted if it was neither of the two."""
        said = message.get(key)
        speaker = known.get(said) if isinstance(said, str) else None
        if speaker is None:
            self.leave_out(f"nobody of the two said it ({key} {str(said)[:20]!r})", where=where)
        return speaker

    def add(
        self, *, where: str, id_: object, speaker: Speaker, text: str, time: datetime | None
    ) -> None:
        """Take a message along, if it may be recorded."""
        try:
            checked_text(text, longest=self._longest)
        except BadInput as error:
            self.leave_out(str(error), where=where)
            return
        own = id_ if isinstance(id_, str) and id_ else None
        self._found.append(_Found(id=own, speaker=speaker, text=text, time=time))

    def conversation(self, *, id_: object, started: datetime | None, title: object) -> Conversation:
        """All of it. Without an id of its own, a conversation is known by its words; a message
        by its conversation, its place and its words."""
        words = [part for found in self._found for part in (found.speaker.value, found.text)]
        own = id_ if isinstance(id_, str) and id_ else None
        key = stable(self._source, own) if own else stable(self._source, "words", *words)
        messages = []
        for place, found in enumerate(self._found):
            if found.id and self._unique:
                id_ = stable(self._source, found.id)
            elif found.id:
                id_ = stable(self._source, key, "id", found.id)
            else:
                id_ = stable(self._source, key, str(place), found.speaker.value, found.text)
            messages.append(Heard(id=id_, speaker=found.speaker, text=found.text, time=found.time))
        return Conversation(
            key=key,
            messages=tuple(messages),
            started=started,
            title=title if isinstance(title, str) else "",
            left_out=tuple(self._left_out),
        )


def stable(source: str, *parts: str) -> str:
    """An id that is the same at each import: a single part as it is if it can be, else a hash."""
    plain = f"{source}:{parts[0]}"
    if len(parts) == 1 and len(plain) <= 200 and plain.isprintable():
        return plain
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{source}:~{digest[:40]}"


def moment(value: object) -> datetime | None:
    """Seconds since 1970, or an ISO 8601 text (UTC if it names no zone); None for anything else."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            read = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
        else:
            read = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read if OLDEST <= read.year <= NEWEST else None


def in_order(conversations: Iterable[Conversation], at: datetime) -> Sequence[Conversation]:
    """By the time they began, each message with a time."""
    placed = [conversation.placed(at) for conversation in conversations]
    return sorted(placed, key=lambda c: c.messages[0].time or at if c.messages else at)
