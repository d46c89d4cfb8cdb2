"""Our own export, back into a user, to the same state.

It may be broken off at any point and run again: it goes on where it stopped, since turns keep
their ids and positions, sessions and versions their numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from omoide.domain import Origin, State, Task
from omoide.errors import BadInput, ConflictingTurn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.domain import Event, Job, Memo, Owner
    from omoide.ports import Store
    from omoide.transfer.restore import Contents

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What a restore brought back, beyond what was there already."""

    sessions: int
    turns: int
    versions: int
    aside: int
    calls: int
    events: int
    memos: int
    notes: int
    to_digest: int
    """Sessions whose memory did not come along: a job was queued for each."""


async def restore(store: Store, owner: Owner, whole: Contents, *, at: datetime) -> Restored:
    """Bring it all back. Raises `BadInput` if the owner has anything that contradicts it."""
    return await _Restoring(store=store, owner=owner, whole=whole, at=at).run()


@dataclass(frozen=True, kw_only=True)
class _Restoring:
    store: Store
    owner: Owner
    whole: Contents
    at: datetime

    async def run(self) -> Restored:
        await self._check_turns()
        await self._check_versions()
        await self._check_memories()
        sessions, turns = await self._turns()
        versions = await self._versions()
        events, memos = await self._memories()
        return Restored(
            sessions=sessions,
            turns=turns,
            versions=versions,
            events=events,
            memos=memos,
            notes=await self._notes(),
            aside=await self._aside(),
            calls=await self._calls(),
            to_digest=await self._queue(),
        )

    async def _check_turns(self) -> None:
        """Turns that are here must be those of the file; or go on from it, if all of its are."""
        here = {turn.id: turn for turn in await self.store.turns.read(self.owner)}
        wanted = {turn.id: turn for turn in self.whole.turns}
        for known in here.values():
            theirs = wanted.get(known.id)
            if theirs != known and (theirs or not wanted.keys() <= here.keys()):
                raise BadInput(
                    f"{self.owner.user} already has other turns than the file (turn {known.id!r} "
                    f"of session {known.session}); restore into a user of whom nothing is stored, "
                    "or erase this one first"
                )

    async def _check_versions(self) -> None:
        """The memory here must be the beginning of the one in the file, or go on from it."""
        here = await self.store.summaries.history(self.owner)
        for mine, theirs in zip(here, self.whole.versions, strict=False):
            if mine.sentences != theirs.sentences:
                raise BadInput(
                    f"{self.owner.user} has another version {mine.number} of the memory than the "
                    "file; restore into a user of whom nothing is stored, or erase this one first"
                )

    async def _check_memories(self) -> None:
        """An event or memo of the same id must say the same."""
        events = {event.id: event for event in await self.store.events.read(self.owner)}
        memos = {memo.id: memo for memo in await self.store.memos.read(self.owner)}
        wrong: list[Event | Memo] = [
            *(e for e in self.whole.events if e.id in events and events[e.id].text != e.text),
            *(m for m in self.whole.memos if m.id in memos and memos[m.id].summary != m.summary),
        ]
        if wrong:
            raise BadInput(
                f"{self.owner.user} has another memory under the id {wrong[0].id!r} than the file; "
                "restore into a user of whom nothing is stored, or erase this one first"
            )

    async def _turns(self) -> tuple[int, int]:
        try:
            return await self.store.archive.put_back(
                self.owner, sessions=tuple(self.whole.sessions.values()), turns=self.whole.turns
            )
        except ConflictingTurn as error:
            raise BadInput(
                f"{self.owner.user} already has other turns than the file: {error}"
            ) from error

    async def _versions(self) -> int:
        here = await self.store.summaries.history(self.owner)
        missing = self.whole.versions[len(here) :]
        for version in missing:
            await self.store.summaries.commit(self.owner, version)
        return len(missing)

    async def _memories(self) -> tuple[int, int]:
        """Events with their recalls and memos, hidden where something newer stands for them."""
        known = {event.id for event in await self.store.events.read(self.owner)}
        events = [event for event in self.whole.events if event.id not in known]
        await self.store.events.add(self.owner, events)
        known = {memo.id for memo in await self.store.memos.read(self.owner)}
        memos = [memo for memo in self.whole.memos if memo.id not in known]
        await self.store.memos.add(self.owner, memos)
        return len(events), len(memos)

    async def _notes(self) -> int:
        known = {(note.kind, note.key) for note in await self.store.notes.read(self.owner)}
        missing = [note for note in self.whole.notes if (note.kind, note.key) not in known]
        for note in missing:
            await self.store.notes.put(self.owner, note)
        return len(missing)

    async def _aside(self) -> int:
        missing = _missing(self.whole.aside, await self.store.summaries.aside(self.owner))
        for rejected in missing:
            await self.store.summaries.set_aside(self.owner, rejected)
        return len(missing)

    async def _calls(self) -> int:
        missing = _missing(self.whole.calls, await self.store.ledger.calls(self.owner))
        for call in missing:
            await self.store.ledger.add(self.owner, call)
        return len(missing)

    async def _queue(self) -> int:
        """Last of all, so that no worker rewrites the memory while it comes back. A session that
        has had its job, or its version, since an earlier restore gets none."""
        here = await self.store.summaries.history(self.owner)
        newer = here[len(self.whole.versions) :]
        seen = {version.session for version in newer if version.origin is Origin.DIGEST}
        seen |= {job.session for job in await self._digests()}
        waiting = 0
        for work in self.whole.unfinished(self.at):
            if work.session in seen:
                continue
            await self.store.jobs.enqueue(
                self.owner, work.task, session=work.session, at=work.created
            )
            if work.error or work.state is State.DEAD:
                queued = next(j for j in await self._digests() if j.session == work.session)
                await self.store.jobs.settle(queued, state=work.state, error=work.error)
            waiting += work.state is State.WAITING
        return waiting

    async def _digests(self) -> list[Job]:
        jobs = await self.store.jobs.list(self.owner.tenant, owner=self.owner)
        return [job for job in jobs if job.task is Task.DIGEST]


def _missing(wanted: Iterable[T], here: Sequence[T]) -> list[T]:
    """What of the wanted is not here, in order, as often as it is."""
    left = Counter(here)
    missing = []
    for value in wanted:
        if left[value] > 0:
            left[value] -= 1
        else:
            missing.append(value)
    return missing
