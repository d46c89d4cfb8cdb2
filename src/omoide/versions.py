"""The memory through time: any version, what changed, going back, and why it says so."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Origin, Said, Sentence, Speaker, diff, nothing
from omoide.errors import BadInput, NoSuchVersion, OmoideError, StaleVersion, StoreError
from omoide.language import detect

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner, SentenceChange, Summary, Turn
    from omoide.ports import Store

EDIT = "edit-"
"""How the ids of turns, and the keys of sessions, begin in which a user put the memory right."""


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

    async def amend(self, owner: Owner, sentence: str, text: str, *, now: datetime) -> Summary:
        """The newest memory with `text` in the place of `sentence`, as a new version. The same text
        confirms it.

        The user's own correction is recorded as words of theirs, in a session of its own that is
        over at once and not digested; that turn is what the new sentence rests on. Raises
        `StaleVersion` where the memory does not hold the sentence or was rewritten meanwhile. What
        fails leaves nothing behind, as long as the store can still be written; what is cancelled
        once it began to write is done to its end first.
        """
        if text.splitlines() != [text]:
            raise BadInput("a sentence of the memory is one line: take out the line breaks")
        newest = await self.find(owner, When(), now=now)
        places = [i for i, known in enumerate(newest.sentences) if known.text == sentence]
        if not places:
            raise StaleVersion(
                f"version {newest.number} of the memory does not say {sentence[:80]!r}; "
                "read the memory again"
            )
        writing = asyncio.create_task(self._edit(owner, newest, places[0], text, now=now))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            with suppress(OmoideError):
                await writing
            raise

    async def _edit(
        self, owner: Owner, newest: Summary, place: int, text: str, *, now: datetime
    ) -> Summary:
        """The new version and the turn it cites, or neither."""
        name = f"{EDIT}{uuid.uuid4().hex}"
        said = Said(speaker=Speaker.USER, text=text, time=now, id=name, language=detect(text))
        (turn,) = await self._store.turns.append(owner, [said], session=name, idle=timedelta.max)
        try:
            await self._store.turns.end(owner, session=turn.session, at=now, digest=False)
            edited = replace(
                nothing(now),
                number=newest.number + 1,
                sentences=tuple(
                    Sentence(text=text, about=known.about, sources=(turn.id,))
                    if i == place
                    else known
                    for i, known in enumerate(newest.sentences)
                ),
                origin=Origin.EDIT,
                session=turn.session,
                language=newest.language,
            )
            await self._store.summaries.commit(owner, edited)
        except OmoideError:
            with suppress(StoreError):
                await self._store.archive.erase(owner, session=turn.session)
            raise
        return edited

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
