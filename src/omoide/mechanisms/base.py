"""The interface of all memory mechanisms: each digests sessions and contributes to replies.

Paper A claims that mechanisms complement one another. So all of them share this interface, and
the engine runs as many as the configuration names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from omoide.claims.overlap import coverage
from omoide.domain.time import in_zone
from omoide.language import content_terms, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from omoide.domain import MemoryKind, Owner, Session, Turn
    from omoide.domain.forgetting import RecallFactors
    from omoide.ports import Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]


class PromptPlace(StrEnum):
    """Where in a prompt a contribution goes."""

    MEMORY = "memory"
    """In the system message, which does not change during a session and so stays cached."""
    RECALLED = "recalled"
    """With the user's last message, for which it was recalled."""


class MemoryPart(StrEnum):
    """What a sentence of the memory is about. The value names the part's heading."""

    ASSISTANT = "about_assistant"
    USER = "about_user"
    """About the user, or about anybody else in the user's life."""
    OPEN = "open_between"
    """A plan or a promise whose day has not passed."""


@dataclass(frozen=True, kw_only=True)
class Participants:
    """The assistant's persona, and the user's name and time zone."""

    persona: str = ""
    """Who the assistant is, such as "a gardener who loves riddles"; an old friend if empty."""
    user_name: str = ""
    """The user's name, if the settings give it."""
    timezone: tzinfo | None = None
    """The user's time zone; the machine's if None."""


@dataclass(frozen=True, kw_only=True)
class ReplyRequest:
    """A request for a reply: to whom, to which message, and when."""

    owner: Owner
    text: str
    """What the user wants answered; of a long message `both_ends`."""
    session: tuple[Turn, ...]
    """The session so far, including the user's last turn."""
    now: datetime
    """In the user's time zone, so that dates and times of day are the user's."""
    language: str
    participants: Participants = Participants()
    former_replies: tuple[Turn, ...] = ()
    """Replies that this message got before, if it is answered again, and what the client sends of
    earlier sessions. They are not to be recalled: the model would repeat itself, and it sees the
    others anyway."""

    own_form: bool = False
    """Whether the configured model is asked in our own form: a client's messages are its own, and
    none of them is shown a second time."""

    @property
    def not_recalled(self) -> frozenset[str]:
        """Ids of turns that are in the prompt already, or must not be."""
        return frozenset(turn.id for turn in (*self.session, *self.former_replies))


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """A text that a mechanism offers for the prompt, with its value."""

    mechanism: str
    place: PromptPlace
    kind: MemoryKind
    id: str
    text: str
    value: float
    """How useful it is for the reply, 0 to 1, comparable between mechanisms."""
    sources: tuple[str, ...]
    time: datetime
    why: str
    """A short reason for people to read, such as a rank or a probability."""
    score: float = 0.0
    """The mechanism's own score, from which the value is derived."""
    part: MemoryPart = MemoryPart.USER
    """For a sentence of the memory: what it is about."""
    odds: RecallFactors | None = None
    """For an event: the factors that decided its recall."""

    @cached_property
    def tokens(self) -> int:
        """Estimated number of tokens."""
        return estimate_tokens(self.text) + 4


@dataclass(frozen=True, kw_only=True)
class SessionToDigest:
    """A session that is due to be digested."""

    owner: Owner
    session: Session
    turns: tuple[Turn, ...]
    language: str
    ask: Ask
    """Asks the summariser's model and records the call in the ledger."""
    timezone: tzinfo | None = UTC
    """The user's time zone, in which the times of the turns are: "tomorrow" is the user's. None for
    the machine's."""

    @property
    def at(self) -> datetime:
        """When the session ended, or its last turn if it is still open, in the user's time
        zone."""
        return in_zone(self.session.ended or self.session.last, self.timezone)

    def is_of(self, stored: Sequence[Turn]) -> bool:
        """Whether these are the turns that are stored now. Times are not compared: in the hour that
        a clock repeats, a time of that zone equals none of another."""
        said = [(turn.id, turn.text) for turn in self.turns]
        return said == [(turn.id, turn.text) for turn in stored]


class Mechanism(Protocol):
    """One way of remembering."""

    @property
    def name(self) -> str:
        """Its name in a configuration."""

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Digest a session. Idempotent, so that it can be run again after a crash. Raises
        `BadReply` if the model gave nothing usable: the rejected answers are stored, and the
        memory stays as it was."""

    async def contribute(self, request: ReplyRequest) -> tuple[Contribution, ...]:
        """Return what it offers for the prompt of this reply. Changes nothing. Makes no chat model
        call unless the mechanism is defined by one."""

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Note that the reply used these of its contributions: recalled events are consolidated
        now. Not called for a reply that was aborted before its first word."""


class ReadOnlyMechanism:
    """Base class of mechanisms that only read what is stored. Subclasses implement
    `contribute`."""

    async def digest(self, to_digest: SessionToDigest) -> None:
        """Do nothing: the turns are already stored."""

    async def mark_used(self, request: ReplyRequest, contributions: Sequence[Contribution]) -> None:
        """Do nothing."""


@runtime_checkable
class DigestsOpenSessions(Protocol):
    """A mechanism that can digest a session before it ends."""

    async def digest_open(self, to_digest: SessionToDigest) -> tuple[Turn, ...]:
        """Digest the session so far if it has grown long. Returns the turns that must still go
        into the prompt. Idempotent."""


@runtime_checkable
class ShortensSession(Protocol):
    """A mechanism that takes the place of a part of the current session."""

    async def current_turns(self, request: ReplyRequest) -> tuple[Turn, ...]:
        """The turns of the session that must still be in the prompt, the last one among them. What
        is left out may be recalled like any earlier turn. Changes nothing, calls no model."""


TRIES = 3
"""How often a model is asked for something until its answer can be used."""
BEST = 0.3
"""The value from which a contribution is chosen before the others, however long it is: sentences of
the summary, and the first three of a kind that were recalled."""


def fit_budget(contributions: Iterable[Contribution], *, budget: int) -> tuple[Contribution, ...]:
    """Choose the contributions that fit the budget, in their given order: the best ones first, and
    of those and of the others by value per token.

    An item that two mechanisms offer is kept once. Each sentence of the summary has the value 1,
    so the summary is the last to be dropped.
    """
    distinct: dict[tuple[str, str], Contribution] = {}
    for contribution in contributions:
        key = (contribution.kind, contribution.id)
        known = distinct.get(key)
        if known is None or contribution.value > known.value:
            distinct[key] = contribution
    candidates = tuple(distinct.values())
    if sum(c.tokens for c in candidates) <= budget:
        return candidates
    by_value = sorted(candidates, key=lambda c: (c.value < BEST, -c.value / effective_tokens(c)))
    left, kept = budget, set[int]()
    for contribution in by_value:
        if contribution.tokens <= left:
            left -= contribution.tokens
            kept.add(id(contribution))
    return tuple(c for c in candidates if id(c) in kept)


SAME = 0.6
"""The share of a turn's words in a sentence that it supports, from which it adds nothing."""


def without_repeats(contributions: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """The contributions without recalled facts that the memory states, which is worth as much then,
    and without recalled turns that only say what a recalled sentence or fact says that they
    support."""
    offered = tuple(contributions)
    recalled = [c for c in offered if _recalled_fact(c)]
    memory = [c for c in offered if c.place is PromptPlace.MEMORY]
    given = tuple(
        _worth(c, recalled) if c.place is PromptPlace.MEMORY else c
        for c in offered
        if not (_recalled_fact(c) and _states(memory, c))
    )
    cited: dict[str, set[str]] = {}
    for c in given:
        if c.place is PromptPlace.RECALLED and c.kind in ("sentence", "fact"):
            for source in c.sources:
                cited.setdefault(source, set()).update(content_terms(c.text))
    if not cited:
        return given
    return tuple(c for c in given if c.kind != "turn" or not _is_said(c, cited))


def _states(memory: Iterable[Contribution], fact: Contribution) -> bool:
    """Whether the memory states a fact, perhaps in the past and with a mark after it: "(that was
    the plan; …)"."""
    return any(
        note.text == fact.text
        or (note.sources == fact.sources and content_terms(fact.text) <= content_terms(note.text))
        for note in memory
    )


def _worth(note: Contribution, recalled: Iterable[Contribution]) -> Contribution:
    """A note of the memory with the value of the recalled fact that it states, if that is more."""
    values = (fact.value for fact in recalled if _states((note,), fact))
    value = max(values, default=0.0)
    return replace(note, value=value) if value > note.value else note


def _recalled_fact(contribution: Contribution) -> bool:
    return contribution.place is PromptPlace.RECALLED and contribution.kind == "fact"


def _is_said(turn: Contribution, cited: Mapping[str, set[str]]) -> bool:
    """Whether sentences that cite the turn have most of its words. Its label, up to the first
    colon, does not count."""
    known = set[str]().union(*(cited.get(source, ()) for source in turn.sources))
    if not known:
        return False
    terms = content_terms(turn.text.partition(": ")[2] or turn.text)
    return coverage(terms, known) >= SAME


def effective_tokens(contribution: Contribution) -> int:
    """The tokens by which `fit_budget` divides a value, with a minimum so that very short texts
    do not always win."""
    return max(contribution.tokens, 12)
