"""Facts: single statements about a person, with when they were said, when they held, and why they
ended. Nothing is overwritten: a fact that changes is ended, and the new one names it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.domain.text import compared_name
from omoide.domain.words import OpenEnum

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import date, datetime

USER = "user"
"""`Fact.about` of a fact about the user."""
ASSISTANT = "assistant"
"""`Fact.about` of a fact about the assistant."""


class FactKind(OpenEnum):
    """What a fact says about a person. A mechanism may add a kind of its own."""

    TRAIT = "trait"
    """Who someone is: name, age, character, health."""
    STATE = "state"
    """How things are: home, work, possessions, habits."""
    PREFERENCE = "preference"
    """What someone likes, dislikes, wants or avoids."""
    PLAN = "plan"
    """What someone means to do."""
    PROMISE = "promise"
    """What one speaker promised or advised the other."""
    EVENT = "event"
    """What happened."""
    RELATION = "relation"
    """Someone in the person's life: family, friends, pets."""


class Trust(StrEnum):
    """Where a fact comes from. Weakest first; a fact is trusted as much as its weakest source."""

    TOOL = "tool"
    """From a tool's answer."""
    IMPORTED = "imported"
    """From another product's memory."""
    ASSISTANT = "assistant"
    """Said by the assistant."""
    USER = "user"
    """Said by the user."""
    CORRECTED = "corrected"
    """Written by the user as a correction."""


def weakest(trusts: Iterable[Trust]) -> Trust:
    """The least of these trusts; that of the user if there are none."""
    return min(trusts, key=list(Trust).index, default=Trust.USER)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One statement about one person."""

    id: str
    about: str
    """`user`, `assistant`, or the name of another person."""
    text: str
    """A complete sentence in the third person. Its dates are absolute."""
    said: datetime
    """When it was said: the time of its first supporting turn."""
    learned: datetime
    """When memory took it up: the end of its session, or the time of a correction."""
    kind: FactKind = FactKind.STATE
    language: str = "en"
    session: int | None = None
    """The session it was learned from."""
    since: date | None = None
    """First day on which it held or will hold, if known."""
    until: date | None = None
    """Last day on which it held or will hold, if known."""
    sources: tuple[str, ...] = ()
    """Ids of the turns that support it: those that it was learned from, then those that confirmed
    it."""
    trust: Trust = Trust.USER
    supersedes: tuple[str, ...] = ()
    """Ids of the facts that it replaced."""
    reason: str = ""
    """Why it replaced them."""
    ended: datetime | None = None
    """When memory learned that it no longer holds; if a plan will end it, the day on which it will
    no longer hold."""
    ended_by: str = ""
    """Id of the fact that replaced it, if any."""
    end_reason: str = ""
    """Why it ended."""
    end_sources: tuple[str, ...] = ()
    """Ids of the turns that say so."""
    confirmed: datetime | None = None
    """When it was last said again."""
    pinned: bool = False
    """Whether it always stands in the summary."""
    expires: datetime | None = None
    """When it stops being remembered."""
    tags: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """What the checks noticed, for people to see, such as `no turn supports it`."""

    def holds(self, at: datetime) -> bool:
        """Whether memory took it for true at `at`: learned by then, not ended, not expired."""
        return (
            self.learned <= at
            and (self.ended is None or self.ended > at)
            and (self.expires is None or self.expires > at)
        )

    def expired(self, at: datetime) -> bool:
        """Whether it was no longer remembered at `at`, or was forgotten on request by then."""
        return self.expires is not None and self.expires <= at

    def has_ended(self, at: datetime) -> bool:
        """Whether it had ended by `at`; an end that a plan will bring lies ahead until then."""
        return self.ended is not None and self.ended <= at

    def over(self, at: datetime) -> bool:
        """Whether it had ended or expired by `at`."""
        return self.expired(at) or self.has_ended(at)

    def gone_from(self, written: datetime, *, now: datetime) -> bool:
        """Whether a summary that was written then should no longer show it: it has expired, or
        ended since, as on the day of a plan. One that had ended before was brought back by its
        owner."""
        return self.expired(now) or (self.ended is not None and written < self.ended <= now)

    def is_about(self, name: str) -> bool:
        """Whether it is about the person of that name, however it is written (`compared_name`)."""
        return compared_name(self.about) == compared_name(name)

    def may_come_from(self, *, session: int, time: datetime) -> bool:
        """Whether its words may come from a turn of that session and time. A turn of a later
        session, said after memory took the fact up, can only have confirmed it."""
        return self.session is None or session <= self.session or time <= self.learned

    def overdue(self, today: date) -> bool:
        """Whether it is a plan or promise whose last day has passed."""
        planned = self.kind in (FactKind.PLAN, FactKind.PROMISE)
        return planned and self.until is not None and self.until < today

    def ended_with(self, end: FactEnd) -> Fact:
        """The fact after `end`. One that has ended by then, or would end itself, stays as it is.
        An end that lay ahead may come earlier, by what brings it; what was to bring it is still
        named if nothing does."""
        if end.by == self.id or self.has_ended(end.at):
            return self
        return replace(
            self,
            ended=end.at,
            ended_by=end.by or self.ended_by,
            end_reason=end.reason,
            end_sources=end.sources,
            until=end.until or self.until,
            expires=end.at if end.forgotten else self.expires,
        )

    def holding_again(self) -> Fact:
        """The fact as if it had not ended. Its last day is unknown, since the end may have set
        it."""
        return replace(self, ended=None, ended_by="", end_reason="", end_sources=(), until=None)

    def confirmed_with(self, confirmation: FactConfirmation) -> Fact:
        """The fact after it was said again."""
        return replace(
            self,
            sources=tuple(dict.fromkeys((*self.sources, *confirmation.sources))),
            confirmed=max(self.confirmed or confirmation.at, confirmation.at),
        )

    def marked(self, marks: FactMarks) -> Fact:
        """The fact with these marks."""
        expires = self.expires if marks.expires is None else marks.expires
        return replace(
            self,
            pinned=self.pinned if marks.pinned is None else marks.pinned,
            expires=None if marks.forever else expires,
            tags=self.tags if marks.tags is None else marks.tags,
        )


@dataclass(frozen=True, kw_only=True)
class FactEnd:
    """That a fact no longer holds."""

    id: str
    at: datetime
    """When memory learned it, or, if it was told ahead, when it will be so."""
    until: date | None = None
    """Last day on which the fact held, if known."""
    by: str = ""
    """Id of the fact that replaces it, if any."""
    reason: str = ""
    sources: tuple[str, ...] = ()
    """The turns that say so."""
    forgotten: bool = False
    """Whether the user asked to have it forgotten: then it expires too, which a rollback does not
    undo, and the words behind it are no longer recalled."""


@dataclass(frozen=True, kw_only=True)
class FactConfirmation:
    """That a fact was said again."""

    id: str
    at: datetime
    sources: tuple[str, ...] = ()
    """The turns that say it again; they are added to the fact's own."""


@dataclass(frozen=True, kw_only=True)
class FactChanges:
    """Changes of one owner's facts that are made together or not at all."""

    added: tuple[Fact, ...] = ()
    ended: tuple[FactEnd, ...] = ()
    confirmed: tuple[FactConfirmation, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """Ids of all facts that are added, ended, confirmed or that end another, and of those that
        an added one names."""
        return frozenset(
            name
            for name in (
                *(name for fact in self.added for name in (fact.id, fact.ended_by)),
                *(name for fact in self.added for name in fact.supersedes),
                *(end.id for end in self.ended),
                *(end.by for end in self.ended),
                *(confirmation.id for confirmation in self.confirmed),
            )
            if name
        )


@dataclass(frozen=True, kw_only=True)
class FactMarks:
    """What a person may set on a fact without changing what it says. None leaves it as it is."""

    pinned: bool | None = None
    expires: datetime | None = None
    forever: bool = False
    """Remove the time at which it expires, whatever `expires` says."""
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class FactFilter:
    """Which facts to read; without any condition, all of them, ended ones too."""

    about: str | None = None
    """About the person of this name; upper and lower case make no difference."""
    kinds: Collection[FactKind] = ()
    tags: Collection[str] = ()
    """At least one of these."""
    session: int | None = None
    """Learned from this session."""
    turns: Collection[str] = ()
    """Supported by at least one of these turns, by id."""
    since: datetime | None = None
    """Said at this time or later."""
    until: datetime | None = None
    """Said before this time."""
    at: datetime | None = None
    """Only what held at this time (`Fact.holds`)."""
    over: datetime | None = None
    """Only what had ended or expired by this time (`Fact.over`)."""
    pinned: bool | None = None
    ended: bool | None = None
    """Only what has ended, or only what has not."""
    newest: int | None = None
    """At most so many, the ones said last."""

    def matches(self, fact: Fact) -> bool:
        """Whether a fact meets every condition but `newest`."""
        return (
            (self.about is None or fact.is_about(self.about))
            and (not self.kinds or fact.kind in self.kinds)
            and (not self.tags or not set(self.tags).isdisjoint(fact.tags))
            and self.session in (None, fact.session)
            and (not self.turns or not set(self.turns).isdisjoint(fact.sources))
            and (self.since is None or fact.said >= self.since)
            and (self.until is None or fact.said < self.until)
            and (self.at is None or fact.holds(self.at))
            and (self.over is None or fact.over(self.over))
            and self.pinned in (None, fact.pinned)
            and self.ended in (None, fact.ended is not None)
        )
