"""Scores of what a memory holds after a story, without a judge: strings that must or must not be
in its facts, and days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Fact, RejectedAnswer
    from omoide_bench.stories.reading import ExpectedFact, Story


@dataclass(frozen=True, kw_only=True)
class StoryMemory:
    """What a memory holds at the end of a story."""

    facts: tuple[Fact, ...]
    """All facts about the user and others, ended ones too."""
    aside: tuple[RejectedAnswer, ...]
    """What was set aside or rejected."""
    at: datetime

    @property
    def holding(self) -> tuple[Fact, ...]:
        """The facts that hold."""
        return tuple(fact for fact in self.facts if fact.holds(self.at))


def scores(
    told: ExpectedFact, memory: StoryMemory, *, ended: Sequence[str] = ()
) -> dict[str, float]:
    """The scores of one told fact: `present`, and `changed` or `dated` if it is of that kind.
    `aside` is 1 if it is missing and was set aside. `ended` are words that say that it is over."""
    present = any(told.wording.within(fact.text) for fact in memory.holding)
    found = {"present": float(present), "aside": float(not present and was_set_aside(told, memory))}
    if told.old is not None:
        was_known = any(told.old.within(fact.text) for fact in memory.facts)
        found["present before"] = float(was_known)
        found["changed"] = float(present and not stale(told, memory, ended=ended))
    if told.first is not None:
        found["present"] = float(any(told.wording.within(fact.text) for fact in memory.facts))
        found["dated"] = float(any(_dated(told, fact) for fact in memory.facts))
    return found


def stale(
    told: ExpectedFact, memory: StoryMemory, *, ended: Sequence[str] = ()
) -> tuple[Fact, ...]:
    """The facts that hold and say only what was true before. What was noted later than the first
    of them is news of its end, and so is a fact with a word for that."""
    if told.old is None:
        return ()
    before = [
        fact
        for fact in memory.facts
        if told.old.within(fact.text) and not told.wording.within(fact.text)
    ]
    first = min(before, key=lambda fact: fact.said, default=None)
    return tuple(
        fact
        for fact in before
        if first is not None
        and fact.session == first.session
        and fact.holds(memory.at)
        and not any(word in fact.text.casefold() for word in ended)
    )


def was_set_aside(told: ExpectedFact, memory: StoryMemory) -> bool:
    """Whether something that was set aside says it."""
    return any(told.wording.within(entry.text) for entry in memory.aside)


def rotting(story: Story, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts with words for relative times."""
    return tuple(
        fact for fact in facts if any(word in fact.text.casefold() for word in story.relative)
    )


def _dated(told: ExpectedFact, fact: Fact) -> bool:
    """Whether the fact says it and its days lie inside the true ones. The last day of a fact that
    has ended is that of its end, and does not count."""
    if told.first is None or told.last is None or not told.wording.within(fact.text):
        return False
    days = [day for day in (fact.since, None if fact.ended else fact.until) if day is not None]
    return bool(days) and all(told.first <= day <= told.last for day in days)
