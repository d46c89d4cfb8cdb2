"""Everything of one owner, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.transfer.records import Header, header_record, to_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.transfer.records import Record, Value


async def export(store: Store, owner: Owner) -> AsyncIterator[Record]:
    """Everything that is stored of an owner, oldest first, behind a header that counts it.

    Jobs are not: which sessions are still to be digested is seen from the rest. Nor are
    vectors, which are computed again.
    """
    parts: dict[str, Sequence[Value]] = {
        "session": await store.turns.sessions(owner),
        "turn": await store.turns.read(owner),
        "version": await store.summaries.history(owner),
        "aside": await store.summaries.aside(owner),
        "call": await store.ledger.calls(owner),
    }
    counts = {kind: len(values) for kind, values in parts.items()}
    yield header_record(Header(user=owner.user, records=counts))
    for values in parts.values():
        for value in values:
            yield to_record(value)
