"""Reads an export of omoide and checks all of it before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import (
    Event,
    Fact,
    JobState,
    Memo,
    ModelCall,
    Note,
    Origin,
    RejectedAnswer,
    Session,
    Summary,
    Turn,
)
from omoide.errors import BadImport
from omoide.transfer.files import JsonElement
from omoide.transfer.memories import UnfinishedJob
from omoide.transfer.records import SCHEMA, all_records, from_record, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from omoide.transfer.records import Record, Value

NEVER = timedelta(days=365_000)
"""An idle time longer than any pause within a session."""


@dataclass(frozen=True, kw_only=True)
class ExportContents:
    """The contents of an export, checked."""

    user: str
    sessions: dict[int, Session]
    turns: list[Turn]
    versions: list[Summary]
    aside: list[RejectedAnswer]
    calls: list[ModelCall]
    facts: list[Fact]
    events: list[Event]
    memos: list[Memo]
    notes: list[Note]
    jobs: list[UnfinishedJob] | None
    """None in files of schema 1, which had no jobs."""

    @property
    def parts(self) -> dict[str, Sequence[Value]]:
        """All values, by the kind of their records."""
        return {
            "session": tuple(self.sessions.values()),
            "turn": self.turns,
            "fact": self.facts,
            "version": self.versions,
            "aside": self.aside,
            "call": self.calls,
            "event": self.events,
            "memo": self.memos,
            "note": self.notes,
            "job": self.jobs or (),
        }

    def records(self) -> Iterator[Record]:
        """The records that it was read from."""
        return all_records(self.user, self.parts, schema=SCHEMA if self.jobs is not None else 1)

    def unfinished(self, at: datetime) -> list[UnfinishedJob]:
        """The jobs to queue; for schema 1 they are derived from the rest, and created `at`."""
        if self.jobs is not None:
            return self.jobs
        return [
            UnfinishedJob(session=number, state=JobState.WAITING, created=at)
            for number in self.undigested
        ]

    @property
    def undigested(self) -> list[int]:
        """Sessions that ended but have no version of the summary."""
        digested = {v.session for v in self.versions if v.origin in (Origin.DIGEST, Origin.EDIT)}
        with_turns = {turn.session for turn in self.turns}
        return [
            number
            for number, session in self.sessions.items()
            if session.ended and number in with_turns and number not in digested
        ]


def read_contents(elements: Iterable[JsonElement]) -> ExportContents:
    """Read an export. Raises `BadImport` if any of it is invalid."""
    records = iter(elements)
    first = next(records, None)
    header = read_header(first.value if first else None)
    values: list[Value] = []
    for element in records:
        if element.problem:
            raise BadImport(f"{element.where}: {element.problem}")
        values.append(from_record(element.value, element.where))
    contents = ExportContents(
        user=header.user,
        sessions={v.number: v for v in values if isinstance(v, Session)},
        turns=sorted((v for v in values if isinstance(v, Turn)), key=lambda t: t.position),
        versions=sorted((v for v in values if isinstance(v, Summary)), key=lambda v: v.number),
        aside=[v for v in values if isinstance(v, RejectedAnswer)],
        calls=[v for v in values if isinstance(v, ModelCall)],
        facts=[v for v in values if isinstance(v, Fact)],
        events=[v for v in values if isinstance(v, Event)],
        memos=[v for v in values if isinstance(v, Memo)],
        notes=[v for v in values if isinstance(v, Note)],
        jobs=[v for v in values if isinstance(v, UnfinishedJob)] if header.schema > 1 else None,
    )
    _check_counts(contents, header.records)
    _check_links(contents)
    _check_memories(contents)
    return contents


def read_records(records: Iterable[object]) -> ExportContents:
    """Read the records of an export that were parsed already. Raises `BadImport`."""
    return read_contents(
        JsonElement(where=f"record {i}", document=0, value=record)
        for i, record in enumerate(records, 1)
    )


async def export_contents(
    given: ExportContents | Iterable[Record] | AsyncIterable[Record],
) -> ExportContents:
    """What an export contains, from its contents or its records. Raises `BadImport`."""
    if isinstance(given, ExportContents):
        return given
    if isinstance(given, AsyncIterable):
        return read_records([record async for record in given])
    if not isinstance(given, Iterable):
        raise BadImport(f"give the records of an export, as `export` does, not {given!r:.80}")
    return read_records(given)


def _check_counts(contents: ExportContents, promised: dict[str, int]) -> None:
    for kind, values in contents.parts.items():
        count = len(values)
        if count != promised.get(kind, 0):
            raise BadImport(
                f"the header promises {promised.get(kind, 0)} records of kind {kind!r}, but the "
                f"file has {count}: it is cut short or was changed"
            )


def _check_links(contents: ExportContents) -> None:
    if len({turn.id for turn in contents.turns}) < len(contents.turns):
        raise BadImport("two turns in the file have the same id")
    for turn in contents.turns:
        if turn.session not in contents.sessions:
            raise BadImport(f"turn {turn.id!r} is in session {turn.session}, which is missing")
    counted = Counter(turn.session for turn in contents.turns)
    for session in contents.sessions.values():
        if session.turns != counted[session.number]:
            raise BadImport(
                f"session {session.number} should have {session.turns} turns, but the file has "
                f"{counted[session.number]}"
            )
    if len({turn.position for turn in contents.turns}) < len(contents.turns):
        raise BadImport("two turns in the file have the same position")
    if [v.number for v in contents.versions] != list(range(1, len(contents.versions) + 1)):
        raise BadImport("the versions of the memory are not numbered 1, 2, 3 …")
    digests = [v.session for v in contents.versions if v.origin is Origin.DIGEST]
    if len(set(digests)) < len(digests):
        raise BadImport("two versions of the memory digest the same session")


def _check_memories(contents: ExportContents) -> None:
    for what, ids in (
        ("facts", [fact.id for fact in contents.facts]),
        ("events", [event.id for event in contents.events]),
        ("memos", [memo.id for memo in contents.memos]),
        ("notes", [(note.kind, note.key) for note in contents.notes]),
    ):
        if len(set(ids)) < len(ids):
            raise BadImport(f"two {what} in the file have the same id")
    for job in contents.jobs or ():
        if job.session not in contents.sessions:
            raise BadImport(f"a job digests session {job.session}, which is missing")
    for rejected in contents.aside:
        if rejected.session not in contents.sessions:
            raise BadImport(
                f"an answer was rejected for session {rejected.session}, which is missing"
            )
