"""What an erasure does to facts: which are removed, and what becomes of those that stay."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain.fact import Fact
    from omoide.domain.summary import Sentence


class TurnPlace(NamedTuple):
    """Where and when a turn was said."""

    session: int
    time: datetime


@dataclass(frozen=True, kw_only=True)
class ErasedFacts:
    """The facts of one owner that an erasure touches."""

    removed: Mapping[str, Fact]
    """By id."""
    changed: tuple[Fact, ...]
    """The facts that stay but said something about what is removed, as they are afterwards."""

    def restated(self, sentence: Sentence, turns: Collection[str]) -> Sentence:
        """A sentence of a summary that says word for word what a changed fact says, without the
        removed turns. Any other sentence as it is."""
        fact = self._changed.get(sentence.fact)
        if fact is None or fact.text != sentence.text:
            return sentence
        left = tuple(source for source in sentence.sources if source not in turns)
        cited_others = left or not sentence.sources
        return replace(sentence, sources=left if cited_others else fact.sources)

    @cached_property
    def _changed(self) -> dict[str, Fact]:
        return {fact.id: fact for fact in self.changed}


@dataclass(frozen=True, kw_only=True)
class FactErasure:
    """Which facts of one owner an erasure removes.

    Facts whose words may come from a removed turn (`Fact.may_come_from`), that contain a removed
    text, or that are named are removed. So are facts without sources from the earliest affected
    session on, which may rest on it, and facts of which no source is left. A fact that a removed
    turn only confirmed stays without that source.
    """

    ids: Collection[str] = ()
    turns: Mapping[str, TurnPlace] = field(default_factory=dict)
    """The removed turns, by id."""
    texts: Collection[str] = ()
    """Texts that no fact may contain any more."""
    session: int | None = None
    """The earliest session that loses anything."""
    since: datetime | None = None
    """When that session started."""

    def of(self, facts: Sequence[Fact]) -> ErasedFacts:
        """Apply it to all facts of the owner."""
        removed = {fact.id: fact for fact in facts if self._removes(fact)}
        left = (fact for fact in facts if fact.id not in removed)
        pairs = ((fact, self._cleaned(fact, removed)) for fact in left)
        return ErasedFacts(
            removed=removed, changed=tuple(after for before, after in pairs if after != before)
        )

    def _removes(self, fact: Fact) -> bool:
        affected = (
            self.session is not None and fact.session is not None and fact.session >= self.session
        )
        return (
            fact.id in self.ids
            or any(fact.may_come_from(session=s, time=t) for s, t in self._cited(fact))
            or (bool(fact.sources) and not self._left(fact.sources))
            or (affected and not fact.sources)
            or self._quoted(fact.text)
            or self._quoted(fact.about)
        )

    def _cited(self, fact: Fact) -> tuple[TurnPlace, ...]:
        return tuple(self.turns[source] for source in fact.sources if source in self.turns)

    def _left(self, sources: Iterable[str]) -> tuple[str, ...]:
        return tuple(source for source in sources if source not in self.turns)

    def _quoted(self, stored: str) -> bool:
        return any(text in stored for text in self.texts)

    def _unquoted(self, stored: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in stored if not self._quoted(text))

    def _cleaned(self, fact: Fact, removed: Mapping[str, Fact]) -> Fact:
        """A fact that stays, without what it says about removed facts, turns and texts."""
        fact = self._with_end_cleaned(self._unconfirmed(fact), removed)
        replaced_removed = any(name in removed for name in fact.supersedes)
        return replace(
            fact,
            supersedes=_remaining(fact, removed),
            reason="" if replaced_removed or self._quoted(fact.reason) else fact.reason,
            tags=self._unquoted(fact.tags),
            flags=self._unquoted(fact.flags),
        )

    def _unconfirmed(self, fact: Fact) -> Fact:
        """The fact without the confirmations of removed turns. When it was last confirmed is
        forgotten if the last confirmation is among them: nothing says when the others were."""
        last_stays = not fact.sources or fact.sources[-1] not in self.turns
        return replace(
            fact,
            sources=self._left(fact.sources),
            confirmed=fact.confirmed if last_stays else None,
        )

    def _with_end_cleaned(self, fact: Fact, removed: Mapping[str, Fact]) -> Fact:
        if fact.ended is None:
            return fact
        if fact.ended_by in removed:
            return _taken_over(fact, removed)
        sources = self._left(fact.end_sources)
        if len(sources) < len(fact.end_sources):
            if not fact.ended_by:
                return fact.holding_again()
            return replace(fact, end_sources=sources, end_reason="")
        unsupported = not (fact.end_sources or fact.ended_by)
        may_quote = unsupported and self.since is not None and fact.ended >= self.since
        if may_quote or self._quoted(fact.end_reason):
            return replace(fact, end_reason="")
        return fact


def _taken_over(fact: Fact, removed: Mapping[str, Fact]) -> Fact:
    """A fact that a removed one had ended: ended by that one's own successor, from then on, if
    there is one left; otherwise it holds again."""
    seen = {fact.id}
    by, ended = fact.ended_by, fact.ended
    while by in removed and by not in seen:
        seen.add(by)
        by, ended = removed[by].ended_by, removed[by].ended
    if not by or by in seen:
        return fact.holding_again()
    return replace(fact.holding_again(), ended=ended, ended_by=by)


def _remaining(fact: Fact, removed: Mapping[str, Fact]) -> tuple[str, ...]:
    """The facts that a fact supersedes, with those that removed ones among them had superseded."""
    found: dict[str, None] = {}
    seen = {fact.id}
    waiting = list(reversed(fact.supersedes))
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in removed:
            waiting += reversed(removed[name].supersedes)
        else:
            found[name] = None
    return tuple(found)
