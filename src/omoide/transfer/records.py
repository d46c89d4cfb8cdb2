"""Converts values to JSON records and back.

A record is one JSON object with a `kind`. The first one of a file is the header:

    {"kind": "header", "format": "omoide", "schema": 3, "user": "anna", "records": {"turn": 2, …}}
    {"kind": "session", "number": 1, "started": "2026-01-05T09:00:00+00:00", …}
    {"kind": "turn", "id": "…", "session": 1, "position": 1, "speaker": "user", "text": "Hi!", …}
    {"kind": "version", "number": 1, "sentences": [{"text": "…", "sources": ["…"], …}], …}
    {"kind": "aside", "session": 1, "text": "…", "problems": ["…"], …}
    {"kind": "call", "purpose": "reply", "model": "…", "prompt_tokens": 12, …}
    {"kind": "fact", "id": "…", "of": "state", "about": "user", "text": "…", "ended": null, …}
    {"kind": "event", "id": "…", "text": "…", "recalls": 2, "consolidation": 1.7, …}
    {"kind": "memo", "id": "…", "topic": "…", "summary": "…", "compressed": "…", …}
    {"kind": "note", "of": "day", "key": "2026-01-05", "text": "…", …}
    {"kind": "job", "task": "digest", "session": 1, "state": "waiting", …}

`schema.json` beside this file describes every field. Schema 1 had no events, memos, notes and
jobs, and schema 2 no facts; both are still read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import (
    CallPurpose,
    Event,
    Fact,
    Memo,
    ModelCall,
    Note,
    Origin,
    RejectedAnswer,
    Sentence,
    Session,
    Speaker,
    Summary,
    Turn,
)
from omoide.errors import BadImport
from omoide.transfer import facts, memories
from omoide.transfer.fields import Fields, iso
from omoide.transfer.memories import UnfinishedJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Record = dict[str, object]
Value = (
    Session
    | Turn
    | Summary
    | RejectedAnswer
    | ModelCall
    | Fact
    | Event
    | Memo
    | Note
    | UnfinishedJob
)

SCHEMA = 3
FORMAT = "omoide"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The first record: what follows, and how many of each kind."""

    user: str
    records: dict[str, int]
    schema: int = SCHEMA


def header_record(header: Header) -> Record:
    """The header as a record."""
    return {
        "kind": "header",
        "format": FORMAT,
        "schema": header.schema,
        "user": header.user,
        "records": dict(header.records),
    }


def read_header(record: object) -> Header:
    """Read the header. Raises `BadImport`, also for a newer schema."""
    fields = Fields(record, "the header")
    schema = fields.whole("schema")
    if schema > SCHEMA:
        raise BadImport(
            f"the file was written by a newer omoide (schema {schema}; this one reads up to "
            f"{SCHEMA}): upgrade omoide"
        )
    if fields.text("format") != FORMAT:
        raise BadImport(f"the header names the format {fields.text('format')!r}, not {FORMAT!r}")
    counts = Fields(fields.get("records"), "the header's records")
    return Header(
        user=fields.text("user"),
        records={kind: counts.whole(kind) for kind in counts.names},
        schema=schema,
    )


def all_records(
    user: str, parts: Mapping[str, Sequence[Value]], *, schema: int = SCHEMA
) -> Iterator[Record]:
    """A header with the counts, then the records of all values, which are given by their kind."""
    counts = {kind: len(values) for kind, values in parts.items()}
    yield header_record(Header(user=user, records=counts, schema=schema))
    for values in parts.values():
        yield from map(to_record, values)


def to_record(value: Value) -> Record:
    """The record of a value."""
    match value:
        case Turn():
            return {
                "kind": "turn",
                "id": value.id,
                "session": value.session,
                "position": value.position,
                "speaker": value.speaker.value,
                "text": value.text,
                "time": iso(value.time),
                "language": value.language,
                "name": value.name,
            }
        case Session():
            return {
                "kind": "session",
                "number": value.number,
                "started": iso(value.started),
                "last": iso(value.last),
                "ended": iso(value.ended),
                "key": value.key,
                "turns": value.turns,
            }
        case Summary():
            return _version_record(value)
        case RejectedAnswer():
            return {
                "kind": "aside",
                "session": value.session,
                "text": value.text,
                "problems": list(value.problems),
                "model": value.model,
                "time": iso(value.time),
            }
        case ModelCall():
            return {
                "kind": "call",
                "purpose": value.purpose.value,
                "model": value.model,
                "session": value.session,
                "prompt_tokens": value.prompt_tokens,
                "completion_tokens": value.completion_tokens,
                "seconds": value.seconds,
                "time": iso(value.time),
                "failed": value.failed,
            }
        case Fact():
            return facts.fact_record(value)
        case Event():
            return memories.event_record(value)
        case Memo():
            return memories.memo_record(value)
        case Note():
            return memories.note_record(value)
        case UnfinishedJob():
            return memories.job_record(value)


def from_record(record: object, where: str) -> Value:
    """Read a value from its record. Raises `BadImport`, which names `where` and the field."""
    fields = Fields(record, where)
    kind = fields.text("kind")
    readers: dict[str, Callable[[Fields], Value]] = {
        "turn": _turn,
        "session": _session,
        "version": _version,
        "aside": _aside,
        "call": _call,
        "fact": facts.fact,
        "event": memories.event,
        "memo": memories.memo,
        "note": memories.note,
        "job": memories.job,
    }
    if kind not in readers:
        raise BadImport(f"{where}: 'kind' must be {', '.join(readers)}, not {kind[:40]!r}")
    return readers[kind](fields)


def _version_record(summary: Summary) -> Record:
    return {
        "kind": "version",
        "number": summary.number,
        "sentences": [
            {
                "text": s.text,
                "about": s.about.value if s.about else None,
                "sources": list(s.sources),
                "fact": s.fact,
            }
            for s in summary.sentences
        ],
        "origin": summary.origin.value,
        "session": summary.session,
        "time": iso(summary.time),
        "language": summary.language,
        "restored": summary.restored,
        "model": summary.model,
        "prompt": summary.prompt,
        "prompt_tokens": summary.prompt_tokens,
        "completion_tokens": summary.completion_tokens,
        "seconds": summary.seconds,
        "notes": list(summary.notes),
    }


def _turn(fields: Fields) -> Turn:
    return Turn(
        id=fields.name("id"),
        session=fields.place("session"),
        position=fields.place("position", first=1),  # a search begins after position 0
        speaker=fields.one_of("speaker", Speaker),
        text=fields.words("text"),
        time=fields.time("time"),
        language=fields.name("language"),
        name=fields.name("name") if fields.has("name") else None,
    )


def _session(fields: Fields) -> Session:
    return Session(
        number=fields.place("number"),
        started=fields.time("started"),
        last=fields.time("last"),
        ended=fields.time("ended") if fields.has("ended") else None,
        key=fields.name("key") if fields.has("key") else None,
        turns=fields.whole("turns"),
    )


def _version(fields: Fields) -> Summary:
    sentences = [Fields(s, f"{fields.where}, a sentence") for s in fields.items("sentences")]
    return Summary(
        number=fields.place("number"),
        sentences=tuple(
            Sentence(
                text=s.words("text"),
                about=s.one_of("about", Speaker) if s.has("about") else None,
                sources=s.texts("sources"),
                fact=s.text("fact") if s.has("fact") else "",
            )
            for s in sentences
        ),
        origin=fields.one_of("origin", Origin),
        session=fields.place("session") if fields.has("session") else None,
        time=fields.time("time"),
        language=fields.name("language"),
        restored=fields.whole("restored") if fields.has("restored") else None,
        model=fields.text("model"),
        prompt=fields.text("prompt"),
        prompt_tokens=fields.whole("prompt_tokens"),
        completion_tokens=fields.whole("completion_tokens"),
        seconds=fields.number("seconds"),
        notes=fields.texts("notes"),
    )


def _aside(fields: Fields) -> RejectedAnswer:
    return RejectedAnswer(
        session=fields.place("session"),
        text=fields.text("text"),
        problems=fields.texts("problems"),
        model=fields.text("model"),
        time=fields.time("time"),
    )


def _call(fields: Fields) -> ModelCall:
    return ModelCall(
        purpose=fields.one_of("purpose", CallPurpose),
        model=fields.text("model"),
        session=fields.place("session") if fields.has("session") else None,
        prompt_tokens=fields.whole("prompt_tokens"),
        completion_tokens=fields.whole("completion_tokens"),
        seconds=fields.number("seconds"),
        time=fields.time("time"),
        failed=fields.get("failed") is True,
    )
