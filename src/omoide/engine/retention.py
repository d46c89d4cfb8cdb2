"""Retention: facts that expire a number of days after they were learned, unless they are pinned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.ports.store.facts import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from omoide.domain import Fact, FactChanges, FactFilter, FactMarks, Owner
    from omoide.ports import FactStore


class ExpiringFacts:
    """A `FactStore` that gives each new fact a time at which it expires."""

    def __init__(self, facts: FactStore, *, retention: timedelta) -> None:
        self._facts = facts
        self._retention = retention

    async def apply(self, owner: Owner, changes: FactChanges) -> None:
        """See `FactStore.apply`; facts that are pinned or have a time of their own keep it."""
        added = tuple(
            fact
            if fact.pinned or fact.expires is not None
            else replace(fact, expires=fact.learned + self._retention)
            for fact in changes.added
        )
        await self._facts.apply(owner, replace(changes, added=added))

    async def read(
        self, owner: Owner, *, ids: Sequence[str] | None = None, only: FactFilter = ALL
    ) -> tuple[Fact, ...]:
        """See `FactStore.read`."""
        return await self._facts.read(owner, ids=ids, only=only)

    async def mark(self, owner: Owner, id: str, marks: FactMarks) -> Fact | None:  # noqa: A002
        """See `FactStore.mark`."""
        return await self._facts.mark(owner, id, marks)
