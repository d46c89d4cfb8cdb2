"""What changes make of an owner's facts: the same rules for every store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.domain.fact import Fact, FactChanges


@dataclass(frozen=True, kw_only=True)
class AppliedChanges:
    """The facts that changes add or change, as they are afterwards."""

    added: tuple[Fact, ...]
    changed: tuple[Fact, ...]
    """Known facts that are confirmed or ended."""
    cited: frozenset[str]
    """Ids of all turns that the changes cite."""
    sessions: frozenset[int]
    """The sessions that new facts were learned from."""


def applied(changes: FactChanges, known: Mapping[str, Fact]) -> AppliedChanges:
    """Apply changes (`FactStore.apply`). `known` has at least the stored facts that they name."""
    firsts = {fact.id: fact for fact in reversed(changes.added) if fact.id not in known}
    added = [fact for fact in changes.added if firsts.get(fact.id) is fact]
    facts = {**known, **firsts}
    confirmed = [change for change in changes.confirmed if change.id in facts]
    ended = [end for end in changes.ended if end.id in facts and (not end.by or end.by in facts)]
    for confirmation in confirmed:
        facts[confirmation.id] = facts[confirmation.id].confirmed_with(confirmation)
    for end in ended:
        facts[end.id] = facts[end.id].ended_with(end)
    return AppliedChanges(
        added=tuple(facts[fact.id] for fact in added),
        changed=tuple(facts[name] for name, before in known.items() if facts[name] != before),
        cited=frozenset(
            {source for fact in added for source in (*fact.sources, *fact.end_sources)}
            | {source for change in confirmed for source in change.sources}
            | {source for end in ended for source in end.sources}
        ),
        sessions=frozenset(fact.session for fact in added if fact.session is not None),
    )
