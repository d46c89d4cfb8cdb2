"""Everything of one owner, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import State, Task
from omoide.transfer.memories import Unfinished
from omoide.transfer.records import Header, header_record, to_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.transfer.records import Record, Value


async def export(store: Store, owner: Owner) -> AsyncIterator[Record]:
    """Everything that is stored of an owner, oldest first, behind a header that counts it.

    Vectors and postings are not: they are computed again. Of jobs, the sessions are that are
    still to be digested or were given up. What says more is read first, so that words that are
    said meanwhile leave nothing pointing at what is not there.
    """
    jobs = await unfinished(store, owner)
    notes = await store.notes.read(owner)
    memos = await store.memos.read(owner)
    events = await store.events.read(owner)
    calls = await store.ledger.calls(owner)
    aside = await store.summaries.aside(owner)
    versions = await store.summaries.history(owner)
    sessions = await store.turns.sessions(owner)
    left = {session.number: session.turns for session in sessions}
    turns = []
    for turn in await store.turns.read(owner):
        if left.get(turn.session):
            left[turn.session] -= 1
            turns.append(turn)
    parts: dict[str, Sequence[Value]] = {
        "session": sessions,
        "turn": turns,
        "version": versions,
        "aside": aside,
        "call": calls,
        "event": events,
        "memo": memos,
        "note": notes,
        "job": jobs,
    }
    counts = {kind: len(values) for kind, values in parts.items()}
    yield header_record(Header(user=owner.user, records=counts))
    for values in parts.values():
        for value in values:
            yield to_record(value)


async def unfinished(store: Store, owner: Owner) -> tuple[Unfinished, ...]:
    """The sessions that are still to be digested, and those that were given up."""
    wanted = [State.WAITING, State.RUNNING, State.DEAD]
    jobs = await store.jobs.list(owner.tenant, owner=owner, states=wanted)
    return tuple(
        Unfinished(
            session=job.session,
            state=State.DEAD if job.state is State.DEAD else State.WAITING,
            created=job.created,
            error=job.error,
        )
        for job in jobs
        if job.task is Task.DIGEST and job.session is not None
    )
