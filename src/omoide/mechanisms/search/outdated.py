"""Marks recalled turns and topics of which memory has learned that they no longer hold.

A turn stays what somebody said, and is found for ever, as is the summary of a topic. Beside the
fact that replaced what it says it would be taken for true. So recall says of each what has ended
and what holds instead. What a rollback undid is told by no topic any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage
from omoide.domain import Ending, FactFilter, FactKind, MemoryKind, Origin, Outdated
from omoide.language import content_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from omoide.domain import Fact, Owner, RecalledItem
    from omoide.ports import Store

STEPS = 8
"""How often what replaced a fact may itself have been replaced."""
MARKED = (MemoryKind.TURN, MemoryKind.MEMO)
TELLS = 0.3
"""Share of a fact's words in the summary of a topic from which the summary may tell it."""


async def facts_over(
    store: Store, owner: Owner, turns: Sequence[str], *, at: datetime
) -> tuple[Fact, ...]:
    """The facts that rest on at least one of these turns, of which there is at least one, and had
    ended or expired by `at`."""
    return await store.facts.read(owner, only=FactFilter(turns=turns, over=at))


async def with_endings(
    store: Store,
    owner: Owner,
    items: Sequence[RecalledItem],
    *,
    over: Iterable[Fact],
    at: datetime,
) -> tuple[RecalledItem, ...]:
    """The items, each turn and topic with what had ended by `at` of the facts that rest on it, but
    for topics that rest on what has expired, is forgotten or was undone: their summaries may tell
    it. `over` are the `facts_over` of all these turns, and maybe of others."""
    stale = {source for fact in over for source in fact.sources}
    marked = {id(i) for i in items if i.kind in MARKED and not stale.isdisjoint(i.sources)}
    if not marked:
        return tuple(items)
    # Few items have any, and only these need their other facts too.
    turns = sorted({source for item in items if id(item) in marked for source in item.sources})
    read = await store.facts.read(owner, only=FactFilter(turns=turns))
    facts = [fact for fact in read if fact.learned <= at]
    newer = await _replacements(store, owner, facts, at=at)
    gone = _gone(facts, newer, at)
    untold = {fact.id for fact in gone if fact.expired(at)} | await _undone(store, owner, gone)
    result: list[RecalledItem] = []
    for item in items:
        of_item = set(item.sources if id(item) in marked else ())
        ended = [fact for fact in gone if not of_item.isdisjoint(fact.sources)]
        if item.kind is MemoryKind.MEMO and not untold.isdisjoint(fact.id for fact in ended):
            continue
        if outdated := _outdated(item, ended, newer, at=at):
            holds = any(f.holds(at) and not of_item.isdisjoint(f.sources) for f in facts)
            item = replace(item, outdated=replace(outdated, wholly=not holds))
        result.append(item)
    return tuple(result)


def _gone(facts: Sequence[Fact], newer: Mapping[str, Fact], at: datetime) -> list[Fact]:
    """The facts that are over, but for those that hold under another id: a rollback brought them
    back for the same turn, or the user has said what the assistant had said."""
    holding: dict[tuple[str, str], set[str]] = {}
    for fact in facts:
        if fact.holds(at):
            holding.setdefault((fact.about, fact.text), set()).update(fact.sources)

    def again(fact: Fact) -> bool:
        now = _standing(fact, newer, at)
        if now is not None and (now.about, now.text) == (fact.about, fact.text):
            return True
        return not holding.get((fact.about, fact.text), set()).isdisjoint(fact.sources)

    return [fact for fact in facts if fact.over(at) and not again(fact)]


async def _undone(store: Store, owner: Owner, facts: Iterable[Fact]) -> set[str]:
    """Ids of the ended facts that nobody's words ended, but a rollback."""
    found: set[str] = set()
    for fact in facts:
        if fact.ended is None or fact.end_sources:
            continue
        version = await store.summaries.find(owner, at=fact.ended)
        if version and version.origin is Origin.ROLLBACK and version.time == fact.ended:
            found.add(fact.id)
    return found


async def _replacements(
    store: Store, owner: Owner, facts: Iterable[Fact], *, at: datetime
) -> dict[str, Fact]:
    """What replaced these facts, and what replaced that, by id."""
    known: dict[str, Fact] = {}
    wanted = {fact.ended_by for fact in facts if fact.ended_by and _ended(fact, at)}
    for _ in range(STEPS):
        if not wanted:
            break
        found = await store.facts.read(owner, ids=sorted(wanted))
        known |= {fact.id: fact for fact in found}
        wanted = {f.ended_by for f in found if f.ended_by and _ended(f, at)} - known.keys()
    return known


def _ended(fact: Fact, at: datetime) -> bool:
    return fact.learned <= at and fact.ended is not None and fact.ended <= at


def _outdated(
    item: RecalledItem, ended: Iterable[Fact], newer: Mapping[str, Fact], *, at: datetime
) -> Outdated | None:
    """What has ended of the facts that rest on an item, those together that ended on the same day
    by the same; None if nothing has. The summary of a topic tells some of its turns only."""
    ends: dict[tuple[date, str], dict[str, None]] = {}
    for fact in ended:
        if _ended(fact, at) and (item.kind is MemoryKind.TURN or _tells(item.text, fact)):
            now = _standing(fact, newer, at)
            end = (_last_day(fact, at), now.text if now else "")
            ends.setdefault(end, {})[fact.text] = None
    if not ends:
        return None
    return Outdated(
        until=min(day for day, _ in ends),
        ended=tuple(text for texts in ends.values() for text in texts),
        since_then=tuple(dict.fromkeys(now for _, now in ends if now)),
        endings=tuple(
            Ending(ended=tuple(texts), until=day, since_then=now)
            for (day, now), texts in ends.items()
        ),
    )


def _tells(summary: str, fact: Fact) -> bool:
    return coverage(content_terms(fact.text), content_terms(summary)) >= TELLS


def _standing(fact: Fact, newer: Mapping[str, Fact], at: datetime) -> Fact | None:
    """What holds at `at` in place of an ended fact, if anything does; no plan whose day has
    passed."""
    for _ in range(STEPS):
        found = newer.get(fact.ended_by)
        if found is None or found.learned > at:
            return None
        if not _ended(found, at):
            return found if found.holds(at) and not found.overdue(at.date()) else None
        fact = found
    return None


def _last_day(fact: Fact, at: datetime) -> date:
    """The last day on which an ended fact held: as told, or when memory learned of its end. The
    days of an event are when it happened, not until when it was true."""
    learned = (fact.ended or at).astimezone(at.tzinfo).date()
    told = None if fact.kind is FactKind.EVENT else fact.until
    return learned if told is None else min(told, learned)
