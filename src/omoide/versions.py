"""The memory through time: any version, what changed, going back, and why it says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.domain import Origin, diff, nothing
from omoide.errors import NoSuchVersion

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner, Sentence, SentenceChange, Summary, Turn
    from omoide.ports import Store


@dataclass(frozen=True, kw_only=True)
class When:
    """A version named by its number, by the last session it knows of, or by a moment.
    Without any of them, the newest."""

    version: int | None = None
    session: int | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        given = [n for n in ("version", "session", "at") if getattr(self, n) is not None]
        if len(given) > 1:
            raise NoSuchVersion(f"name a version by one of {' or '.join(given)}, not by both")


@dataclass(frozen=True, kw_only=True)
class Because:
    """A sentence of the memory and the turns it rests on; none if nothing supports it."""

    sentence: Sentence
    turns: tuple[Turn, ...]


class Versions:
    """The versions of one store's summaries."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, owner: Owner, when: When, *, now: datetime) -> Summary:
        """That version; the empty M_0 where there was nothing yet. Raises `NoSuchVersion` for a
        number that was never given."""
        found = await self._store.summaries.find(
            owner, number=when.version, session=when.session, at=when.at
        )
        if found is None and when.version:
            newest = await self._store.summaries.find(owner)
            top = newest.number if newest else 0
            raise NoSuchVersion(f"there is no version {when.version}; there are 0 to {top}")
        return found or nothing(when.at or now)

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

    async def rollback(self, owner: Owner, to: When, *, now: datetime) -> Summary:
        """Bring an old version's sentences back as a new version. Nothing is taken away."""
        target = await self.find(owner, to, now=now)
        newest = await self.find(owner, When(), now=now)
        back = replace(
            nothing(now),
            number=newest.number + 1,
            sentences=target.sentences,
            origin=Origin.ROLLBACK,
            session=newest.session,
            language=target.language,
            restored=target.number,
        )
        await self._store.summaries.commit(owner, back)
        return back

    async def why(self, owner: Owner, when: When, *, now: datetime) -> tuple[Because, ...]:
        """Each sentence of a version with the turns it rests on."""
        summary = await self.find(owner, when, now=now)
        ids = [id_ for sentence in summary.sentences for id_ in sentence.sources]
        turns = {turn.id: turn for turn in await self._store.turns.read(owner, ids=ids)}
        return tuple(
            Because(
                sentence=sentence,
                turns=tuple(turns[id_] for id_ in sentence.sources if id_ in turns),
            )
            for sentence in summary.sentences
        )
