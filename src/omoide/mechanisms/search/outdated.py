"""Marks recalled turns of which memory has learned that they no longer hold.

A turn stays what somebody said, and is found for ever. Beside the fact that replaced what it says
it would be taken for true. So recall says of each turn what has ended and what holds instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import FactFilter, FactKind, MemoryKind, Outdated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from omoide.domain import Fact, Owner, RecalledItem
    from omoide.ports import Store

STEPS = 8
"""How often what replaced a fact may itself have been replaced."""


async def ended_facts(store: Store, owner: Owner, turns: Sequence[str]) -> tuple[Fact, ...]:
    """The ended facts that rest on at least one of these turns, of which there is at least one."""
    return await store.facts.read(owner, only=FactFilter(turns=turns, ended=True))


async def with_endings(
    store: Store,
    owner: Owner,
    items: Sequence[RecalledItem],
    *,
    ended: Iterable[Fact],
    at: datetime,
) -> tuple[RecalledItem, ...]:
    """The items, each turn with what had ended by `at` of the facts that rest on it. `ended` are
    the `ended_facts` of these turns, and maybe of others."""
    turns = {item.id for item in items if item.kind is MemoryKind.TURN}
    over = [f for f in ended if _over(f, at) and not turns.isdisjoint(f.sources)]
    if not over:
        return tuple(items)
    # Few turns have any, and only these need their other facts too.
    stale = sorted({source for fact in over for source in fact.sources}.intersection(turns))
    facts = await store.facts.read(owner, only=FactFilter(turns=stale))
    newer = await _replacements(store, owner, over, at=at)
    return tuple(
        replace(item, outdated=_outdated(item.id, facts, newer, at=at))
        if item.kind is MemoryKind.TURN
        else item
        for item in items
    )


def _over(fact: Fact, at: datetime) -> bool:
    return fact.learned <= at and fact.ended is not None and fact.ended <= at


async def _replacements(
    store: Store, owner: Owner, over: Iterable[Fact], *, at: datetime
) -> dict[str, Fact]:
    """What replaced these facts, and what replaced that, by id."""
    known: dict[str, Fact] = {}
    wanted = {fact.ended_by for fact in over if fact.ended_by}
    for _ in range(STEPS):
        if not wanted:
            break
        found = await store.facts.read(owner, ids=sorted(wanted))
        known |= {fact.id: fact for fact in found}
        wanted = {f.ended_by for f in found if f.ended_by and _over(f, at)} - known.keys()
    return known


def _outdated(
    turn: str, facts: Iterable[Fact], newer: dict[str, Fact], *, at: datetime
) -> Outdated | None:
    """What has ended of the facts that rest on a turn; None if nothing has."""
    own = [fact for fact in facts if turn in fact.sources and fact.learned <= at]
    over = [fact for fact in own if _over(fact, at)]
    if not over:
        return None
    now = {found.text: None for fact in over if (found := _standing(fact, newer, at))}
    return Outdated(
        until=min(_last_day(fact, at) for fact in over),
        ended=tuple(fact.text for fact in over),
        since_then=tuple(now),
        wholly=len(over) == len(own),
    )


def _standing(fact: Fact, newer: dict[str, Fact], at: datetime) -> Fact | None:
    """What holds at `at` in place of an ended fact, if anything does."""
    for _ in range(STEPS):
        found = newer.get(fact.ended_by)
        if found is None or found.learned > at:
            return None
        if not _over(found, at):
            return found if found.holds(at) else None
        fact = found
    return None


def _last_day(fact: Fact, at: datetime) -> date:
    """The last day on which an ended fact held: as told, or when memory learned of its end. The
    days of an event are when it happened, not until when it was true."""
    learned = (fact.ended or at).astimezone(at.tzinfo).date()
    told = None if fact.kind is FactKind.EVENT else fact.until
    return learned if told is None else min(told, learned)
