"""Converts events, memos, notes and unfinished jobs to JSON records and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Event, JobState, JobTask, Memo, Note
from omoide.errors import BadImport
from omoide.transfer.fields import Fields, iso

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class UnfinishedJob:
    """A digest job that is still to be done, or is dead."""

    session: int
    state: JobState
    """WAITING or DEAD: a job that runs during the export is waiting after the import."""
    created: datetime
    error: str = ""
    task: JobTask = JobTask.DIGEST


def event_record(event: Event) -> dict[str, object]:
    """The record of an event, with everything that decides whether it is recalled."""
    return {
        "kind": "event",
        "id": event.id,
        "session": event.session,
        "text": event.text,
        "time": iso(event.time),
        "sources": list(event.sources),
        "topics": list(event.topics),
        "keywords": list(event.keywords),
        "participants": list(event.participants),
        "feeling": event.feeling,
        "last_recalled": iso(event.last_recalled),
        "recalls": event.recalls,
        "consolidation": event.consolidation,
        "superseded_by": event.superseded_by,
        "fact": event.fact,
    }


def event(fields: Fields) -> Event:
    """The event of a record."""
    consolidation = fields.number("consolidation")
    if not consolidation:  # time is divided by it
        raise BadImport(f"{fields.where}: 'consolidation' must be above 0")
    return Event(
        id=fields.name("id"),
        session=fields.place("session"),
        text=fields.words("text"),
        time=fields.time("time"),
        sources=fields.texts("sources"),
        topics=fields.texts("topics"),
        keywords=fields.texts("keywords"),
        participants=fields.texts("participants"),
        feeling=fields.number("feeling"),
        last_recalled=fields.time("last_recalled"),
        recalls=fields.whole("recalls"),
        consolidation=consolidation,
        superseded_by=fields.name("superseded_by") if fields.has("superseded_by") else None,
        fact=fields.text("fact") if fields.has("fact") else "",
    )


def memo_record(memo: Memo) -> dict[str, object]:
    """The record of a memo."""
    return {
        "kind": "memo",
        "id": memo.id,
        "session": memo.session,
        "topic": memo.topic,
        "summary": memo.summary,
        "sources": list(memo.sources),
        "time": iso(memo.time),
        "compressed": memo.compressed,
        "method": memo.method,
        "whole": memo.whole,
        "folded_into": memo.folded_into,
    }


def memo(fields: Fields) -> Memo:
    """The memo of a record."""
    return Memo(
        id=fields.name("id"),
        session=fields.place("session"),
        topic=fields.text("topic"),
        summary=fields.text("summary"),
        sources=fields.texts("sources"),
        time=fields.time("time"),
        compressed=fields.text("compressed"),
        method=fields.text("method"),
        whole=fields.flag("whole"),
        folded_into=fields.name("folded_into") if fields.has("folded_into") else None,
    )


def note_record(note: Note) -> dict[str, object]:
    """The record of a note. Its kind is in `of`, since `kind` is the kind of the record."""
    return {
        "kind": "note",
        "of": note.kind,
        "key": note.key,
        "text": note.text,
        "time": iso(note.time),
        "session": note.session,
    }


def note(fields: Fields) -> Note:
    """The note of a record."""
    return Note(
        kind=fields.text("of"),
        key=fields.text("key"),
        text=fields.text("text"),
        time=fields.time("time"),
        session=fields.place("session") if fields.has("session") else None,
    )


def job_record(job: UnfinishedJob) -> dict[str, object]:
    """The record of an unfinished job."""
    return {
        "kind": "job",
        "task": job.task.value,
        "session": job.session,
        "state": job.state.value,
        "created": iso(job.created),
        "error": job.error,
    }


def job(fields: Fields) -> UnfinishedJob:
    """The job of a record."""
    task, state = fields.one_of("task", JobTask), fields.one_of("state", JobState)
    if task is not JobTask.DIGEST or state not in (JobState.WAITING, JobState.DEAD):
        raise BadImport(
            f"{fields.where}: a job must have task 'digest' and state 'waiting' or 'dead', "
            f"not {task.value!r} and {state.value!r}"
        )
    return UnfinishedJob(
        session=fields.place("session"),
        state=state,
        created=fields.time("created"),
        error=fields.text("error"),
    )
