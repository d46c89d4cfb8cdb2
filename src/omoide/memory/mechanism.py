"""What every mechanism of memory is: something that digests sessions and speaks up for a reply.

The plug-in claim of paper A is that mechanisms add to one another; so all of them have this one
shape, and the engine runs as many as a configuration names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from omoide.language import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from datetime import datetime, tzinfo

    from omoide.domain import Kind, Owner, Session, Turn
    from omoide.domain.forgetting import Odds
    from omoide.ports import Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]


class Place(StrEnum):
    """Where in a prompt something stands."""

    MEMORY = "memory"
    """In the system message, which stays the same all session long and so stays cached."""
    RECALLED = "recalled"
    """With the user's last message: it came to mind because of it."""


@dataclass(frozen=True, kw_only=True)
class Company:
    """Who talks with whom, and by which clock."""

    persona: str = ""
    """Who the assistant is, as "a gardener who loves riddles"; an old friend if empty."""
    called: str = ""
    """What the user is called, if that is known beforehand."""
    zone: tzinfo | None = None
    """Where the user is; the machine's own time zone if None."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A reply is about to be made: to whom, to what, when."""

    owner: Owner
    text: str
    session: tuple[Turn, ...]
    """The session so far, the user's last turn included."""
    now: datetime
    """In the user's time zone, so that a day and its parts are theirs."""
    language: str
    company: Company = Company()


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """Something that a mechanism would put into the prompt, and what it is worth."""

    mechanism: str
    place: Place
    kind: Kind
    id: str
    text: str
    value: float
    """How much it is worth to the reply, 0 to 1, comparable between mechanisms."""
    sources: tuple[str, ...]
    time: datetime
    why: str
    """In a few words for a person: a rank, a probability."""
    score: float = 0.0
    """The mechanism's own figure behind the value."""
    odds: Odds | None = None
    """Where it is an event: what its recall was decided by."""

    @property
    def tokens(self) -> int:
        """About how many it takes."""
        return estimate_tokens(self.text) + 4


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A session has ended and is to be digested."""

    owner: Owner
    session: Session
    turns: tuple[Turn, ...]
    language: str
    ask: Ask
    """Asks the iterator's model; the call is written into the account."""

    @property
    def at(self) -> datetime:
        """When it ended."""
        return self.session.ended or self.session.last


class Mechanism(Protocol):
    """One way of remembering."""

    @property
    def name(self) -> str:
        """What it is called in a configuration."""

    async def digest(self, ended: Ended) -> None:
        """Take in a session. Does nothing if that was done before, so that it may be run again
        after a crash. Raises `BadReply` if the model gave nothing usable: what it gave is kept
        aside, and what was known before stands."""

    async def contribute(self, moment: Moment) -> tuple[Contribution, ...]:
        """What it would put into the prompt of this reply, without a call of a chat model unless
        the mechanism is defined by one. Changes nothing."""

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """The reply was made with these of its contributions: recalls consolidate now. Not called
        for a reply that was broken off before its first word."""


class Onlooker:
    """A mechanism that digests nothing and learns nothing from being used: what it brings lies
    there already. How it brings that is for others to say."""

    async def digest(self, ended: Ended) -> None:
        """Nothing to take in: the turns are there."""

    async def used(self, moment: Moment, contributions: Sequence[Contribution]) -> None:
        """Nothing to note."""


@runtime_checkable
class KeepingUp(Protocol):
    """A mechanism that need not wait for a session's end."""

    async def keep_up(self, going: Ended) -> tuple[Turn, ...]:
        """Write down what has been said so far, if that has grown long; what of the session still
        has to stand in a prompt comes back. May be run again at any time."""


def fit(contributions: Iterable[Contribution], *, budget: int) -> tuple[Contribution, ...]:
    """Those that fit the budget, by value per token, in the order they came.

    A text that two mechanisms bring is kept once. The summary's value is 1 a sentence, so that it
    is the last to go.
    """
    distinct: dict[tuple[str, str], Contribution] = {}
    for contribution in contributions:
        key = (contribution.kind, contribution.id)
        known = distinct.get(key)
        if known is None or contribution.value > known.value:
            distinct[key] = contribution
    candidates = list(distinct.values())
    by_worth = sorted(candidates, key=lambda c: c.value / weighed(c), reverse=True)
    left, kept = budget, set[int]()
    for contribution in by_worth:
        if contribution.tokens <= left:
            left -= contribution.tokens
            kept.add(id(contribution))
    return tuple(c for c in candidates if id(c) in kept)


def weighed(contribution: Contribution) -> int:
    """The tokens by which `fit` divides a value: the shortest texts are not the worthiest."""
    return max(contribution.tokens, 12)
