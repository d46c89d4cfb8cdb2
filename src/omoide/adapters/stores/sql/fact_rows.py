"""Conversion of facts to and from rows."""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from operator import itemgetter
from typing import Any

from omoide.adapters.stores.sql.rows import (
    encode_strings,
    from_micros,
    from_micros_or_none,
    to_micros,
)
from omoide.domain import Fact, FactKind, Trust

_LISTS = ("sources", "supersedes", "end_sources", "tags", "flags")
_SAID = ("id", "about", "text", "kind", "language", "session", "said", "learned", "since", "trust")
ABOUT_OTHERS = ("supersedes", "reason", "flags")
"""Columns that say something about other facts."""
CHANGING = (
    "until",
    "sources",
    "ended",
    "ended_by",
    "end_reason",
    "end_sources",
    "confirmed",
    "pinned",
    "expires",
    "tags",
)
"""Columns that changes and marks set."""
FACT_COLUMNS = (*_SAID, *ABOUT_OTHERS, *CHANGING)
_lists = itemgetter(*(FACT_COLUMNS.index(name) for name in _LISTS))


def fact_values(fact: Fact, columns: tuple[str, ...]) -> tuple[object, ...]:
    """The values of some columns of a fact's row."""
    return tuple(_value(getattr(fact, name)) for name in columns)


def fact_of(row: tuple[Any, ...]) -> Fact:
    """The fact of a row that begins with `FACT_COLUMNS`."""
    # All arrays at once: parsing them one by one would be most of the cost of reading a fact.
    lists = json.loads(f"[{','.join(_lists(row))}]")
    sources, supersedes, end_sources, tags, flags = map(tuple, lists)
    return Fact(
        id=row[0],
        about=row[1],
        text=row[2],
        kind=FactKind(row[3]),
        language=row[4],
        session=row[5],
        said=from_micros(row[6]),
        learned=from_micros(row[7]),
        since=_day(row[8]),
        trust=Trust(row[9]),
        supersedes=supersedes,
        reason=row[11],
        flags=flags,
        until=_day(row[13]),
        sources=sources,
        ended=from_micros_or_none(row[15]),
        ended_by=row[16],
        end_reason=row[17],
        end_sources=end_sources,
        confirmed=from_micros_or_none(row[19]),
        pinned=bool(row[20]),
        expires=from_micros_or_none(row[21]),
        tags=tags,
    )


def _value(value: object) -> object:
    """A field's value as it is stored."""
    if isinstance(value, tuple):
        return encode_strings(value)
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, date):
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def _day(value: str | None) -> date | None:
    return None if value is None else date.fromisoformat(value)
