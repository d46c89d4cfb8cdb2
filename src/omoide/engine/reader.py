"""The read-only methods of `Memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import FactFilter, Owner
from omoide.domain.text import normal_name, normal_tags, several
from omoide.domain.time import aware, limit, not_ahead
from omoide.engine.facts import checked_kinds
from omoide.engine.titles import titles
from omoide.engine.versions import When
from omoide.transfer import export

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import (
        Event,
        Fact,
        FactKind,
        Job,
        JobState,
        Memo,
        ModelCall,
        Note,
        RejectedAnswer,
        SentenceChange,
        Session,
        Summary,
        TimelineEntry,
        Turn,
    )
    from omoide.engine.file_history import FileVersion
    from omoide.engine.services import Services
    from omoide.engine.versions import Because
    from omoide.transfer import Record


@dataclass(frozen=True, kw_only=True)
class About:
    """The models, mechanisms and preset of a memory, by name."""

    model: str
    summariser: str
    embedder: str | None
    mechanisms: tuple[str, ...]
    preset: str
    """The preset that the settings started from."""


class Reader:
    """The methods that change nothing, for the users of one tenant."""

    def __init__(self, services: Services, *, tenant: str) -> None:
        self.tenant = normal_name(tenant, "the tenant")
        self._services = services
        self._store = services.store
        self._settings = services.settings
        self._versions = services.versions

    @property
    def about(self) -> About:
        """The models and mechanisms in use, by name."""
        services = self._services
        return About(
            model=services.model.name,
            summariser=services.summariser.name,
            embedder=services.embedder.space.name if services.embedder else None,
            mechanisms=tuple(mechanism.name for mechanism in services.mechanisms),
            preset=str(services.settings.preset),
        )

    async def preset(self, user: str) -> str:
        """The name of the preset that the user's memory works by: the one that they chose, or that
        of the settings."""
        return await self._services.methods.name(self._owner(user))

    async def summary(
        self,
        user: str,
        *,
        version: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary:
        """The newest version of the summary, or one by its number, by session or by time. The
        newest, and that of a time, are without facts that had expired by then; those named by
        number or session are as they were written."""
        when = When(version=version, session=session, at=at)
        return await self._versions.current(self._owner(user), when, now=self._now(None))

    async def history(self, user: str, *, at: datetime | None = None) -> tuple[Summary, ...]:
        """All versions, oldest first; with `at`, those that existed at that time."""
        versions = await self._versions.history(self._owner(user))
        return tuple(v for v in versions if at is None or v.time <= self._now(at))

    async def diff(
        self, user: str, old: When | int, new: When | int | None = None
    ) -> tuple[SentenceChange, ...]:
        """What changed from one version to another, by default to the newest."""
        owner = self._owner(user)
        return await self._versions.diff(owner, When.of(old), When.of(new), now=self._now(None))

    async def why(self, user: str, when: When | int | None = None) -> tuple[Because, ...]:
        """Each sentence of the summary with the turns that support it."""
        return await self._versions.why(self._owner(user), When.of(when), now=self._now(None))

    async def sessions(self, user: str) -> tuple[Session, ...]:
        """All sessions, oldest first."""
        return await self._store.turns.sessions(self._owner(user))

    async def titles(self, user: str) -> Mapping[int, str]:
        """The titles that sessions were given, by the session's number."""
        return await titles(self._store, self._owner(user))

    async def turns(
        self,
        user: str,
        *,
        session: int | None = None,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        first: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> tuple[Turn, ...]:
        """The turns of all sessions or of one; with `last`, only that many of the newest; with
        `ids`, only those, such as the `sources` of a fact. For pages: only those `after` or
        `before` a position, and only the `first` or `last` so many."""
        owner = self._owner(user)
        if ids is not None:
            return await self._store.turns.read(owner, ids=several(ids))
        return await self._store.turns.read(
            owner, session=session, last=last, after=after, before=before, first=first
        )

    async def events(self, user: str) -> tuple[Event, ...]:
        """All events, oldest first."""
        return await self._store.events.read(self._owner(user))

    async def memos(self, user: str) -> tuple[Memo, ...]:
        """All memos, oldest first."""
        return await self._store.memos.read(self._owner(user))

    async def facts(
        self,
        user: str,
        *,
        ids: Sequence[str] | None = None,
        turns: Sequence[str] | None = None,
        at: datetime | None = None,
        about: str | None = None,
        kinds: Collection[FactKind | str] = (),
        tags: Collection[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        ended: bool = False,
    ) -> tuple[Fact, ...]:
        """What memory takes for true, or took for true at a time; with `ended`, also what had ended
        or expired by then. In the order it was said.

        `about` is `user`, `assistant` or a name; `kinds` are those of `FactKind`; `tags`: any of
        these; `since` and `until` limit when it was said; `turns`: supported by one of these, by
        id. `ids` names facts, whatever became of them. What only summaries of an older version
        state is read as facts, too."""
        owner = self._owner(user)
        if ids is not None:
            return await self._services.facts.read(owner, ids=several(ids))
        if turns is not None and not turns:
            return ()
        only = FactFilter(
            turns=several(turns or ()),
            about=about,
            kinds=checked_kinds(kinds),
            tags=normal_tags(tags),
            since=None if since is None else limit(since, "since"),
            until=None if until is None else limit(until, "until"),
        )
        return await self._services.facts.held(owner, only, at=self._now(at), ended=ended)

    async def timeline(
        self,
        user: str,
        *,
        about: str | None = None,
        kinds: Collection[FactKind | str] = (),
        tags: Collection[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> tuple[TimelineEntry, ...]:
        """What memory learned, and when and why it changed its mind: facts that began, took the
        place of others, were confirmed, ended or expired, in time order."""
        now = self._now(None)
        return await self._services.facts.timeline(
            self._owner(user),
            FactFilter(about=about, kinds=checked_kinds(kinds), tags=normal_tags(tags)),
            at=now if until is None else min(now, limit(until, "until")),
            since=None if since is None else limit(since, "since"),
        )

    async def notes(self, user: str, *, kind: str) -> tuple[Note, ...]:
        """The notes that a mechanism keeps about the user under that kind."""
        return await self._store.notes.read(self._owner(user), kind=kind)

    async def file_versions(self, user: str, path: str | None = None) -> tuple[FileVersion, ...]:
        """The versions of one file of the memory tool, or of all, oldest first; also those of files
        that were removed."""
        return await self._services.folders.versions(self._owner(user), path)

    async def rejected(self, user: str) -> tuple[RejectedAnswer, ...]:
        """Model answers that the guards rejected, with the reasons."""
        return await self._store.summaries.rejected(self._owner(user))

    async def calls(self, user: str) -> tuple[ModelCall, ...]:
        """Every model call made for the user, and what it cost."""
        return await self._store.ledger.calls(self._owner(user))

    async def jobs(
        self, user: str | None = None, *, states: Sequence[JobState] = ()
    ) -> tuple[Job, ...]:
        """The jobs of one user or of all."""
        owner = self._owner(user) if user is not None else None
        return await self._store.jobs.list(self.tenant, owner=owner, states=states)

    async def users(self) -> tuple[str, ...]:
        """All users about whom anything is stored."""
        return tuple(owner.user for owner in await self._store.archive.owners(self.tenant))

    def export(self, user: str) -> AsyncIterator[Record]:
        """Everything that is stored about the user, as records for JSON lines."""
        return export(self._store, self._owner(user))

    def _owner(self, user: str) -> Owner:
        return Owner(tenant=self.tenant, user=normal_name(user, "the user"))

    def _now(self, at: datetime | None) -> datetime:
        return self._services.clock.now() if at is None else aware(at, "at")

    def _said_at(self, at: datetime | None) -> datetime:
        """The time that turns are recorded with which have none of their own."""
        return not_ahead(self._now(at), self._services.clock.now())
