"""Corrections: the user's own word replaces a sentence or a fact, or an old version comes back."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.domain import (
    Fact,
    FactChanges,
    FactConfirmation,
    FactEnd,
    FactFilter,
    FactKind,
    NewTurn,
    Origin,
    Sentence,
    Speaker,
    Trust,
    empty_summary,
)
from omoide.domain.time import in_zone
from omoide.engine.rolling_back import roll_back
from omoide.engine.versions import When
from omoide.errors import BadInput, NoSuchFact, OmoideError, StaleVersion, StoreError
from omoide.language import detect_language
from omoide.language.dates import with_absolute_dates
from omoide.mechanisms.events.form import event_id
from omoide.mechanisms.facts.adoption import adopt
from omoide.mechanisms.facts.choosing import sentence as as_sentence
from omoide.mechanisms.facts.repeats import fact_id
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from datetime import date, datetime, tzinfo

    from omoide.domain import Owner, Summary, Turn
    from omoide.engine.versions import Versions
    from omoide.ports import Store

    T = TypeVar("T")

EDIT = "edit-"
"""Prefix of the turn ids and session keys under which a user's corrections are recorded."""
_DATED = (FactKind.PLAN, FactKind.PROMISE, FactKind.EVENT)


@dataclass(frozen=True, kw_only=True)
class _Correction:
    """What the user's word replaces: a sentence of the newest version, a fact, or both."""

    newest: Summary
    index: int | None
    """The place of the sentence; None if the version does not have it."""
    fact: Fact | None
    text: str
    planned: tuple[Fact, ...] = ()
    """What the fact will end, if it is a plan."""
    said: str = ""
    """The user's own words, if they are not `text`."""

    def sentences(self, new: Sentence, *, limit: int) -> tuple[Sentence, ...]:
        """The sentences of the new version. A fact that was not among them joins if there is
        room."""
        known = self.newest.sentences
        if self.index is None:
            return (*known, new) if len(known) < limit else known
        return (*known[: self.index], new, *known[self.index + 1 :])


class Corrections:
    """Corrects the summaries and facts in one store. `limit` is the most sentences of a summary;
    "tomorrow" in a correction is that of `timezone`, None for the machine's."""

    def __init__(
        self, store: Store, versions: Versions, *, limit: int, timezone: tzinfo | None = UTC
    ) -> None:
        self._store = store
        self._versions = versions
        self._limit = limit
        self._timezone = timezone

    async def amend(
        self, owner: Owner, sentence: str, text: str, *, now: datetime, said: str = ""
    ) -> Summary:
        """Replace `sentence` by `text` in a new version of the summary, and the fact that it states
        by a new one. The same text confirms it. `said` are the user's own words for it.

        The correction is recorded as a turn of the user's, in its own session that ends at once and
        is not digested; that turn supports the new sentence and fact. Raises `StaleVersion` if the
        summary does not contain the sentence or was rewritten meanwhile. Then nothing of it stays,
        as long as the store can still be written. If only the fact could not be replaced, the
        session stays open, and is digested like any other once it is idle. If it is cancelled once
        it has begun to write, it finishes writing first.
        """
        _check_line(text)
        newest = await self._versions.find(owner, When(), now=now)
        indices = [i for i, known in enumerate(newest.sentences) if known.text == sentence]
        if not indices:
            raise StaleVersion(
                f"version {newest.number} of the memory does not say {sentence[:80]!r}; "
                "read the memory again"
            )
        stated = [newest.sentences[indices[0]].fact]
        facts = await self._store.facts.read(owner, ids=stated) if stated[0] else ()
        fact = next((fact for fact in facts if not fact.has_ended(now)), None)
        correction = _Correction(
            newest=newest,
            index=indices[0],
            fact=fact,
            text=text,
            planned=await self._planned(owner, fact, now=now),
            said=said,
        )
        edited, _ = await _finished(self._write(owner, correction, now=now))
        return edited

    async def correct(
        self,
        owner: Owner,
        id: str,  # noqa: A002
        text: str,
        *,
        now: datetime,
        said: str = "",
    ) -> Fact:
        """Replace a fact by what the user says instead, with `Trust.CORRECTED`, and make a new
        version of the summary; as `amend` does for a sentence. Returns the new fact, or the same
        one if the text only confirms it. Raises `NoSuchFact`, and `BadInput` for a fact that has
        ended."""
        _check_line(text)
        await adopt(self._store, owner)
        fact = next(iter(await self._store.facts.read(owner, ids=[id])), None)
        if fact is None:
            raise NoSuchFact(f"there is no fact {id[:80]!r}; list the facts for their ids")
        if fact.has_ended(now):
            instead = f"; correct {fact.ended_by}, which took its place" if fact.ended_by else ""
            raise BadInput(f"the fact {id} has ended{instead}")
        newest = await self._versions.find(owner, When(), now=now)
        indices = [
            i
            for i, known in enumerate(newest.sentences)
            if known.fact == id or (not known.fact and known.text == fact.text)
        ]
        index = indices[0] if indices else None
        correction = _Correction(
            newest=newest,
            index=index,
            fact=fact,
            text=text,
            planned=await self._planned(owner, fact, now=now),
            said=said,
        )
        _, changes = await _finished(self._write(owner, correction, now=now))
        if changes.added:
            return changes.added[0]
        (confirmed,) = await self._store.facts.read(owner, ids=[id])
        return confirmed

    async def rollback(self, owner: Owner, to: When, *, now: datetime) -> Summary:
        """Bring back the sentences of an old version as a new version, and the facts that held
        then: what was learned since ends, what ended since comes back as new facts. Nothing is
        removed. If the version was written but the facts could not be, do it again."""
        target = await self._versions.find(owner, to, now=now)
        newest = await self._versions.find(owner, When(), now=now)
        if await self._store.facts.read(owner, only=FactFilter(newest=1)):
            await adopt(self._store, owner)
        facts = await self._store.facts.read(owner)
        number = newest.number + 1
        rolled = roll_back(facts, target, number=number, now=now)
        back = replace(
            empty_summary(now),
            number=number,
            sentences=tuple(map(rolled.sentence, target.sentences)),
            origin=Origin.ROLLBACK,
            session=newest.session,
            language=target.language,
            restored=target.number,
        )

        async def write() -> None:
            await self._store.summaries.commit(owner, back)
            await self._apply(owner, rolled.changes)

        await _finished(write())
        return back

    async def _planned(self, owner: Owner, plan: Fact | None, *, now: datetime) -> tuple[Fact, ...]:
        """What the fact will end, if it is a plan."""
        if plan is None or not plan.supersedes:
            return ()
        facts = await self._store.facts.read(owner, ids=plan.supersedes)
        return tuple(f for f in facts if f.ended_by == plan.id and not f.has_ended(now))

    async def _write(
        self, owner: Owner, correction: _Correction, *, now: datetime
    ) -> tuple[Summary, FactChanges]:
        """Write the turn, the version that cites it, and the fact; if the version cannot be
        written, take the turn back, which only an open session allows."""
        newest, text = correction.newest, correction.text
        said = correction.said or text
        name = f"{EDIT}{uuid.uuid4().hex}"
        new = NewTurn(
            speaker=Speaker.USER, text=said, time=now, id=name, language=detect_language(said)
        )
        (turn,) = await self._store.turns.append(owner, [new], session=name, idle=timedelta.max)
        try:
            today = in_zone(turn.time, self._timezone).date()
            changes = _fact_changes(correction, turn, today=today)
            edited = replace(
                empty_summary(now),
                number=newest.number + 1,
                sentences=correction.sentences(
                    _sentence(correction, changes, turn), limit=self._limit
                ),
                origin=Origin.EDIT,
                session=turn.session,
                language=newest.language,
            )
            await self._store.summaries.commit(owner, edited)
        except OmoideError:
            with suppress(StoreError):  # an erasure would take all notes along
                await self._store.turns.append(
                    owner, [], session=name, idle=timedelta.max, replaces=[turn.id]
                )
            raise
        await self._apply(owner, changes)
        with suppress(StoreError):  # then it ends when idle
            await self._store.turns.end(owner, session=turn.session, at=now, digest=False)
        return edited, changes

    async def _apply(self, owner: Owner, changes: FactChanges) -> None:
        """Change the facts, and let events of replaced facts be superseded by new ones."""
        if not (changes.added or changes.ended or changes.confirmed):
            return
        await self._store.facts.apply(owner, changes)
        newer = {old: fact for fact in changes.added for old in fact.supersedes}
        for event in await self._store.events.read(owner) if newer else ():
            fact = newer.get(event.fact)
            if fact is None or event.superseded_by:
                continue
            corrected = replace(
                event,
                id=event_id(fact.session or 0, f"{fact.id} {fact.text}"),
                session=fact.session or event.session,
                text=fact.text,
                sources=fact.sources,
                fact=fact.id,
            )
            await self._store.events.add(owner, [corrected])
            await self._store.events.supersede(owner, old=event.id, by=corrected.id)


def _check_line(text: str) -> None:
    if text.splitlines() != [text]:
        raise BadInput("a sentence of the memory is one line: remove the line breaks")


def _sentence(correction: _Correction, changes: FactChanges, turn: Turn) -> Sentence:
    if changes.added:
        return as_sentence(changes.added[0])
    fact, index = correction.fact, correction.index
    about = correction.newest.sentences[index].about if index is not None else None
    if index is None and fact is not None:
        about = as_sentence(fact).about
    return Sentence(
        text=correction.text, about=about, sources=(turn.id,), fact=fact.id if fact else ""
    )


def _fact_changes(correction: _Correction, turn: Turn, *, today: date) -> FactChanges:
    """What the user's word changes in the facts. The same text confirms the fact. An end that lies
    ahead stays: that of the fact, and those that it will bring."""
    old, text = correction.fact, correction.text
    if old is None:
        return FactChanges()
    if text == old.text:
        again = FactConfirmation(id=old.id, at=turn.time, sources=(turn.id,))
        return FactChanges(confirmed=(again,))
    dated = with_absolute_dates(text, day=today, language=old.language, names=False)
    redated = old.kind in _DATED and (dated.since or dated.until) is not None
    new = Fact(
        id=fact_id(turn.session, old.about, dated.text),
        about=old.about,
        text=dated.text,
        said=turn.time,
        learned=turn.time,
        kind=old.kind,
        language=old.language,
        session=turn.session,
        since=dated.since if redated else old.since,
        until=dated.until if redated else old.until,
        sources=(turn.id,),
        trust=Trust.CORRECTED,
        supersedes=(old.id,),
        reason=vocabulary(old.language)["fact_corrected"],
        pinned=old.pinned,
        expires=old.expires if old.holds(turn.time) else None,
        tags=old.tags,
        ended=old.ended,
        ended_by=old.ended_by,
        end_reason=old.end_reason,
        end_sources=old.end_sources,
    )
    end = FactEnd(id=old.id, at=turn.time, by=new.id, reason=new.reason, sources=(turn.id,))
    ahead = tuple(_planned_end(fact, old=old, new=new) for fact in correction.planned)
    return FactChanges(added=(new,), ended=(end, *ahead))


def _planned_end(fact: Fact, *, old: Fact, new: Fact) -> FactEnd:
    """The end of a fact by a plan that was corrected: so many days earlier or later as the plan."""
    before, first = old.since or old.until, new.since or new.until
    moved = first - before if first and before else timedelta()
    return FactEnd(
        id=fact.id,
        at=max((fact.ended or new.learned) + moved, new.learned),
        until=fact.until + moved if fact.until else None,
        by=new.id,
        reason=fact.end_reason,
        sources=fact.end_sources,
    )


async def _finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is not broken off in the middle if the caller is cancelled."""
    writing = asyncio.create_task(work)
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        with suppress(OmoideError):
            await writing
        raise
