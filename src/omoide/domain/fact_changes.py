"""What changes make of an owner's facts: the same rules for every store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain.fact import FactKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.domain.fact import Fact, FactChanges, FactEnd


@dataclass(frozen=True, kw_only=True)
class AppliedChanges:
    """The facts that changes add or change, as they are afterwards."""

    added: tuple[Fact, ...]
    changed: tuple[Fact, ...]
    """Known facts that are confirmed or ended, or that ended others."""
    again: tuple[Fact, ...]
    """Of these, those that had ended and hold again: the plan that would end them ended first."""
    cited: frozenset[str]
    """Ids of all turns that the changes cite."""
    sessions: frozenset[int]
    """The sessions that new facts were learned from."""


def applied(changes: FactChanges, known: Mapping[str, Fact]) -> AppliedChanges:
    """Apply changes (`FactStore.apply`). `known` has at least the stored facts that they name, and
    those that the facts which they end have superseded or were to be ended by.

    What replaced a fact is decided by its end alone: the newer fact supersedes what it ended, and
    nothing else, whatever a writer says of it. What a plan would have ended goes on if the plan
    ends before its day.
    """
    firsts = {fact.id: fact for fact in reversed(changes.added) if fact.id not in known}
    added = [fact for fact in changes.added if firsts.get(fact.id) is fact]
    facts = {**known, **firsts}
    confirmed = [change for change in changes.confirmed if change.id in facts]
    ended = [end for end in changes.ended if end.id in facts and (not end.by or end.by in facts)]
    over = {end.id: end.at for end in ended}
    ended = [end for end in ended if over.get(end.by, end.at) >= end.at]  # else the plan is off
    for confirmation in confirmed:
        facts[confirmation.id] = facts[confirmation.id].confirmed_with(confirmation)
    for end in ended:
        facts |= _going_on(facts[end.id], facts, end)
    for end in ended:
        old = facts[end.id]
        facts[end.id] = old.ended_with(end)
        if (plan := facts.get(old.ended_by)) and facts[end.id].ended_by != plan.id:
            left = tuple(name for name in plan.supersedes if name != end.id)
            facts[plan.id] = replace(plan, supersedes=left)
    for name in firsts:
        facts[name] = _superseding(facts[name], facts)
    for name in (*firsts, *(end.id for end in ended)):
        if newer := facts.get(facts[name].ended_by):
            names = dict.fromkeys((*newer.supersedes, name))
            facts[newer.id] = replace(newer, supersedes=tuple(names))
    changed = tuple(facts[name] for name, before in known.items() if facts[name] != before)
    return AppliedChanges(
        added=tuple(facts[fact.id] for fact in added),
        changed=changed,
        again=tuple(fact for fact in changed if fact.ended is None and known[fact.id].ended),
        cited=frozenset(
            {source for fact in added for source in (*fact.sources, *fact.end_sources)}
            | {source for change in confirmed for source in change.sources}
            | {source for end in ended for source in end.sources}
        ),
        sessions=frozenset(fact.session for fact in added if fact.session is not None),
    )


def _going_on(plan: Fact, facts: Mapping[str, Fact], end: FactEnd) -> dict[str, Fact]:
    """What a plan would have ended after `end`, holding again, and the plan without it."""
    if plan.kind is not FactKind.PLAN or plan.ended is not None or end.by == plan.id:
        return {}
    again = {
        name: old.holding_again()
        for name in plan.supersedes
        if (old := facts.get(name)) and old.ended_by == plan.id and old.ended and old.ended > end.at
    }
    left = tuple(name for name in plan.supersedes if name not in again)
    return {**again, plan.id: replace(plan, supersedes=left)} if again else {}


def _superseding(fact: Fact, facts: Mapping[str, Fact]) -> Fact:
    """The fact without those that it claims to have replaced and did not end, and without a reason
    for it if none is left."""
    ended = tuple(n for n in fact.supersedes if n in facts and facts[n].ended_by == fact.id)
    reason = fact.reason if ended or not fact.supersedes else ""
    return replace(fact, supersedes=ended, reason=reason)
