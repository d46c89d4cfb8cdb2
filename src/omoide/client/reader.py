"""The read-only methods of a server's memory. Signatures and meanings are those of the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from omoide.client.connection import lines
from omoide.client.decoding import decode, decode_all, decode_job, decoded_candidate
from omoide.client.encoding import UNLIMITED, iso
from omoide.domain import (
    Event,
    Fact,
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
from omoide.domain.text import checked_text, normal_name, several
from omoide.domain.time import aware
from omoide.engine import Because, When
from omoide.engine.facts import checked_kinds
from omoide.engine.reader import About
from omoide.errors import AccessDenied
from omoide.mechanisms.events.human_recall import RecallExplanation
from omoide.mechanisms.events.scoring import ForgettingCurve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence
    from datetime import datetime

    from omoide.client.connection import Connection
    from omoide.domain import FactKind, Job, JobState
    from omoide.transfer import Record


class RemoteReader:
    """The methods that change nothing."""

    def __init__(self, connection: Connection, about: dict[str, Any] | None) -> None:
        self._connection = connection
        self._about = about

    @property
    def tenant(self) -> str:
        """The tenant that the key opens."""
        return str(self._described["tenant"])

    @property
    def about(self) -> About:
        """The models and mechanisms of the server, by name."""
        return decode(About, self._described)

    @property
    def _described(self) -> dict[str, Any]:
        if self._about is None:
            raise AccessDenied(
                "the API key lacks the scope read: the server does not describe itself"
            )
        return self._about

    async def summary(
        self,
        user: str,
        *,
        version: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary:
        """The newest version of the summary, or one by its number, by session or by time. See
        `omoide.Memory.summary`."""
        when = When(version=version, session=session, at=at)
        return decode(
            Summary,
            await self._connection.get(
                "/api/memory",
                user=stored_user(user),
                version=when.version,
                session=when.session,
                at=iso(when.at, "at"),
            ),
        )

    async def history(self, user: str, *, at: datetime | None = None) -> tuple[Summary, ...]:
        """All versions, oldest first; with `at`, those that existed at that time."""
        found = await self._connection.pages("/api/memory/versions", user=stored_user(user))
        versions = decode_all(Summary, found)
        return tuple(v for v in versions if at is None or v.time <= aware(at, "at"))

    async def diff(
        self, user: str, old: When | int, new: When | int | None = None
    ) -> tuple[SentenceChange, ...]:
        """What changed from one version to another, by default to the newest."""
        query = {"from": await self._number(user, old), "user": stored_user(user)}
        if new is not None:
            query["to"] = await self._number(user, new)
        found = await self._connection.get("/api/memory/diff", **query)
        return decode_all(SentenceChange, found["items"])

    async def why(self, user: str, when: When | int | None = None) -> tuple[Because, ...]:
        """Each sentence of the summary with the turns that support it."""
        when = When.of(when)
        found = await self._connection.get(
            "/api/memory/why",
            user=stored_user(user),
            version=when.version,
            session=when.session,
            at=iso(when.at, "at"),
        )
        return decode_all(Because, found["items"])

    async def sessions(self, user: str) -> tuple[Session, ...]:
        """All sessions, oldest first."""
        return decode_all(Session, await self._pages("/api/sessions", user))

    async def titles(self, user: str) -> Mapping[int, str]:
        """The titles that sessions were given, by the session's number."""
        found: dict[int, str] = {}
        before = None
        while True:
            cards = await self._connection.get(
                "/api/sessions/latest", user=stored_user(user), before=before, limit=1000
            )
            found |= {card["number"]: card["title"] for card in cards["items"] if card["title"]}
            if len(cards["items"]) < 1000:
                return dict(sorted(found.items()))
            before = cards["items"][-1]["number"]

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
        `ids`, only those. For pages: only those `after` or `before` a position, only the `first` or
        `last` so many."""
        if ids is not None:
            ids = several(ids)
            found = [await self._turns(user, id=ids[i : i + 50]) for i in range(0, len(ids), 50)]
            turns = {turn.id: turn for part in found for turn in part}
            return tuple(sorted(turns.values(), key=lambda turn: turn.position))
        if last is not None and last < 1:
            return ()
        if last is not None and last <= 1000 and after is None and first is None:
            return await self._turns(user, session=session, before=before, last=last)
        turns_: tuple[Turn, ...] = ()
        while first is None or len(turns_) < first:
            limit = 1000 if first is None else min(first - len(turns_), 1000)
            page = await self._turns(user, session=session, cursor=after, limit=limit)
            turns_ += tuple(turn for turn in page if before is None or turn.position < before)
            if len(page) < limit or (before is not None and page[-1].position >= before):
                break
            after = page[-1].position
        return turns_ if last is None else turns_[-last:]

    async def events(self, user: str) -> tuple[Event, ...]:
        """All events, oldest first."""
        return decode_all(Event, await self._pages("/api/events", user))

    async def memos(self, user: str) -> tuple[Memo, ...]:
        """All memos, oldest first."""
        return decode_all(Memo, await self._pages("/api/memos", user))

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
        or expired by then. In the order it was said. See `omoide.Memory.facts`."""
        if (ids is not None and not ids) or (ids is None and turns is not None and not turns):
            return ()
        found = await self._connection.pages(
            "/api/facts",
            user=stored_user(user),
            id=None if ids is None else several(ids),
            turn=None if turns is None else several(turns),
            at=iso(at, "at"),
            about=about,
            kind=checked_kinds(kinds),
            tag=several(tags),
            since=iso(since, "since"),
            until=iso(until, "until"),
            ended=ended or None,
        )
        return decode_all(Fact, found)

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
        """What memory learned, and when and why it changed its mind."""
        found = await self._connection.pages(
            "/api/facts/timeline",
            user=stored_user(user),
            about=about,
            kind=checked_kinds(kinds),
            tag=several(tags),
            since=iso(since, "since"),
            until=iso(until, "until"),
        )
        return decode_all(TimelineEntry, found)

    async def preset(self, user: str) -> str:
        """The name of the preset that the user's memory works by."""
        return str((await self._connection.get("/api/presets", user=stored_user(user)))["preset"])

    async def notes(self, user: str, *, kind: str) -> tuple[Note, ...]:
        """The notes that a mechanism keeps about the user under that kind."""
        found = await self._connection.get("/api/notes", user=stored_user(user), kind=kind)
        return decode_all(Note, found["items"])

    async def rejected(self, user: str) -> tuple[RejectedAnswer, ...]:
        """Model answers that the guards rejected, with the reasons."""
        found = await self._connection.get("/api/memory/rejected", user=stored_user(user))
        return decode_all(RejectedAnswer, found["items"])

    async def calls(self, user: str) -> tuple[ModelCall, ...]:
        """Every model call made for the user, and what it cost."""
        return decode_all(ModelCall, await self._pages("/api/calls", user))

    async def jobs(
        self, user: str | None = None, *, states: Sequence[JobState] = ()
    ) -> tuple[Job, ...]:
        """The jobs of one user or of all."""
        users = [user] if user is not None else await self.users()
        found = [
            await self._connection.pages("/api/jobs", user=stored_user(name), state=states)
            for name in users
        ]
        return tuple(decode_job(job, tenant=self.tenant) for part in found for job in part)

    async def users(self) -> tuple[str, ...]:
        """All users about whom anything is stored."""
        return tuple(await self._connection.pages("/api/users"))

    async def curves(
        self,
        user: str,
        *,
        at: datetime | None = None,
        days: float = 90.0,
        newest: int | None = None,
    ) -> tuple[ForgettingCurve, ...]:
        """How events that are not superseded fade, and how they would after a recall."""
        found = await self._connection.get(
            "/api/events/curves",
            user=stored_user(user),
            at=iso(at, "at"),
            days=max(1, round(days)),
            limit=1000 if newest is None else newest,
        )
        return decode_all(ForgettingCurve, found["items"])

    async def explain(
        self, user: str, text: str, *, at: datetime | None = None
    ) -> RecallExplanation:
        """Every event that was considered for `text`, and why it is recalled or not."""
        body = {"text": checked_text(text, max_chars=UNLIMITED), "at": iso(at, "at")}
        found = await self._connection.post("/api/explain", body, user=stored_user(user))
        return RecallExplanation(
            candidates=tuple(decoded_candidate(item) for item in found["items"]),
            calibration=found["calibration"],
        )

    async def export(self, user: str) -> AsyncIterator[Record]:
        """Everything that is stored about the user, as records for JSON lines."""
        async with self._connection.stream(
            "GET", "/api/export", user=stored_user(user)
        ) as response:
            async for line in lines(response):
                if line.strip():
                    yield json.loads(line)

    async def _pages(self, path: str, user: str) -> list[Any]:
        return await self._connection.pages(path, user=stored_user(user))

    async def _turns(self, user: str, **query: Any) -> tuple[Turn, ...]:  # noqa: ANN401
        found = await self._connection.get("/api/turns", user=stored_user(user), **query)
        return decode_all(Turn, found["items"])

    async def _number(self, user: str, when: When | int) -> int:
        """The number of the version that is meant."""
        when = When.of(when)
        if when.version is not None:
            return when.version
        return (await self.summary(user, session=when.session, at=when.at)).number


def stored_user(name: str) -> str:
    """A user's name as it is stored."""
    return normal_name(name, "the user")
