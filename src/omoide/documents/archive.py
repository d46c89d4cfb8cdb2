"""`Archive` in documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import FactErasure, MemoryKind, TurnPlace
from omoide.errors import ConflictingTurn
from omoide.ports import Erased
from omoide.ports.store import IndexTraces

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView, Mapping, Sequence
    from datetime import datetime

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import ErasedFacts, Event, Memo, Owner, Sentence, Session, Summary, Turn

_NOTHING = Erased(sessions=0, turns=0, sentences=0)


class DocumentArchive:
    """Owners, restoring and erasing."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def tenants(self) -> tuple[str, ...]:
        """See `Archive.tenants`."""
        return tuple(sorted({owner.tenant for owner in await self._records.owners()}))

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """See `Archive.owners`."""
        return tuple(owner for owner in await self._records.owners() if owner.tenant == tenant)

    async def erasure_mark(self, owner: Owner) -> str:
        """See `Archive.erasure_mark`."""
        return (await self._records.read(owner)).erasure_mark

    async def traces(
        self, owner: Owner, turns: Sequence[Turn], *, terms: Sequence[str], mark: str
    ) -> IndexTraces:
        """See `Archive.traces`. Postings are made of the turns, and go with them."""
        del terms
        record = await self._records.read(owner)
        if not record.identity or record.identity != mark.rpartition(".")[0]:
            return IndexTraces()
        return IndexTraces(vectors=record.count_vectors(MemoryKind.TURN, [t.id for t in turns]))

    async def note_erasure(self, owner: Owner, *, at: datetime) -> None:
        """See `Archive.note_erasure`."""
        await self._records.note_erasure(owner, at=at)

    async def last_erasure(self, owner: Owner) -> datetime | None:
        """See `Archive.last_erasure`."""
        return (await self._records.last_erasure(owner))[1]

    async def receipt_key(self) -> bytes:
        """See `Archive.receipt_key`."""
        return await self._records.receipt_key()

    async def restore(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """See `Archive.restore`."""

        def work(record: Record) -> tuple[int, int]:
            missing = [s for s in sessions if s.number not in record.sessions]
            record.sessions.update((s.number, s) for s in missing)
            record.last_session = max([record.last_session, *(s.number for s in sessions)])
            stored = {turn.id for turn in record.turns}
            new = [turn for turn in turns if turn.id not in stored]
            taken = {turn.position: turn.id for turn in record.turns}
            for turn in new:
                if known := taken.get(turn.position):
                    raise ConflictingTurn(
                        f"turn {known!r} is already at position {turn.position}, where another one "
                        "is to be restored; restore into a user without any data"
                    )
            record.turns = sorted([*record.turns, *new], key=lambda turn: turn.position)
            record.last_position = max([record.last_position, *(t.position for t in new)])
            if new:
                record.queue_embedding(max(new, key=lambda turn: turn.position).time)
            return len(missing), len(new)

        return await self._records.change(owner, work)

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
    ) -> Erased:
        """See `Archive.erase`."""
        if session is None and turns is None and sentences is None and facts is None:
            return await self._records.remove(owner, _all) or _NOTHING

        def work(record: Record) -> Erased:
            if not record.stored:
                return _NOTHING
            named = set(turns or ())
            gone = [t for t in record.turns if t.session == session or t.id in named]
            known = session if session in record.sessions else None
            affected = [t.session for t in gone] + ([known] if known is not None else [])
            chosen = frozenset(facts or ())
            texts = (*(sentences or ()), *(f.text for f in record.facts if f.id in chosen))
            return _Erasure(
                session=known,
                turns={turn.id: TurnPlace(turn.session, turn.time) for turn in gone},
                texts=frozenset(filter(None, texts)),
                facts=chosen,
                earliest=min(affected, default=None),
            ).of(record)

        return await self._records.change(owner, work)


def _all(record: Record) -> Erased:
    return Erased(
        sessions=len(record.sessions),
        turns=len(record.turns),
        sentences=sum(len(version.sentences) for version in record.versions),
        facts=len(record.facts),
        events=len(record.events),
        memos=len(record.memos),
        notes=len(record.notes),
        rejected=len(record.aside),
    )


@dataclass(frozen=True, kw_only=True)
class _Erasure:
    """What to erase of one owner, if not everything."""

    session: int | None
    turns: Mapping[str, TurnPlace]
    """The turns to erase, by id."""
    texts: frozenset[str]
    """Sentences to erase wherever they occur."""
    facts: frozenset[str]
    """Ids of the facts to erase."""
    earliest: int | None
    """The first session that loses anything. Memory that was made from it or later may derive from
    what is erased."""

    @property
    def ids(self) -> KeysView[str]:
        """Ids of the turns to erase."""
        return self.turns.keys()

    def of(self, record: Record) -> Erased:
        """Erase it from the record."""
        all_before = _all(record)
        erased = self._erase_facts(record)
        facts = frozenset(erased.removed)
        record.versions = [self._erase_sentences(version, erased) for version in record.versions]
        record.aside = [
            answer
            for answer in record.aside
            if not (self._knows(answer.session) or self._quoted((answer.text, *answer.problems)))
        ]
        self._erase_memories(record, facts)
        if self.ids:
            record.notes = {}
            record.turns = [turn for turn in record.turns if turn.id not in self.ids]
            record.drop_vectors(MemoryKind.TURN, self.ids)
            for number, session in record.sessions.items():
                count = sum(turn.session == number for turn in record.turns)
                record.sessions[number] = replace(session, turns=count)
        record.notes = {
            key: note
            for key, note in record.notes.items()
            if not self._quoted((note.key, note.text))
        }
        record.jobs = [
            replace(job, error="")
            for job in record.jobs
            if self.session is None or job.session != self.session
        ]
        if self.session is not None:
            del record.sessions[self.session]
        record.erasures += 1
        left = _all(record)
        return Erased(
            sessions=int(self.session is not None),
            turns=len(self.ids),
            sentences=all_before.sentences - left.sentences,
            events=all_before.events - left.events,
            memos=all_before.memos - left.memos,
            notes=all_before.notes - left.notes,
            rejected=all_before.rejected - left.rejected,
            facts=len(facts),
        )

    def _erase_facts(self, record: Record) -> ErasedFacts:
        """Erase facts and return what became of them."""
        stated = {s.fact for v in record.versions for s in v.sentences if s.text in self.texts}
        first = record.sessions.get(self.earliest) if self.earliest is not None else None
        erased = FactErasure(
            ids=self.facts | stated - {""},
            turns=self.turns,
            texts=self.texts,
            session=self.earliest,
            since=first.started if first else None,
        ).of(record.facts)
        changed = {fact.id: fact for fact in erased.changed}
        if revived := [
            fact
            for fact in record.facts
            if fact.ended is not None and fact.id in changed and changed[fact.id].ended is None
        ]:
            record.queue_embedding(revived[-1].learned)
        record.facts = [
            changed.get(fact.id, fact) for fact in record.facts if fact.id not in erased.removed
        ]
        record.drop_vectors(MemoryKind.FACT, erased.removed)
        return erased

    def _erase_sentences(self, version: Summary, facts: ErasedFacts) -> Summary:
        knows = self._knows(version.session)
        stated = (facts.restated(s, self.turns) for s in version.sentences)
        kept = tuple(
            s for s in stated if not (self._erases(s, knows=knows) or s.fact in facts.removed)
        )
        if kept != version.sentences or knows or self._quoted(version.notes):
            return replace(version, sentences=kept, notes=())
        return version

    def _knows(self, session: int | None) -> bool:
        return session is not None and self.earliest is not None and session >= self.earliest

    def _erases(self, sentence: Sentence, *, knows: bool) -> bool:
        return (
            sentence.text in self.texts
            or not self.ids.isdisjoint(sentence.sources)
            or (knows and not sentence.supported)
        )

    def _quoted(self, texts: Iterable[str]) -> bool:
        return any(erased in text for text in texts for erased in self.texts)

    def _erases_item(self, item: Event | Memo, texts: Iterable[str]) -> bool:
        """Whether to erase an event or memo, by the same rule as a sentence."""
        return (
            not self.ids.isdisjoint(item.sources)
            or (not item.sources and self._knows(item.session))
            or self._quoted(texts)
        )

    def _erase_memories(self, record: Record, facts: frozenset[str]) -> None:
        events = {
            e.id: e.superseded_by
            for e in record.events
            if e.fact in facts
            or self._erases_item(e, (e.text, *e.topics, *e.keywords, *e.participants))
        }
        memos = {
            m.id: m.folded_into
            for m in record.memos
            if self._erases_item(m, (m.topic, m.summary, m.compressed))
        }
        record.drop_vectors(MemoryKind.EVENT, events)
        record.drop_vectors(MemoryKind.MEMO, memos)
        revived: list[datetime] = []
        left_events = [event for event in record.events if event.id not in events]
        for i, event in enumerate(left_events):
            successor = _successor(event.id, event.superseded_by, events)
            left_events[i] = replace(event, superseded_by=successor)
            revived += [event.time] if successor is None and event.superseded_by else []
        left_memos = [memo for memo in record.memos if memo.id not in memos]
        for i, memo in enumerate(left_memos):
            successor = _successor(memo.id, memo.folded_into, memos)
            left_memos[i] = replace(memo, folded_into=successor)
            revived += [memo.time] if successor is None and memo.folded_into else []
        record.events, record.memos = left_events, left_memos
        if revived:  # search finds them again, but they have no vectors
            record.queue_embedding(revived[-1])


def _successor(item: str, successor: str | None, erased: dict[str, str | None]) -> str | None:
    """What replaces an item whose successor is erased: the successor's own successor, if any."""
    seen = {item}
    while successor in erased and successor not in seen:
        seen.add(successor)
        successor = erased[successor]
    return None if successor in erased or successor == item else successor
