"""Conversations from exports of other programs, before they are recorded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide.domain.text import checked_text
from omoide.domain.time import AHEAD, aware
from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from omoide.domain import Speaker


OLDEST, NEWEST = 1900, 9000
"""A time outside these years is a mistake, and could not be shown in every time zone."""

MILLISECONDS = 1e11
"""A number above it counts milliseconds, as JavaScript does: as seconds it would be after 5100."""


@dataclass(frozen=True, kw_only=True)
class ForeignMessage:
    """One message of another program. Without a time, it gets that of the message before it."""

    id: str
    speaker: Speaker
    text: str
    time: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SkippedItem:
    """Something in a file that was not recorded: where it was, and why."""

    where: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ForeignConversation:
    """One conversation of another program; it becomes one session."""

    key: str
    """A stable id, the same in each export."""
    messages: tuple[ForeignMessage, ...]
    started: datetime | None = None
    title: str = ""
    left_out: tuple[SkippedItem, ...] = ()

    def with_times(self, at: datetime) -> ForeignConversation:
        """A copy in which every message has a time: its own, else that of the message before it,
        else the start of the conversation, else `at`. One that is not believed counts as none."""
        times = [believed(message.time, at) for message in self.messages]
        started = believed(self.started, at)
        last = started or next(filter(None, times), at)
        messages = []
        for message, time in zip(self.messages, times, strict=True):
            last = time or last
            messages.append(replace(message, time=last))
        return replace(self, messages=tuple(messages), started=started or last)


@dataclass(frozen=True, kw_only=True)
class _Message:
    id: str | None
    speaker: Speaker
    text: str
    time: datetime | None


class ConversationBuilder:
    """Collects the messages of one conversation, and what was skipped.

    `unique` says that the message ids of the source are globally unique, not only within their
    conversation: then a message that was copied into a second conversation is recorded once.
    """

    def __init__(self, *, source: str, where: str, max_chars: int, unique: bool) -> None:
        self._source = source
        self._where = where
        self._max_chars = max_chars
        self._unique = unique
        self._messages: list[_Message] = []
        self._left_out: list[SkippedItem] = []

    def leave_out(self, reason: str, *, where: str = "") -> None:
        """Note that something is skipped."""
        location = ", ".join(part for part in (self._where, where) if part)
        self._left_out.append(SkippedItem(where=location, reason=reason))

    def speaker(
        self, message: dict[str, object], key: str, known: Mapping[str, Speaker], *, where: str
    ) -> Speaker | None:
        """The speaker of a message, by its field `key`. Skips it if that is neither user nor
        assistant."""
        role = message.get(key)
        speaker = known.get(role) if isinstance(role, str) else None
        if speaker is None:
            reason = f"it is from neither user nor assistant ({key} {str(role)[:20]!r})"
            self.leave_out(reason, where=where)
        return speaker

    def add(
        self, *, where: str, id_: object, speaker: Speaker, text: str, time: datetime | None
    ) -> None:
        """Add a message, if its text is valid as a turn."""
        try:
            text = checked_text(text, max_chars=self._max_chars)
        except BadInput as error:
            self.leave_out(str(error), where=where)
            return
        message_id = id_ if isinstance(id_, str) and id_ else None
        self._messages.append(_Message(id=message_id, speaker=speaker, text=text, time=time))

    def conversation(
        self, *, id_: object, started: datetime | None, title: object
    ) -> ForeignConversation:
        """The conversation. Without an id it is identified by its text; a message without an id by
        its conversation, its index and its text."""
        words = [part for m in self._messages for part in (m.speaker.value, m.text)]
        given_id = id_ if isinstance(id_, str) and id_ else None
        parts = (given_id,) if given_id else ("words", *words)
        key = stable_id(self._source, *parts)
        messages = []
        for i, m in enumerate(self._messages):
            if m.id and self._unique:
                id_ = stable_id(self._source, m.id)
            elif m.id:
                id_ = stable_id(self._source, key, "id", m.id)
            else:
                id_ = stable_id(self._source, key, str(i), m.speaker.value, m.text)
            messages.append(ForeignMessage(id=id_, speaker=m.speaker, text=m.text, time=m.time))
        return ForeignConversation(
            key=key,
            messages=tuple(messages),
            started=started,
            title=title if isinstance(title, str) else "",
            left_out=tuple(self._left_out),
        )


def stable_id(source: str, *parts: str) -> str:
    """An id that is the same in each import: a single part as it is, if it is short and printable;
    else a hash."""
    plain = f"{source}:{parts[0]}"
    if len(parts) == 1 and len(plain) <= 200 and plain.isprintable():
        return plain
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{source}:~{digest[:40]}"


def parse_time(value: object) -> datetime | None:
    """Seconds or milliseconds since 1970, or an ISO 8601 text (UTC if it names no zone); None for
    anything else."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            read = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
        else:
            seconds = value / 1000 if value > MILLISECONDS else value
            read = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return read if OLDEST <= read.year <= NEWEST else None


def believed(time: datetime | None, at: datetime) -> datetime | None:
    """A time that may be recorded in an import at `at`; None for one that is too early or more than
    a day later. Raises `BadInput` if it has no time zone."""
    if time is None or time.year < OLDEST or time.year > NEWEST:
        return None
    return None if aware(time, "time") > at + AHEAD else time


def sorted_conversations(
    conversations: Iterable[ForeignConversation], at: datetime
) -> Sequence[ForeignConversation]:
    """The conversations by start time, with a time for each message."""
    timed = [conversation.with_times(at) for conversation in conversations]
    return sorted(timed, key=lambda c: c.messages[0].time or at if c.messages else at)
