"""What was said: turns, and the sessions they were said in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


@dataclass(frozen=True, kw_only=True, order=True)
class Owner:
    """The person a memory belongs to, within one tenant. Nothing is ever read across owners."""

    tenant: str
    user: str


class Speaker(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, kw_only=True)
class Said:
    """Words to be recorded, before the store has given them a place.

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
    """Words as they were recorded: never changed afterwards."""

    id: str
    session: int
    position: int
    """Place in the whole history of this owner, from 1, without regard to sessions."""
    speaker: Speaker
    text: str
    time: datetime
    language: str
    name: str | None = None


class Recorded(tuple[Turn, ...]):
    """What was recorded, in the order it was given: a tuple of turns that also says which of them
    this call recorded, and which were known before.

    >>> Recorded((), new=frozenset({"a"})).new
    frozenset({'a'})
    """

    new: frozenset[str]
    """Ids."""

    def __new__(cls, turns: Iterable[Turn], *, new: frozenset[str]) -> Recorded:
        """A tuple of the turns, with the ids of the new ones beside it."""
        made = super().__new__(cls, turns)
        made.new = new
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[Turn, ...]], dict[str, frozenset[str]]]:
        return (tuple(self),), {"new": self.new}


@dataclass(frozen=True, kw_only=True)
class Session:
    """A stretch of conversation, numbered from 1 for each owner."""

    number: int
    started: datetime
    last: datetime
    """When the latest turn was said."""
    ended: datetime | None = None
    key: str | None = None
    """The caller's own name for it (a thread id), if one was given."""
    turns: int = 0

    @property
    def open(self) -> bool:
        """Whether more may still be said in it."""
        return self.ended is None
