"""The timeline of facts: what began, changed, was confirmed, ended and expired, in time order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from omoide.domain.fact import Fact


class FactChange(StrEnum):
    """What happened to a fact."""

    BEGAN = "began"
    CHANGED = "changed"
    """It took the place of other facts."""
    CONFIRMED = "confirmed"
    ENDED = "ended"
    """It ended, and no fact took its place."""
    EXPIRED = "expired"


@dataclass(frozen=True, kw_only=True)
class TimelineEntry:
    """One moment in the life of a fact."""

    time: datetime
    """When memory learned it."""
    change: FactChange
    fact: Fact
    replaced: tuple[Fact, ...] = ()
    """The facts whose place it took."""
    reason: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the turns that say so."""


def timeline(facts: Iterable[Fact], *, until: datetime) -> tuple[TimelineEntry, ...]:
    """What happened to the facts up to a time. A fact that was replaced has no entry of its own for
    that: it is named by the one that replaced it."""
    known = {fact.id: fact for fact in facts}
    replaced: dict[str, list[Fact]] = {}
    for fact in known.values():
        if fact.ended_by in known:
            replaced.setdefault(fact.ended_by, []).append(fact)
    entries = (
        entry for fact in known.values() for entry in _entries(fact, replaced.get(fact.id, ()))
    )
    return tuple(sorted((e for e in entries if e.time <= until), key=lambda entry: entry.time))


def _entries(fact: Fact, replaced: Iterable[Fact]) -> Iterator[TimelineEntry]:
    replaced = tuple(replaced)
    yield TimelineEntry(
        time=fact.learned,
        change=FactChange.CHANGED if replaced else FactChange.BEGAN,
        fact=fact,
        replaced=replaced,
        reason=fact.reason or next((old.end_reason for old in replaced if old.end_reason), ""),
        sources=fact.sources,
    )
    if fact.confirmed is not None and fact.confirmed > fact.learned:
        yield TimelineEntry(
            time=fact.confirmed, change=FactChange.CONFIRMED, fact=fact, sources=fact.sources
        )
    if fact.ended is not None and not fact.ended_by:
        yield TimelineEntry(
            time=fact.ended,
            change=FactChange.ENDED,
            fact=fact,
            reason=fact.end_reason,
            sources=fact.end_sources,
        )
    if fact.expires is not None and (fact.ended is None or fact.expires < fact.ended):
        time = max(fact.expires, fact.learned)  # it may be set to one before
        yield TimelineEntry(time=time, change=FactChange.EXPIRED, fact=fact)
