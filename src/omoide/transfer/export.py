"""Exports everything of one owner as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import JobState, JobTask
from omoide.transfer.memories import UnfinishedJob
from omoide.transfer.records import all_records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.transfer.records import Record, Value


async def export(store: Store, owner: Owner) -> AsyncIterator[Record]:
    """Everything that is stored about an owner, oldest first, after a header with the counts.

    Vectors and postings are left out: an import computes them again. Of jobs, only unfinished
    digests are included. What refers to facts is read before them, and what refers to turns before
    the turns, so that what is stored meanwhile leaves no reference to something that is not in the
    export.
    """
    jobs = await unfinished(store, owner)
    notes = await store.notes.read(owner)
    memos = await store.memos.read(owner)
    events = await store.events.read(owner)
    calls = await store.ledger.calls(owner)
    aside = await store.summaries.rejected(owner)
    versions = await store.summaries.history(owner)
    facts = await store.facts.read(owner)
    sessions = await store.turns.sessions(owner)
    missing = {session.number: session.turns for session in sessions}
    turns = []
    for turn in await store.turns.read(owner):
        if missing.get(turn.session):
            missing[turn.session] -= 1
            turns.append(turn)
    parts: dict[str, Sequence[Value]] = {
        "session": sessions,
        "turn": turns,
        "fact": facts,
        "version": versions,
        "aside": aside,
        "call": calls,
        "event": events,
        "memo": memos,
        "note": notes,
        "job": jobs,
    }
    for record in all_records(owner.user, parts):
        yield record


async def unfinished(store: Store, owner: Owner) -> tuple[UnfinishedJob, ...]:
    """The digest jobs that are still to be done or are dead."""
    states = [JobState.WAITING, JobState.RUNNING, JobState.DEAD]
    jobs = await store.jobs.list(owner.tenant, owner=owner, states=states)
    return tuple(
        UnfinishedJob(
            session=job.session,
            state=JobState.DEAD if job.state is JobState.DEAD else JobState.WAITING,
            created=job.created,
            error=job.error,
        )
        for job in jobs
        if job.task is JobTask.DIGEST and job.session is not None
    )
