"""Converts facts to JSON records and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Fact, FactKind, Trust
from omoide.transfer.fields import iso

if TYPE_CHECKING:
    from datetime import date

    from omoide.transfer.fields import Fields


def fact_record(fact: Fact) -> dict[str, object]:
    """The record of a fact. Its kind is in `of`, since `kind` is the kind of the record."""
    return {
        "kind": "fact",
        "id": fact.id,
        "of": fact.kind.value,
        "about": fact.about,
        "text": fact.text,
        "language": fact.language,
        "said": iso(fact.said),
        "learned": iso(fact.learned),
        "session": fact.session,
        "since": _day(fact.since),
        "until": _day(fact.until),
        "sources": list(fact.sources),
        "trust": fact.trust.value,
        "supersedes": list(fact.supersedes),
        "reason": fact.reason,
        "ended": iso(fact.ended),
        "ended_by": fact.ended_by,
        "end_reason": fact.end_reason,
        "end_sources": list(fact.end_sources),
        "confirmed": iso(fact.confirmed),
        "pinned": fact.pinned,
        "expires": iso(fact.expires),
        "tags": list(fact.tags),
        "flags": list(fact.flags),
    }


def fact(fields: Fields) -> Fact:
    """The fact of a record."""
    return Fact(
        id=fields.name("id"),
        kind=fields.one_of("of", FactKind),
        about=fields.name("about"),
        text=fields.words("text"),
        language=fields.name("language"),
        said=fields.time("said"),
        learned=fields.time("learned"),
        session=fields.place("session") if fields.has("session") else None,
        since=fields.day("since") if fields.has("since") else None,
        until=fields.day("until") if fields.has("until") else None,
        sources=fields.texts("sources"),
        trust=fields.one_of("trust", Trust),
        supersedes=fields.texts("supersedes"),
        reason=fields.text("reason"),
        ended=fields.time("ended") if fields.has("ended") else None,
        ended_by=fields.text("ended_by"),
        end_reason=fields.text("end_reason"),
        end_sources=fields.texts("end_sources"),
        confirmed=fields.time("confirmed") if fields.has("confirmed") else None,
        pinned=fields.flag("pinned"),
        expires=fields.time("expires") if fields.has("expires") else None,
        tags=fields.texts("tags"),
        flags=fields.texts("flags"),
    )


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
