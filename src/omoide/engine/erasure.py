"""Erasing with a receipt: remove, search for what was removed, and sign what was found."""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omoide.domain import Receipt
from omoide.domain.text import several
from omoide.domain.waiting import database_id
from omoide.engine import methods, titles
from omoide.language.terms import terms
from omoide.ports.telemetry import OFF, MemoryOperation
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from omoide.domain import Owner, Turn
    from omoide.ports import Clock, Erased, Store
    from omoide.ports.spool import Spool
    from omoide.ports.telemetry import Telemetry

MAX_TERMS = 64
"""Most terms of the erased turns that are searched for afterwards."""


@dataclass(frozen=True, kw_only=True)
class ErasureTarget:
    """What is to be erased of one owner: everything if nothing else is given."""

    session: int | None = None
    turns: Sequence[str] | None = None
    sentences: Sequence[str] | None = None
    facts: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name in ("turns", "sentences", "facts"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, several(given))

    @property
    def whole(self) -> bool:
        """Whether everything is to be erased."""
        given = (self.session, self.turns, self.sentences, self.facts)
        return all(part is None for part in given)

    @property
    def scope(self) -> str:
        """The target in words, without any of the user's."""
        parts = [
            f"session {self.session}" if self.session is not None else "",
            _counted(len(self.turns or ()), "turn"),
            _counted(len(self.sentences or ()), "sentence"),
            _counted(len(self.facts or ()), "fact"),
        ]
        return "user" if self.whole else ", ".join(filter(None, parts)) or "nothing"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


@dataclass(frozen=True, kw_only=True)
class Erasures:
    """Erases, and writes receipts."""

    store: Store
    clock: Clock
    spool: Spool | None = None
    telemetry: Telemetry = OFF

    async def erase(self, owner: Owner, target: ErasureTarget) -> Erased:
        """Erase for good, what waits to be stored included. The result has a signed receipt."""
        with self.telemetry.operation(MemoryOperation.ERASE, owner) as observed:
            erased = await self._erase(owner, target)
            observed.records(erased.turns + erased.facts)
            return erased

    async def _erase(self, owner: Owner, target: ErasureTarget) -> Erased:
        mark = await self.store.archive.erasure_mark(owner)
        doomed = await self._doomed(owner, target)
        named = await self.store.notes.read(owner, kind=titles.KIND)
        chosen = await self.store.notes.read(owner, kind=methods.KIND)
        key = await self.store.archive.receipt_key()
        async with self._spooled(owner, target, doomed, key) as waiting:
            if target.whole:  # what waits on another machine is not stored after this
                await self.store.archive.note_erasure(owner, at=self.clock.now())
            erased = await self.store.archive.erase(
                owner,
                session=target.session,
                turns=target.turns,
                sentences=target.sentences,
                facts=target.facts,
            )
        if not target.whole:
            kept = await titles.put_back(self.store, owner, named, erased=doomed)
            kept += await methods.put_back(self.store, owner, chosen)
            erased = replace(erased, notes=erased.notes - kept)
        search = _Search(store=self.store, owner=owner, target=target, doomed=doomed, mark=mark)
        await search.run()
        receipt = Receipt(
            id=uuid.uuid4().hex,
            time=self.clock.now(),
            tenant=owner.tenant,
            user=owner.user,
            scope=target.scope,
            removed={
                "sessions": erased.sessions,
                "turns": erased.turns,
                "sentences": erased.sentences,
                "facts": erased.facts,
                "events": erased.events,
                "memos": erased.memos,
                "notes": erased.notes,
                "rejected": erased.rejected,
                **({"waiting": waiting} if waiting else {}),
            },
            searched=search.searched,
            found=tuple(search.found),
            pending=erased.pending,
            written_by=__version__,
        )
        return replace(erased, receipt=receipt.signed(key))

    async def is_genuine(self, receipt: Receipt) -> bool:
        """Whether this database signed the receipt, and nobody changed it."""
        return receipt.is_genuine(await self.store.archive.receipt_key())

    def _spooled(
        self, owner: Owner, target: ErasureTarget, doomed: Sequence[Turn], key: bytes
    ) -> AbstractAsyncContextManager[int]:
        """Removes what waits to be stored, and keeps it from being stored while the block lasts."""
        if self.spool is None:
            return nullcontext(0)
        turns = None if target.whole else [turn.id for turn in doomed]
        return self.spool.erasing(
            owner, database=database_id(key), turns=turns, texts=target.sentences or ()
        )

    async def _doomed(self, owner: Owner, target: ErasureTarget) -> tuple[Turn, ...]:
        """The turns that are to be erased."""
        if target.whole:
            return await self.store.turns.read(owner)
        turns: list[Turn] = []
        if target.session is not None:
            turns += await self.store.turns.read(owner, session=target.session)
        if target.turns:
            turns += await self.store.turns.read(owner, ids=target.turns)
        return tuple(turns)


@dataclass(kw_only=True)
class _Search:
    """Looks for what was erased, in every kind of memory."""

    store: Store
    owner: Owner
    target: ErasureTarget
    doomed: Sequence[Turn]
    mark: str
    """The owner's erasure mark of before."""
    searched: dict[str, int] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Fill `searched` and `found`."""
        store, owner = self.store, self.owner
        await self._look_for_turns()
        versions = await store.summaries.history(owner)
        self._look(
            "sentences", ((s.sources, (s.text,)) for version in versions for s in version.sentences)
        )
        facts = await store.facts.read(owner)
        self._look("facts", (((*f.sources, f.id), (f.text, f.reason)) for f in facts))
        events = await store.events.read(owner)
        self._look("events", ((e.sources, (e.text,)) for e in events))
        memos = await store.memos.read(owner)
        self._look("memos", ((m.sources, (m.topic, m.summary, m.compressed)) for m in memos))
        notes = await store.notes.read(owner)
        self._look("notes", (((), (note.key, note.text)) for note in notes))
        rejected = await store.summaries.rejected(owner)
        self._look("rejected", (((), (r.text, *r.problems)) for r in rejected))

    async def _look_for_turns(self) -> None:
        """Look for the turns by id and by session, and for what the search index has of them."""
        ids = sorted(turn.id for turn in self.doomed)
        left = await self.store.turns.read(self.owner, ids=ids)
        words = self._words()
        traces = await self.store.archive.traces(
            self.owner, self.doomed, terms=words, mark=self.mark
        )
        self._note("turns", len(ids), found=bool(left or traces.outlines))
        self._note("terms", len(words), found=bool(traces.postings))
        self._note("vectors", len(ids), found=bool(traces.vectors))
        sessions = await self.store.turns.sessions(self.owner)
        same = any(session.number == self.target.session for session in sessions)
        self._note("sessions", len(sessions), found=same)

    def _words(self) -> tuple[str, ...]:
        """The first terms of the turns. The others are not worked out: there may be millions."""
        words: dict[str, None] = {}
        for turn in self.doomed:
            words |= dict.fromkeys(terms(turn.text))
            if len(words) >= MAX_TERMS:
                break
        return tuple(words)[:MAX_TERMS]

    def _look(self, kind: str, items: Iterable[tuple[Iterable[str], Iterable[str]]]) -> None:
        """Look through items, each given by the turns it cites and by its texts. If everything was
        erased, there must be none."""
        ids = {turn.id for turn in self.doomed} | set(self.target.facts or ())
        texts, count, found = self.target.sentences or (), 0, False
        for cited, quoting in items:
            count += 1
            quoted = any(text in stored for stored in quoting for text in texts if text)
            found = found or self.target.whole or quoted or not ids.isdisjoint(cited)
        self._note(kind, count, found=found)

    def _note(self, kind: str, count: int, *, found: bool) -> None:
        self.searched[kind] = count
        self.found += [kind] if found else []
