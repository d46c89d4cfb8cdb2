"""What records of waiting words say together, and which of them are meant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from omoide.domain.waiting import WaitingExchange, WaitingReply, WaitingWords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from omoide.adapters.spool_files import Record
    from omoide.domain import Owner
    from omoide.domain.waiting import Waiting


def said_to(database: str, records: Iterable[Record]) -> list[Record]:
    """What was said to this database, as far as that is known."""
    return [record for record in records if not database or record.item.database in ("", database)]


def over(records: Collection[Record], database: str) -> list[Record]:
    """The exchanges of this database that are over: no process goes on writing them."""
    items = (record.item for record in records)
    ended = {
        item.exchange
        for item in items
        if isinstance(item, WaitingReply) and item.final and item.database == database != ""
    }
    return [record for record in records if record.item.exchange in ended]


def in_order(records: Sequence[Record]) -> list[tuple[datetime, Record]]:
    """The records of one file as they were kept, each with a time by which to sort those of several
    files. It never goes back, though the clock may."""
    return list(
        zip(accumulate((record.item.time for record in records), max), records, strict=True)
    )


def used(records: Iterable[Record]) -> Counter[Owner]:
    """How many bytes each owner has."""
    sizes: Counter[Owner] = Counter()
    for record in records:
        sizes[record.item.owner] += record.length
    return sizes


def grouped(records: Iterable[Record]) -> list[tuple[WaitingExchange, list[Record]]]:
    """The records of each exchange, and what they say together."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.item.exchange, []).append(record)
    return [(_together(record.item for record in group), group) for group in groups.values()]


def _together(items: Iterable[Waiting]) -> WaitingExchange:
    found = WaitingExchange()
    for item in items:
        if isinstance(item, WaitingWords):
            found = replace(found, words=item)
        else:
            found = replace(found, reply=item)
    return found


def is_doomed(item: Waiting, turns: Collection[str] | None, texts: Collection[str]) -> bool:
    """Whether an erasure of these turns (all if None) and texts removes an item of its owner."""
    if turns is None or any(text in said for said in item.texts for text in texts if text):
        return True
    return isinstance(item, WaitingReply) and item.answers in turns
