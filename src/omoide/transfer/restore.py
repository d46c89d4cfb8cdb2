"""Our own export, back into a user, to the same state.

It may be broken off at any point and run again: it goes on where it stopped, since turns keep
their ids and versions their numbers. Session numbers are the same unless sessions were erased
before the export; then the later ones move up, everywhere they are named.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from omoide.domain import Call, Origin, Rejected, Said, Session, Summary, Task, Turn
from omoide.errors import BadImport, BadInput
from omoide.transfer.records import from_record, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import Store
    from omoide.transfer.files import Element
    from omoide.transfer.records import Value

NEVER = timedelta(days=365_000)
"""An idle time that no pause within a recorded session exceeds."""


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What a restore brought back, beyond what was there already."""

    sessions: int
    turns: int
    versions: int
    aside: int
    calls: int
    to_digest: int
    """Sessions whose memory did not come along: a job was queued for each."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A whole export, checked."""

    user: str
    sessions: dict[int, Session]
    turns: list[Turn]
    versions: list[Summary]
    aside: list[Rejected]
    calls: list[Call]

    @property
    def undigested(self) -> list[int]:
        """Sessions that ended and of which no version was made."""
        digested = {v.session for v in self.versions if v.origin in (Origin.DIGEST, Origin.EDIT)}
        spoken = {turn.session for turn in self.turns}
        return [
            number
            for number, session in self.sessions.items()
            if session.ended and number in spoken and number not in digested
        ]


def contents(elements: Iterable[Element]) -> Contents:
    """Everything in an export. Raises `BadImport` if any of it is not as we write it."""
    records = iter(elements)
    first = next(records, None)
    header = read_header(first.value if first else None)
    values: list[Value] = []
    for element in records:
        if element.problem:
            raise BadImport(f"{element.where}: {element.problem}")
        values.append(from_record(element.value, element.where))
    found = Contents(
        user=header.user,
        sessions={v.number: v for v in values if isinstance(v, Session)},
        turns=sorted((v for v in values if isinstance(v, Turn)), key=lambda t: t.position),
        versions=sorted((v for v in values if isinstance(v, Summary)), key=lambda v: v.number),
        aside=[v for v in values if isinstance(v, Rejected)],
        calls=[v for v in values if isinstance(v, Call)],
    )
    _check_counts(found, header.records)
    _check_links(found)
    return found


async def restore(store: Store, owner: Owner, whole: Contents, *, at: datetime) -> Restored:
    """Bring it all back. Raises `BadInput` if the owner has anything that is not in it."""
    restoring = _Restoring(store=store, owner=owner, whole=whole, at=at)
    return await restoring.run()


@dataclass(kw_only=True)
class _Restoring:
    store: Store
    owner: Owner
    whole: Contents
    at: datetime
    numbers: dict[int, int] = field(default_factory=dict)
    """Which session here each session of the file is."""
    closed: set[int] = field(default_factory=set)

    async def run(self) -> Restored:
        here = await self.store.turns.read(self.owner)
        sessions = await self.store.turns.sessions(self.owner)
        self.closed = {session.number for session in sessions if not session.open}
        new = self._new_turns({turn.id: turn for turn in here})
        await self._check_versions(complete=not new)
        await self._turns(new)
        versions = await self._versions()
        aside = await self._aside()
        calls = await self._calls()
        waiting = await self._queue()
        return Restored(
            sessions=len(set(self.numbers.values()) - {session.number for session in sessions}),
            turns=len(new),
            versions=versions,
            aside=aside,
            calls=calls,
            to_digest=waiting,
        )

    def _new_turns(self, here: dict[str, Turn]) -> list[Turn]:
        """Turns of the file that are not here yet; they must all come after those that are."""
        new: list[Turn] = []
        for turn in self.whole.turns:
            known = here.get(turn.id)
            if known is None:
                new.append(turn)
                continue
            same = (known.speaker, known.text, known.time) == (turn.speaker, turn.text, turn.time)
            if not same or new or self.numbers.get(turn.session, known.session) != known.session:
                raise self._conflict(known)
            self.numbers[turn.session] = known.session
        ids = {turn.id for turn in self.whole.turns}
        foreign = next((turn for turn in here.values() if turn.id not in ids), None)
        if new and foreign:
            raise self._conflict(foreign)
        return new

    async def _check_versions(self, *, complete: bool) -> None:
        """The memory here must be the beginning of the one in the file; or go on from it, if
        the turns are all here already."""
        here = await self.store.summaries.history(self.owner)
        for mine, theirs in zip(here, self.whole.versions, strict=False):
            if mine.sentences != theirs.sentences:
                raise BadInput(
                    f"{self.owner.user} has another version {mine.number} of the memory than the "
                    "file; restore into a user of whom nothing is stored, or erase this one first"
                )
        if len(here) > len(self.whole.versions) and not complete:
            raise BadInput(
                f"{self.owner.user} has {len(here)} versions of the memory and the file has "
                f"{len(self.whole.versions)}; restore into a user of whom nothing is stored"
            )

    async def _turns(self, new: list[Turn]) -> None:
        last = {turn.session: turn.id for turn in self.whole.turns}
        coming = {turn.session for turn in new}
        for number in set(self.numbers) - coming:  # broken off between its words and its end
            await self._end(self.whole.sessions[number])
        for number, run in groupby(new, key=lambda turn: turn.session):
            session = self.whole.sessions[number]
            said = [
                Said(
                    speaker=turn.speaker,
                    text=turn.text,
                    time=turn.time,
                    id=turn.id,
                    language=turn.language,
                    name=turn.name,
                )
                for turn in run
            ]
            recorded = await self.store.turns.append(
                self.owner, said, session=session.key, idle=NEVER
            )
            self.numbers[number] = recorded[-1].session
            if last[number] == said[-1].id:
                await self._end(session)

    async def _end(self, session: Session) -> None:
        number = self.numbers[session.number]
        if session.ended and number not in self.closed:
            await self.store.turns.end(self.owner, session=number, at=session.ended, digest=False)
            self.closed.add(number)

    async def _versions(self) -> int:
        here = await self.store.summaries.history(self.owner)
        missing = self.whole.versions[len(here) :]
        for version in missing:
            await self.store.summaries.commit(self.owner, self._moved_version(version))
        return len(missing)

    async def _aside(self) -> int:
        wanted = [
            replace(rejected, session=self._moved(rejected.session) or 0)
            for rejected in self.whole.aside
        ]
        missing = Counter(wanted) - Counter(await self.store.summaries.aside(self.owner))
        for rejected in missing.elements():
            await self.store.summaries.set_aside(self.owner, rejected)
        return missing.total()

    async def _calls(self) -> int:
        wanted = [replace(call, session=self._moved(call.session)) for call in self.whole.calls]
        missing = Counter(wanted) - Counter(await self.store.ledger.calls(self.owner))
        for call in missing.elements():
            await self.store.ledger.add(self.owner, call)
        return missing.total()

    async def _queue(self) -> int:
        """Last of all, so that no worker rewrites the memory while it comes back. A session that
        has had its job, or its version, since an earlier restore gets none."""
        history = await self.store.summaries.history(self.owner)
        jobs = await self.store.jobs.list(self.owner.tenant, owner=self.owner)
        seen = {version.session for version in history if version.origin is Origin.DIGEST}
        seen |= {job.session for job in jobs if job.task is Task.DIGEST}
        waiting = [n for number in self.whole.undigested if (n := self.numbers[number]) not in seen]
        for number in waiting:
            await self.store.jobs.enqueue(self.owner, Task.DIGEST, session=number, at=self.at)
        return len(waiting)

    def _moved_version(self, version: Summary) -> Summary:
        """The version with the session's number here. Of a session that was erased, only what
        was left of earlier ones remains: it counts as the work of the erasure."""
        erased = version.session is not None and version.session not in self.numbers
        if erased and version.origin is Origin.DIGEST:
            version = replace(version, origin=Origin.ERASURE)
        return replace(version, session=self._moved(version.session))

    def _moved(self, number: int | None) -> int | None:
        """That session's number here; of one that was erased, the number of the one before."""
        if number is None or number in self.numbers:
            return None if number is None else self.numbers[number]
        earlier = [known for known in self.numbers if known < number]
        return self.numbers[max(earlier)] if earlier else None

    def _conflict(self, turn: Turn) -> BadInput:
        return BadInput(
            f"{self.owner.user} already has other turns than the file (turn {turn.id!r} of session "
            f"{turn.session}); restore into a user of whom nothing is stored, or erase this one "
            "first"
        )


def _check_counts(found: Contents, counted: dict[str, int]) -> None:
    came = {
        "session": len(found.sessions),
        "turn": len(found.turns),
        "version": len(found.versions),
        "aside": len(found.aside),
        "call": len(found.calls),
    }
    for kind, count in came.items():
        if count != counted.get(kind, 0):
            raise BadImport(
                f"the header promises {counted.get(kind, 0)} of the kind {kind!r} and the file has "
                f"{count}: it is cut short or was changed"
            )


def _check_links(found: Contents) -> None:
    if len({turn.id for turn in found.turns}) < len(found.turns):
        raise BadImport("two turns of the file have the same id")
    for turn in found.turns:
        if turn.session not in found.sessions:
            raise BadImport(f"turn {turn.id!r} is of session {turn.session}, which is missing")
    if [v.number for v in found.versions] != list(range(1, len(found.versions) + 1)):
        raise BadImport("the versions of the memory are not numbered 1, 2, 3 …")
    digests = [v.session for v in found.versions if v.origin is Origin.DIGEST]
    if len(set(digests)) < len(digests):
        raise BadImport("two versions of the memory digest the same session")
    keys = [session.key for session in found.sessions.values() if session.key]
    if len(set(keys)) < len(keys):
        raise BadImport("two sessions of the file have the same key")
    _check_order(found)


def _check_order(found: Contents) -> None:
    """Without a key, a session must have ended before the next one without a key began."""
    over: set[int] = set()
    current: int | None = None
    for turn in found.turns:
        if found.sessions[turn.session].key is not None or turn.session == current:
            continue
        if turn.session in over or (current and found.sessions[current].open):
            raise BadImport(f"turn {turn.id!r} stands in the middle of another session")
        if current is not None:
            over.add(current)
        current = turn.session
