"""`TurnStore` in documents."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, RecordedTurns, Session, Turn
from omoide.errors import ConflictingTurn, NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import NewTurn, Owner


class DocumentTurns:
    """Turns and sessions."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def append(
        self,
        owner: Owner,
        said: Sequence[NewTurn],
        *,
        session: str | None,
        idle: timedelta,
        answers: str | None = None,
        replaces: Sequence[str] = (),
    ) -> RecordedTurns:
        """See `TurnStore.append`."""

        def work(record: Record) -> RecordedTurns:
            if answers is not None and not any(turn.id == answers for turn in record.turns):
                return RecordedTurns((), new=frozenset())
            emptied = _take_back(record, replaces)
            if not said:
                record.sessions = {n: s for n, s in record.sessions.items() if n not in emptied}
            return _append(record, said, key=session, idle=idle)

        return await self._records.change(owner, work)

    async def end(
        self, owner: Owner, *, session: int | None = None, at: datetime, digest: bool = True
    ) -> tuple[Session, ...]:
        """See `TurnStore.end`."""

        def work(record: Record) -> tuple[Session, ...]:
            if session is not None and session not in record.sessions:
                raise NoSuchSession(f"{owner.user!r} has no session {session}")
            return tuple(
                record.end(open_session, at=at, digest=digest)
                for number, open_session in sorted(record.sessions.items())
                if open_session.open and session in (None, number)
            )

        return await self._records.change(owner, work)

    async def end_idle(
        self, tenant: str, *, before: datetime, after: datetime | None = None
    ) -> int:
        """See `TurnStore.end_idle`."""
        latest = after or datetime.max.replace(tzinfo=UTC)

        def work(record: Record) -> int:
            is_open = [s for s in record.sessions.values() if s.open]
            idle = [s for s in is_open if s.last < before or s.last > latest]
            for session in sorted(idle, key=lambda s: s.last):
                record.end(session, at=min(session.last, latest))
            return len(idle)

        owners = [owner for owner in await self._records.owners() if owner.tenant == tenant]
        return sum([await self._records.change(owner, work) for owner in owners])

    async def sessions(self, owner: Owner) -> tuple[Session, ...]:
        """See `TurnStore.sessions`."""
        record = await self._records.read(owner)
        return tuple(session for _, session in sorted(record.sessions.items()))

    async def read(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        ids: Sequence[str] | None = None,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        first: int | None = None,
    ) -> tuple[Turn, ...]:
        """See `TurnStore.read`."""
        wanted = None if ids is None else set(ids)
        turns = [
            turn
            for turn in (await self._records.read(owner)).turns
            if session in (None, turn.session)
            and (wanted is None or turn.id in wanted)
            and (after is None or turn.position > after)
            and (before is None or turn.position < before)
        ]
        if first is not None:
            return tuple(turns[: max(first, 0)])
        return tuple(turns if last is None else turns[len(turns) - min(max(last, 0), len(turns)) :])


def _take_back(record: Record, ids: Sequence[str]) -> set[int]:
    """Remove turns of open sessions. Returns the sessions that this leaves empty."""
    gone = [t for t in record.turns if t.id in ids and record.sessions[t.session].open]
    for turn in gone:
        session = record.sessions[turn.session]
        record.sessions[turn.session] = replace(session, turns=session.turns - 1)
    record.turns = [turn for turn in record.turns if turn not in gone]
    record.drop_vectors(MemoryKind.TURN, [turn.id for turn in gone])
    return {turn.session for turn in gone if not record.sessions[turn.session].turns}


def _append(
    record: Record, said: Sequence[NewTurn], *, key: str | None, idle: timedelta
) -> RecordedTurns:
    known = {turn.id: turn for turn in record.turns}
    new: list[Turn] = []
    current = _newest(record, key)
    for words in said:
        if turn := known.get(words.id):
            if (turn.speaker, turn.text) != (words.speaker, words.text):
                raise ConflictingTurn(
                    f"turn {words.id!r} was recorded before as {turn.speaker} {turn.text[:80]!r}, "
                    f"not as {words.speaker} {words.text[:80]!r}; give a new turn a new id"
                )
            continue
        if current and key is None and words.time - current.last > idle:
            record.end(current, at=current.last)
            current = None
        if current is None:
            record.last_session += 1
            current = Session(
                number=record.last_session, started=words.time, last=words.time, key=key
            )
        current = replace(current, last=max(current.last, words.time), turns=current.turns + 1)
        record.sessions[current.number] = current
        record.last_position += 1
        turn = Turn(
            id=words.id,
            session=current.number,
            position=record.last_position,
            speaker=words.speaker,
            text=words.text,
            time=words.time,
            language=words.language,
            name=words.name,
        )
        known[turn.id] = turn
        new.append(turn)
    record.turns += new
    if new:
        record.identity = record.identity or uuid.uuid4().hex
        record.queue_embedding(new[-1].time)
    return RecordedTurns(
        (known[words.id] for words in said),
        new=frozenset(turn.id for turn in new),
        mark=record.erasure_mark,
    )


def _newest(record: Record, key: str | None) -> Session | None:
    """The session that new turns go into, if it is open: the newest with that key, or the newest
    open one without a key."""
    same = [s for s in record.sessions.values() if s.key == key and (key is not None or s.open)]
    newest = max(same, key=lambda s: s.number, default=None)
    return newest if newest and newest.open else None
