"""What an export of ours holds, checked as a whole before any of it is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import (
    Call,
    Event,
    Memo,
    Note,
    Origin,
    Rejected,
    Session,
    State,
    Summary,
    Turn,
)
from omoide.errors import BadImport
from omoide.transfer.memories import Unfinished
from omoide.transfer.records import from_record, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from omoide.transfer.files import Element
    from omoide.transfer.records import Value

NEVER = timedelta(days=365_000)
"""An idle time that no pause within a recorded session exceeds."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A whole export, checked."""

    user: str
    sessions: dict[int, Session]
    turns: list[Turn]
    versions: list[Summary]
    aside: list[Rejected]
    calls: list[Call]
    events: list[Event]
    memos: list[Memo]
    notes: list[Note]
    jobs: list[Unfinished] | None
    """None in files of schema 1, which did not name them."""

    def unfinished(self, at: datetime) -> list[Unfinished]:
        """Work to be queued; what schema 1 left to be seen from the rest counts from `at`."""
        if self.jobs is not None:
            return self.jobs
        return [
            Unfinished(session=number, state=State.WAITING, created=at)
            for number in self.undigested
        ]

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
        events=[v for v in values if isinstance(v, Event)],
        memos=[v for v in values if isinstance(v, Memo)],
        notes=[v for v in values if isinstance(v, Note)],
        jobs=[v for v in values if isinstance(v, Unfinished)] if header.schema > 1 else None,
    )
    _check_counts(found, header.records)
    _check_links(found)
    _check_memories(found)
    return found


def _check_counts(found: Contents, counted: dict[str, int]) -> None:
    came = {
        "session": len(found.sessions),
        "turn": len(found.turns),
        "version": len(found.versions),
        "aside": len(found.aside),
        "call": len(found.calls),
        "event": len(found.events),
        "memo": len(found.memos),
        "note": len(found.notes),
        "job": len(found.jobs or ()),
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
    counted = Counter(turn.session for turn in found.turns)
    for session in found.sessions.values():
        if session.turns != counted[session.number]:
            raise BadImport(
                f"session {session.number} is said to have {session.turns} turns and the file has "
                f"{counted[session.number]} of it"
            )
    if len({turn.position for turn in found.turns}) < len(found.turns):
        raise BadImport("two turns of the file have the same position")
    if [v.number for v in found.versions] != list(range(1, len(found.versions) + 1)):
        raise BadImport("the versions of the memory are not numbered 1, 2, 3 …")
    digests = [v.session for v in found.versions if v.origin is Origin.DIGEST]
    if len(set(digests)) < len(digests):
        raise BadImport("two versions of the memory digest the same session")
    keys = [session.key for session in found.sessions.values() if session.key]
    if len(set(keys)) < len(keys):
        raise BadImport("two sessions of the file have the same key")


def _check_memories(found: Contents) -> None:
    for what, ids in (
        ("events", [event.id for event in found.events]),
        ("memos", [memo.id for memo in found.memos]),
        ("notes", [(note.kind, note.key) for note in found.notes]),
    ):
        if len(set(ids)) < len(ids):
            raise BadImport(f"two {what} of the file have the same id")
    for job in found.jobs or ():
        if job.session not in found.sessions:
            raise BadImport(f"a job is to digest session {job.session}, which is missing")
    for rejected in found.aside:
        if rejected.session not in found.sessions:
            raise BadImport(
                f"an answer was set aside for session {rejected.session}, which is missing"
            )
