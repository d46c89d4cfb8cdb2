"""Restores an export of omoide into a user, to the same state.

It may be interrupted at any point and run again: it continues where it stopped, since turns keep
their ids and positions, and sessions and versions keep their numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from omoide.domain import FactChanges, JobState, JobTask, Origin
from omoide.errors import BadInput, ConflictingTurn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Event, Fact, Job, Memo, Owner
    from omoide.ports import Store
    from omoide.transfer.restore import ExportContents

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RestoreResult:
    """What a restore added to what was there already."""

    sessions: int
    turns: int
    versions: int
    aside: int
    calls: int
    facts: int
    events: int
    memos: int
    notes: int
    to_digest: int
    """Sessions that were not digested in the export: a job was queued for each."""


async def restore(
    store: Store, owner: Owner, contents: ExportContents, *, at: datetime
) -> RestoreResult:
    """Restore all of it. Raises `BadInput` if the owner has anything that contradicts it."""
    return await _Restoring(store=store, owner=owner, contents=contents, at=at).run()


@dataclass(frozen=True, kw_only=True)
class _Restoring:
    store: Store
    owner: Owner
    contents: ExportContents
    at: datetime

    async def run(self) -> RestoreResult:
        await self._check_turns()
        await self._check_versions()
        await self._check_memories()
        sessions, turns = await self._turns()
        facts = await self._facts()
        versions = await self._versions()
        events, memos = await self._memories()
        return RestoreResult(
            sessions=sessions,
            turns=turns,
            versions=versions,
            facts=facts,
            events=events,
            memos=memos,
            notes=await self._notes(),
            aside=await self._aside(),
            calls=await self._calls(),
            to_digest=await self._queue(),
        )

    async def _check_turns(self) -> None:
        """Stored turns must be those of the file; others are allowed only if all of the file's
        turns are stored already."""
        stored = {turn.id: turn for turn in await self.store.turns.read(self.owner)}
        wanted = {turn.id: turn for turn in self.contents.turns}
        for known in stored.values():
            theirs = wanted.get(known.id)
            if theirs != known and (theirs or not wanted.keys() <= stored.keys()):
                raise BadInput(
                    f"{self.owner.user} already has other turns than the file (turn {known.id!r} "
                    f"of session {known.session}); restore into a user without any data, "
                    "or erase this one first"
                )

    async def _check_versions(self) -> None:
        """Stored versions must be a prefix of those in the file, or continue them."""
        stored = await self.store.summaries.history(self.owner)
        for ours, theirs in zip(stored, self.contents.versions, strict=False):
            if ours.sentences != theirs.sentences:
                raise BadInput(
                    f"{self.owner.user} has another version {ours.number} of the memory than the "
                    "file; restore into a user without any data, or erase this one first"
                )

    async def _check_memories(self) -> None:
        """A fact, event or memo with the same id must have the same text."""
        facts = {fact.id: fact for fact in await self.store.facts.read(self.owner)}
        events = {event.id: event for event in await self.store.events.read(self.owner)}
        memos = {memo.id: memo for memo in await self.store.memos.read(self.owner)}
        wrong: list[Fact | Event | Memo] = [
            *(f for f in self.contents.facts if f.id in facts and facts[f.id].text != f.text),
            *(e for e in self.contents.events if e.id in events and events[e.id].text != e.text),
            *(m for m in self.contents.memos if m.id in memos and memos[m.id].summary != m.summary),
        ]
        if wrong:
            raise BadInput(
                f"{self.owner.user} has another memory under the id {wrong[0].id!r} than the file; "
                "restore into a user without any data, or erase this one first"
            )

    async def _turns(self) -> tuple[int, int]:
        contents = self.contents
        if not (contents.sessions or contents.turns or contents.calls):
            return 0, 0
        try:
            return await self.store.archive.restore(
                self.owner,
                sessions=tuple(self.contents.sessions.values()),
                turns=self.contents.turns,
            )
        except ConflictingTurn as error:
            raise BadInput(
                f"{self.owner.user} already has other turns than the file: {error}"
            ) from error

    async def _facts(self) -> int:
        """Restore facts, ended ones too, before what refers to them."""
        known = {fact.id for fact in await self.store.facts.read(self.owner)}
        facts = tuple(fact for fact in self.contents.facts if fact.id not in known)
        await self.store.facts.apply(self.owner, FactChanges(added=facts))
        return len(facts)

    async def _versions(self) -> int:
        stored = await self.store.summaries.history(self.owner)
        missing = self.contents.versions[len(stored) :]
        for version in missing:
            await self.store.summaries.commit(self.owner, version)
        return len(missing)

    async def _memories(self) -> tuple[int, int]:
        """Restore events with their recalls, and memos; superseded and folded ones stay so."""
        known = {event.id for event in await self.store.events.read(self.owner)}
        events = [event for event in self.contents.events if event.id not in known]
        await self.store.events.add(self.owner, events)
        known = {memo.id for memo in await self.store.memos.read(self.owner)}
        memos = [memo for memo in self.contents.memos if memo.id not in known]
        await self.store.memos.add(self.owner, memos)
        return len(events), len(memos)

    async def _notes(self) -> int:
        known = {(note.kind, note.key) for note in await self.store.notes.read(self.owner)}
        missing = [note for note in self.contents.notes if (note.kind, note.key) not in known]
        for note in missing:
            await self.store.notes.put(self.owner, note)
        return len(missing)

    async def _aside(self) -> int:
        missing = _missing(self.contents.aside, await self.store.summaries.rejected(self.owner))
        for rejected in missing:
            await self.store.summaries.add_rejected(self.owner, rejected)
        return len(missing)

    async def _calls(self) -> int:
        missing = _missing(self.contents.calls, await self.store.ledger.calls(self.owner))
        for call in missing:
            await self.store.ledger.add(self.owner, call)
        return len(missing)

    async def _queue(self) -> int:
        """Queue the unfinished jobs: last of all, so that no worker changes the memory during the
        restore. A session that got its job or version since an earlier restore is skipped."""
        stored = await self.store.summaries.history(self.owner)
        newer = stored[len(self.contents.versions) :]
        seen = {version.session for version in newer if version.origin is Origin.DIGEST}
        seen |= {job.session for job in await self._digests()}
        waiting = 0
        for job in self.contents.unfinished(self.at):
            if job.session in seen:
                continue
            await self.store.jobs.enqueue(self.owner, job.task, session=job.session, at=job.created)
            if job.error or job.state is JobState.DEAD:
                queued = next(j for j in await self._digests() if j.session == job.session)
                await self.store.jobs.set_state(queued, state=job.state, error=job.error)
            waiting += job.state is JobState.WAITING
        return waiting

    async def _digests(self) -> list[Job]:
        jobs = await self.store.jobs.list(self.owner.tenant, owner=self.owner)
        return [job for job in jobs if job.task is JobTask.DIGEST]


def _missing(wanted: Iterable[T], stored: Sequence[T]) -> list[T]:
    """The wanted values that are not stored, in order; duplicates count."""
    counts = Counter(stored)
    missing = []
    for value in wanted:
        if counts[value] > 0:
            counts[value] -= 1
        else:
            missing.append(value)
    return missing
