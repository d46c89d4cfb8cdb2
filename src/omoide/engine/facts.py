"""Reading facts: what holds, what held at a time, and their timeline.

A memory that has only summaries is read as if each sentence were a fact; nothing is written for
that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import FactKind, applied, timeline
from omoide.domain.text import several
from omoide.errors import BadInput, NoSuchFact
from omoide.mechanisms.facts.adoption import adopt, unadopted
from omoide.ports.store.facts import ALL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from omoide.domain import Fact, FactFilter, FactMarks, Owner, TimelineEntry
    from omoide.ports import Store


class Facts:
    """The facts in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(
        self, owner: Owner, *, ids: Sequence[str] | None = None, only: FactFilter = ALL
    ) -> tuple[Fact, ...]:
        """The facts that match, by the time they were said; also those that only summaries state
        so far."""
        changes = await unadopted(self._store, owner)
        if changes is None:
            return await self._store.facts.read(owner, ids=ids, only=only)
        known = {fact.id: fact for fact in await self._store.facts.read(owner)}
        after = applied(changes, known)
        facts = {**known, **{fact.id: fact for fact in (*after.changed, *after.added)}}
        found = [
            fact
            for fact in sorted(facts.values(), key=lambda fact: fact.said)
            if (ids is None or fact.id in ids) and only.matches(fact)
        ]
        return tuple(found if only.newest is None else found[max(len(found) - only.newest, 0) :])

    async def held(
        self, owner: Owner, only: FactFilter, *, at: datetime, ended: bool
    ) -> tuple[Fact, ...]:
        """What memory took for true at a time; with `ended`, also what had ended or expired."""
        if not ended:
            return await self.read(owner, only=replace(only, at=at))
        found = await self.read(owner, only=only)
        return tuple(fact for fact in found if fact.learned <= at)

    async def timeline(
        self,
        owner: Owner,
        only: FactFilter,
        *,
        at: datetime,
        since: datetime | None,
    ) -> tuple[TimelineEntry, ...]:
        """What happened to the facts that match, from `since` until `at`. An entry matches by its
        fact or by one that it replaced."""
        return tuple(
            entry
            for entry in timeline(await self.read(owner), until=at)
            if (since is None or entry.time >= since)
            and any(only.matches(fact) for fact in (entry.fact, *entry.replaced))
        )

    async def find(self, owner: Owner, id: str) -> Fact:  # noqa: A002
        """The fact with the id. Raises `NoSuchFact`."""
        for fact in await self.read(owner, ids=[id]):
            return fact
        raise NoSuchFact(f"there is no fact {id[:80]!r}; list the facts for their ids")

    async def mark(self, owner: Owner, id: str, marks: FactMarks) -> Fact:  # noqa: A002
        """Set marks on a fact. Raises `NoSuchFact`."""
        await self.find(owner, id)
        await adopt(self._store, owner)
        marked = await self._store.facts.mark(owner, id, marks)
        return marked or await self.find(owner, id)  # it was erased meanwhile: that raises


def checked_kinds(kinds: Collection[FactKind | str]) -> frozenset[FactKind]:
    """The kinds of facts; empty for all. Raises `BadInput` for an unknown one."""
    known = {kind.value: kind for kind in FactKind}
    named = several(kinds)
    if unknown := [kind for kind in named if kind not in known]:
        raise BadInput(f"there is no kind of fact {unknown[0]!r}; there are {', '.join(known)}")
    return frozenset(known[kind] for kind in named)
