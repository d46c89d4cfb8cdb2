"""Turns, the sessions they belong to, and their owners."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


@dataclass(frozen=True, kw_only=True, order=True)
class Owner:
    """The user a memory belongs to, within one tenant. Nothing is ever read across owners."""

    tenant: str
    user: str


class Speaker(StrEnum):
    """Who said a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """A message to record, before the store assigns its session and position.

    A caller-supplied `id` makes recording idempotent; without one the engine makes one.
    """

    speaker: Speaker
    text: str
    time: datetime
    id: str
    language: str
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One recorded message of one speaker. Never changed afterwards."""

    id: str
    session: int
    position: int
    """Number of the turn in the owner's whole history, from 1, across sessions."""
    speaker: Speaker
    text: str
    time: datetime
    language: str
    name: str | None = None


class RecordedTurns(tuple[Turn, ...]):
    """The turns of one `record` call, in order: a tuple that also says which of them are new and
    which had been recorded before.

    >>> RecordedTurns((), new=frozenset({"a"})).new
    frozenset({'a'})
    """

    new: frozenset[str]
    """Ids of the turns that this call recorded."""

    mark: str
    """The owner's erasure mark when they were recorded (`Archive.erasure_mark`)."""

    def __new__(
        cls, turns: Iterable[Turn], *, new: frozenset[str], mark: str = ""
    ) -> RecordedTurns:
        """Make the tuple and attach the ids of the new turns."""
        recorded = super().__new__(cls, turns)
        recorded.new = new
        recorded.mark = mark
        return recorded

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[Turn, ...]], dict[str, frozenset[str] | str]]:
        return (tuple(self),), {"new": self.new, "mark": self.mark}


@dataclass(frozen=True, kw_only=True)
class Session:
    """A stretch of conversation, numbered from 1 for each owner."""

    number: int
    started: datetime
    last: datetime
    """Time of the latest turn."""
    ended: datetime | None = None
    key: str | None = None
    """The caller's key for the conversation (a thread id), if any."""
    turns: int = 0

    @property
    def open(self) -> bool:
        """Whether turns can still be added."""
        return self.ended is None
