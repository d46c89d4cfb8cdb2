"""`SummaryStore`, `EventStore`, `MemoStore` and `NoteStore` in documents."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from omoide.domain import Event, Memo, MemoryKind, Origin
from omoide.errors import StaleVersion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import Note, Owner, RejectedAnswer, Summary

E = TypeVar("E", Event, Memo)


class DocumentSummaries:
    """Versions of the summary."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def commit(self, owner: Owner, summary: Summary) -> None:
        """See `SummaryStore.commit`."""

        def work(record: Record) -> None:
            newest = record.versions[-1].number if record.versions else 0
            if summary.number != newest + 1:
                raise StaleVersion(
                    f"version {summary.number} cannot follow version {newest}: the memory was "
                    "changed meanwhile; read it again"
                )
            digested = summary.session if summary.origin is Origin.DIGEST else None
            record.refuse_erased(
                f"version {summary.number}",
                cited=(source for s in summary.sentences for source in s.sources),
                facts=(s.fact for s in summary.sentences),
                sessions=() if digested is None else (digested,),
            )
            if digested is not None and any(
                v.session == digested and v.origin is Origin.DIGEST for v in record.versions
            ):
                raise StaleVersion(
                    f"session {digested} was already digested; read the newest version"
                )
            record.versions.append(summary)

        await self._records.change(owner, work)

    async def find(
        self,
        owner: Owner,
        *,
        number: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary | None:
        """See `SummaryStore.find`."""
        for version in reversed((await self._records.read(owner)).versions):
            if (
                number in (None, version.number)
                and (session is None or version.session is None or version.session <= session)
                and (at is None or version.time <= at)
            ):
                return version
        return None

    async def history(self, owner: Owner) -> tuple[Summary, ...]:
        """See `SummaryStore.history`."""
        return tuple((await self._records.read(owner)).versions)

    async def add_rejected(self, owner: Owner, rejected: RejectedAnswer) -> None:
        """See `SummaryStore.add_rejected`."""

        def work(record: Record) -> None:
            if rejected.session in record.sessions:
                record.aside.append(rejected)

        await self._records.change(owner, work)

    async def rejected(self, owner: Owner) -> tuple[RejectedAnswer, ...]:
        """See `SummaryStore.rejected`."""
        return tuple((await self._records.read(owner)).aside)


class DocumentEvents:
    """Events."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def add(self, owner: Owner, events: Sequence[Event]) -> None:
        """See `EventStore.add`."""

        def work(record: Record) -> None:
            new = _new(record.events, events)
            _refuse_erased(record, "an event", new, facts=(event.fact for event in new))
            record.events += new
            if current := [event for event in new if event.superseded_by is None]:
                record.queue_embedding(current[-1].time)

        await self._records.change(owner, work)

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Event, ...]:
        """See `EventStore.read`."""
        return _chosen((await self._records.read(owner)).events, ids)

    async def consolidate(self, owner: Owner, events: Sequence[Event]) -> int:
        """See `EventStore.consolidate`."""

        def work(record: Record) -> int:
            written = 0
            for event in events:
                for i, known in enumerate(record.events):
                    if known.id == event.id and known.recalls == event.recalls - 1:
                        record.events[i] = replace(
                            known,
                            recalls=event.recalls,
                            consolidation=event.consolidation,
                            last_recalled=event.last_recalled,
                        )
                        written += 1
            return written

        return await self._records.change(owner, work)

    async def supersede(self, owner: Owner, *, old: str, by: str) -> None:
        """See `EventStore.supersede`."""

        def work(record: Record) -> None:
            if old == by or all(event.id != by for event in record.events):
                return
            record.events = [
                replace(event, superseded_by=by) if event.id == old else event
                for event in record.events
            ]
            record.drop_vectors(MemoryKind.EVENT, [old])

        await self._records.change(owner, work)


class DocumentMemos:
    """Memos."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def add(self, owner: Owner, memos: Sequence[Memo]) -> None:
        """See `MemoStore.add`."""
        await self._records.change(owner, lambda record: _add_memos(record, memos))

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Memo, ...]:
        """See `MemoStore.read`."""
        return _chosen((await self._records.read(owner)).memos, ids)

    async def fold(self, owner: Owner, *, ids: Sequence[str], into: Memo) -> None:
        """See `MemoStore.fold`."""
        folded = set(ids) - {into.id}

        def work(record: Record) -> None:
            _add_memos(record, [into])
            record.memos = [
                replace(memo, folded_into=into.id) if memo.id in folded else memo
                for memo in record.memos
            ]
            record.drop_vectors(MemoryKind.MEMO, folded)

        await self._records.change(owner, work)


class DocumentNotes:
    """Notes of mechanisms."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def put(self, owner: Owner, note: Note, *, mark: str | None = None) -> None:
        """See `NoteStore.put`."""

        def work(record: Record) -> None:
            if mark not in (None, record.erasure_mark):
                raise StaleVersion("a note quotes what was erased meanwhile")
            record.refuse_erased("a note", sessions=() if note.session is None else [note.session])
            record.notes[f"{note.kind}\n{note.key}"] = note

        await self._records.change(owner, work)

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """See `NoteStore.read`."""
        notes = (await self._records.read(owner)).notes.values()
        chosen = [note for note in notes if kind in (None, note.kind)]
        return tuple(sorted(chosen, key=lambda note: (note.kind, note.key)))

    async def remove(self, owner: Owner, *, kind: str, keys: Sequence[str] | None = None) -> int:
        """See `NoteStore.remove`."""

        def work(record: Record) -> int:
            doomed = [
                name
                for name, note in record.notes.items()
                if note.kind == kind and (keys is None or note.key in keys)
            ]
            for name in doomed:
                del record.notes[name]
            return len(doomed)

        return await self._records.change(owner, work)


def _add_memos(record: Record, memos: Sequence[Memo]) -> None:
    new = _new(record.memos, memos)
    _refuse_erased(record, "a memo", new)
    record.memos += new
    if current := [memo for memo in new if memo.folded_into is None]:
        record.queue_embedding(current[-1].time)


def _new(stored: Sequence[E], items: Sequence[E]) -> list[E]:
    """The items whose ids are not stored yet; of several with one id, the first."""
    ids = {item.id for item in stored}
    firsts = {item.id: item for item in reversed(items)}
    return [item for item in items if item.id not in ids and item is firsts[item.id]]


def _refuse_erased(
    record: Record, what: str, items: Sequence[Event | Memo], *, facts: Iterable[str] = ()
) -> None:
    record.refuse_erased(
        what,
        cited=(source for item in items for source in item.sources),
        sessions=(item.session for item in items),
        facts=facts,
    )


def _chosen(items: Sequence[E], ids: Sequence[str] | None) -> tuple[E, ...]:
    wanted = None if ids is None else set(ids)
    chosen = [item for item in items if wanted is None or item.id in wanted]
    return tuple(sorted(chosen, key=attrgetter("time")))
