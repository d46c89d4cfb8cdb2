"""Versions of the summary: find, compare, and explain by supporting turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import diff, empty_summary
from omoide.domain.time import aware
from omoide.errors import NoSuchVersion

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner, Sentence, SentenceChange, Summary, Turn
    from omoide.ports import Store


@dataclass(frozen=True, kw_only=True)
class When:
    """Names a version by its number, by the last session it covers, or by a time. Without any of
    them, the newest."""

    version: int | None = None
    session: int | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        named = [n for n in ("version", "session", "at") if getattr(self, n) is not None]
        if len(named) > 1:
            raise NoSuchVersion(f"name a version by one of {' or '.join(named)}, not by both")
        if self.at is not None:
            aware(self.at, "at")

    @classmethod
    def of(cls, named: When | int | None) -> When:
        """What a caller names: a mere number is that of a version, and None the newest."""
        if named is None:
            return cls()
        return cls(version=named) if isinstance(named, int) else named


@dataclass(frozen=True, kw_only=True)
class Because:
    """A sentence of the summary and the turns that support it, if any."""

    sentence: Sentence
    turns: tuple[Turn, ...]


class Versions:
    """The versions of the summaries in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, owner: Owner, when: When, *, now: datetime) -> Summary:
        """The version; the empty M_0 if there was none yet. Raises `NoSuchVersion` for a number
        that does not exist."""
        summary = await self._store.summaries.find(
            owner, number=when.version, session=when.session, at=when.at
        )
        if summary is None and when.version:
            newest = await self._store.summaries.find(owner)
            if newest is None:
                raise NoSuchVersion("there is no version yet: it is written when a session ends")
            raise NoSuchVersion(
                f"there is no version {when.version}; there are 0 to {newest.number}"
            )
        return summary or empty_summary(when.at or now)

    async def current(self, owner: Owner, when: When, *, now: datetime) -> Summary:
        """The version as it is shown. One that is named by its number or session is as it was
        written; the newest, or that of a time, is without facts that had expired or ended by then,
        as in a prompt."""
        summary = await self.find(owner, when, now=now)
        if when.version is not None or when.session is not None:
            return summary
        return await without_gone(self._store, owner, summary, now=when.at or now)

    async def history(self, owner: Owner) -> tuple[Summary, ...]:
        """All versions from M_1 on, oldest first."""
        return await self._store.summaries.history(owner)

    async def diff(
        self, owner: Owner, old: When, new: When, *, now: datetime
    ) -> tuple[SentenceChange, ...]:
        """What changed between two versions."""
        before = await self.find(owner, old, now=now)
        after = await self.find(owner, new, now=now)
        return diff(before.sentences, after.sentences)

    async def why(self, owner: Owner, when: When, *, now: datetime) -> tuple[Because, ...]:
        """Each sentence of a version, as it is shown, with the turns that support it."""
        summary = await self.current(owner, when, now=now)
        ids = [id_ for sentence in summary.sentences for id_ in sentence.sources]
        turns = {turn.id: turn for turn in await self._store.turns.read(owner, ids=ids)}
        return tuple(
            Because(
                sentence=sentence,
                turns=tuple(turns[id_] for id_ in sentence.sources if id_ in turns),
            )
            for sentence in summary.sentences
        )


async def without_gone(store: Store, owner: Owner, summary: Summary, *, now: datetime) -> Summary:
    """A summary without the facts that have expired, or ended since it was written."""
    ids = [sentence.fact for sentence in summary.sentences if sentence.fact]
    facts = await store.facts.read(owner, ids=ids) if ids else ()
    gone = {fact.id for fact in facts if fact.gone_from(summary.time, now=now)}
    left = tuple(sentence for sentence in summary.sentences if sentence.fact not in gone)
    return replace(summary, sentences=left)
