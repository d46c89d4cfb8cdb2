"""Events whose facts are over. An event is made from a fact and would outlive it: a plan that was
given up would come to mind as if it had come true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import FactKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Event, Fact, Owner
    from omoide.ports import Store


async def lasting_events(
    store: Store, owner: Owner, events: Sequence[Event], *, at: datetime
) -> list[Event]:
    """The events but for those whose fact had ended or expired by `at`. What happened stays so."""
    ids = sorted({event.fact for event in events if event.fact})
    facts = await store.facts.read(owner, ids=ids) if ids else ()
    gone = {fact.id for fact in facts if fact.over(at) and not _happened(fact, at)}
    return [event for event in events if event.fact not in gone]


def _happened(fact: Fact, at: datetime) -> bool:
    """Whether an ended fact is something that happened, of which it was told how it went on. A
    rollback, which nobody's words stand behind, undoes it, and what replaced it corrects it."""
    told = bool(fact.end_sources) and not fact.ended_by
    return fact.kind is FactKind.EVENT and told and not fact.expired(at)
