"""`FactStore` in documents."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, applied
from omoide.ports.store.facts import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import Fact, FactChanges, FactFilter, FactMarks, Owner


class DocumentFacts:
    """Facts."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def apply(self, owner: Owner, changes: FactChanges) -> None:
        """See `FactStore.apply`."""
        await self._records.change(owner, lambda record: _apply(record, changes))

    async def read(
        self, owner: Owner, *, ids: Sequence[str] | None = None, only: FactFilter = ALL
    ) -> tuple[Fact, ...]:
        """See `FactStore.read`."""
        wanted = None if ids is None else set(ids)
        chosen = sorted(
            (
                fact
                for fact in (await self._records.read(owner)).facts
                if (wanted is None or fact.id in wanted) and only.matches(fact)
            ),
            key=attrgetter("said"),
        )
        first = 0 if only.newest is None else max(len(chosen) - max(only.newest, 0), 0)
        return tuple(chosen[first:])

    async def mark(self, owner: Owner, id: str, marks: FactMarks) -> Fact | None:  # noqa: A002
        """See `FactStore.mark`."""

        def work(record: Record) -> Fact | None:
            for index, fact in enumerate(record.facts):
                if fact.id == id:
                    record.facts[index] = fact.marked(marks)
                    return record.facts[index]
            return None

        return await self._records.change(owner, work)


def _apply(record: Record, changes: FactChanges) -> None:
    known = {fact.id: fact for fact in record.facts}
    result = applied(changes, known)
    record.refuse_erased("a fact", cited=result.cited, sessions=result.sessions)
    changed = {fact.id: fact for fact in result.changed}
    record.facts = [*(changed.get(name, fact) for name, fact in known.items()), *result.added]
    ended = [fact.id for fact in result.changed if fact.ended is not None]
    record.drop_vectors(MemoryKind.FACT, ended)
    if current := [fact for fact in (*result.again, *result.added) if fact.ended is None]:
        record.queue_embedding(current[-1].learned)
