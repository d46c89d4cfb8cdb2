"""The memory itself: every verb, composed of a store, models and mechanisms."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.accounts import Account
from omoide.attention import Attending
from omoide.digestion import Digestion, grown
from omoide.domain import Owner, Purpose, Said, Speaker, State, Task
from omoide.domain.text import checked_name, checked_text
from omoide.errors import BadInput, NoSuchJob
from omoide.language import detect
from omoide.memory.mechanism import KeepingUp
from omoide.reply import Reply, heard
from omoide.versions import Versions, When
from omoide.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime, timedelta

    from omoide.domain import (
        Call,
        Job,
        Recollection,
        Recorded,
        Rejected,
        SentenceChange,
        Session,
        Summary,
        Turn,
    )
    from omoide.memory.events.calibration import Calibration
    from omoide.memory.events.human_recall import Explained, HumanRecall
    from omoide.memory.events.scoring import Curve
    from omoide.memory.mechanism import Company, Mechanism
    from omoide.memory.replies import ReplyForm
    from omoide.memory.search.recall import Recall
    from omoide.ports import ChatModel, Clock, Embedder, Erased, Store
    from omoide.transfer import Record
    from omoide.versions import Because


MOST_TURNS = 10_000
"""Turns in one call: they are one transaction, which others wait for."""
MOST_RECALLED = 1_000
"""Items of one recall."""


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """Words to record, as a caller gives them: everything but who and what is optional."""

    speaker: Speaker
    text: str
    id: str | None = None
    time: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much of everything."""

    idle: timedelta
    memory_tokens: int
    reply_tokens: int
    longest: int


class Memory:
    """Long-term memory for the users of one tenant.

    `at=` sets the clock of any verb, so that history can be recorded and replayed as it was.
    """

    def __init__(
        self,
        *,
        tenant: str,
        store: Store,
        model: ChatModel,
        iterator: ChatModel,
        mechanisms: Sequence[Mechanism],
        reply_form: ReplyForm,
        recall: Recall,
        embedder: Embedder | None,
        clock: Clock,
        worker: str,
        limits: Limits,
        company: Company | None = None,
    ) -> None:
        self.tenant = checked_name(tenant, "the tenant")
        self.store = store
        self.model = model
        self.iterator = iterator
        self.mechanisms = tuple(mechanisms)
        self._reply_form = reply_form
        self._recall = recall
        self._embedder = embedder
        self._clock = clock
        self._limits = limits
        self._versions = Versions(store)
        self._keeps_up = any(isinstance(m, KeepingUp) for m in self.mechanisms)
        self.attending = Attending(
            store, self.mechanisms, budget=limits.memory_tokens, company=company
        )
        digestion = Digestion(
            store=store,
            mechanisms=self.mechanisms,
            model=iterator,
            embedder=embedder,
            clock=clock,
        )
        self.worker = Worker(
            jobs=store.jobs, tenant=tenant, name=worker, clock=clock, tasks=digestion.tasks
        )

    # ── Talking ─────────────────────────────────────────────────────────────────────────────

    async def record(
        self,
        user: str,
        turns: Sequence[Utterance],
        *,
        session: str | None = None,
        at: datetime | None = None,
    ) -> Recorded:
        """Record what was said; durable on return. A turn id given before records nothing again:
        the result is a tuple of turns whose `new` are the ids that this call recorded."""
        owner, now = self._owner(user), self._now(at)
        if len(turns) > MOST_TURNS:
            raise BadInput(
                f"{len(turns):,} turns came at once and at most {MOST_TURNS:,} are recorded in one "
                "transaction: record them in several calls"
            )
        if session is not None:
            checked_name(session, "a session's key")
        said = [self._said(turn, now) for turn in turns]
        recorded = await self.store.turns.append(
            owner, said, session=session, idle=self._limits.idle
        )
        if self._keeps_up and grown(recorded):
            number = recorded[-1].session
            await self.store.jobs.enqueue(owner, Task.KEEP_UP, session=number, at=now)
        self.worker.wake()
        return recorded

    async def reply(
        self,
        user: str,
        text: str,
        *,
        session: str | None = None,
        at: datetime | None = None,
        id: str | None = None,  # noqa: A002 - the same word as in `record`
    ) -> Reply:
        """Record what the user said, and answer it with what is remembered."""
        owner, now = self._owner(user), self._now(at)
        spoken = Utterance(speaker=Speaker.USER, text=text, id=id)
        (turn,) = await self.record(user, [spoken], session=session, at=at)
        attention = await self.attending.attend(turn, owner=owner, now=now)
        request = self._reply_form(
            attention.moment,
            attention.contributions,
            window=self.model.window,
            max_tokens=self._limits.reply_tokens,
        )

        async def keep(answer: str) -> None:
            said = Utterance(speaker=Speaker.ASSISTANT, text=answer)
            await self.record(user, [said], session=session, at=at)
            await self.attending.used(attention)

        account = Account(
            ledger=self.store.ledger, clock=self._clock, owner=owner, session=turn.session
        )
        pieces = heard(account.stream(self.model, request, Purpose.REPLY), keep=keep)
        return Reply(turn=turn, contributions=attention.contributions, pieces=pieces)

    async def recall(
        self,
        user: str,
        query: str,
        *,
        at: datetime | None = None,
        k: int = 10,
        budget: int | None = None,
        asker: Speaker = Speaker.USER,
    ) -> Recollection:
        """What comes to mind for `query`, best first, without a model call; `asker` is who "I" is
        in it. The result is a tuple of items; its `support` says what speaks for memory knowing
        anything of it at all."""
        if not 1 <= k <= MOST_RECALLED:
            raise BadInput(f"k must be from 1 to {MOST_RECALLED:,}, not {k}")
        if budget is not None and budget < 1:
            raise BadInput(f"budget must be at least 1 token, not {budget}")
        checked_text(query, longest=self._limits.longest)
        summary = await self.memory(user, at=at)
        return await self._recall(
            self._owner(user),
            query,
            summary=summary,
            at=self._now(at),
            k=k,
            budget=budget,
            asker=asker,
        )

    async def explain(self, user: str, text: str, *, at: datetime | None = None) -> Explained:
        """Every event that was weighed for `text`, with what decided whether it comes to mind."""
        checked_text(text, longest=self._limits.longest)
        return await self._human_recall.explain(
            self._owner(user), text, now=self._now(at), language=detect(text)
        )

    async def curves(
        self, user: str, *, at: datetime | None = None, days: float = 90.0
    ) -> tuple[Curve, ...]:
        """How each event that still counts fades, and how it would after a recall."""
        return await self._human_recall.curves(self._owner(user), now=self._now(at), days=days)

    async def calibrate(self, user: str, *, at: datetime | None = None) -> Calibration:
        """Fit what a likeness is worth to the user's own words and events; used from now on."""
        return await self._human_recall.refit(self._owner(user), now=self._now(at))

    async def end_session(
        self, user: str, *, session: int | None = None, at: datetime | None = None
    ) -> tuple[Session, ...]:
        """End the user's open sessions, or that one; the memory is rewritten in the background.
        `settle` waits for it."""
        ended = await self.store.turns.end(self._owner(user), session=session, at=self._now(at))
        self.worker.wake()
        return ended

    async def end_idle(self, *, at: datetime | None = None) -> int:
        """End the sessions in which nothing was said for longer than the idle time."""
        before = self._now(at) - self._limits.idle
        return await self.store.turns.end_idle(self.tenant, before=before)

    async def settle(self) -> int:
        """Do all work that is due; how many jobs were tried."""
        return await self.worker.drain()

    # ── Looking ─────────────────────────────────────────────────────────────────────────────

    async def memory(
        self,
        user: str,
        *,
        version: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary:
        """The newest memory, or a version by its number, by session or by time."""
        when = When(version=version, session=session, at=at)
        return await self._versions.find(self._owner(user), when, now=self._clock.now())

    async def history(self, user: str, *, at: datetime | None = None) -> tuple[Summary, ...]:
        """All versions from the first, oldest first; with `at`, those that there were by then."""
        versions = await self._versions.history(self._owner(user))
        return tuple(v for v in versions if at is None or v.time <= self._now(at))

    async def diff(
        self, user: str, old: When, new: When | None = None
    ) -> tuple[SentenceChange, ...]:
        """What changed from one version to another, or to the newest."""
        now = self._clock.now()
        return await self._versions.diff(self._owner(user), old, new or When(), now=now)

    async def rollback(self, user: str, to: When, *, at: datetime | None = None) -> Summary:
        """Bring an old version back, as a new version."""
        return await self._versions.rollback(self._owner(user), to, now=self._now(at))

    async def amend(
        self, user: str, sentence: str, text: str, *, at: datetime | None = None
    ) -> Summary:
        """Put a sentence of the newest memory right, as a new version that cites the user."""
        checked_text(text, longest=self._limits.longest)
        return await self._versions.amend(self._owner(user), sentence, text, now=self._now(at))

    async def why(self, user: str, when: When | None = None) -> tuple[Because, ...]:
        """Each sentence of the memory with the turns it rests on."""
        now = self._clock.now()
        return await self._versions.why(self._owner(user), when or When(), now=now)

    async def sessions(self, user: str) -> tuple[Session, ...]:
        """All sessions, oldest first."""
        return await self.store.turns.sessions(self._owner(user))

    async def turns(self, user: str, *, session: int | None = None) -> tuple[Turn, ...]:
        """What was said, in all sessions or in one."""
        return await self.store.turns.read(self._owner(user), session=session)

    async def aside(self, user: str) -> tuple[Rejected, ...]:
        """Answers of a model that were not allowed to become memory, with the reasons."""
        return await self.store.summaries.aside(self._owner(user))

    async def calls(self, user: str) -> tuple[Call, ...]:
        """Every call of a model on this user's behalf, and what it took."""
        return await self.store.ledger.calls(self._owner(user))

    async def jobs(
        self, user: str | None = None, *, states: Sequence[State] = ()
    ) -> tuple[Job, ...]:
        """Durable work, of one user or of all."""
        owner = self._owner(user) if user is not None else None
        return await self.store.jobs.list(self.tenant, owner=owner, states=states)

    async def retry(
        self, user: str, *, job: int | None = None, at: datetime | None = None
    ) -> tuple[Job, ...]:
        """Give work that was given up another try, from now on: that job of the user's, or all;
        as it was before."""
        dead = await self.jobs(user, states=[State.DEAD])
        chosen = tuple(one for one in dead if job in (None, one.id))
        if job is not None and not chosen:
            raise NoSuchJob(f"job {job} is not among the given-up jobs of {user}")
        now = self._now(at)
        for one in chosen:
            await self.store.jobs.settle(one, state=State.WAITING, error=one.error, due=now)
        self.worker.wake()
        return chosen

    async def users(self) -> tuple[str, ...]:
        """Everyone of whom anything is remembered."""
        return tuple(owner.user for owner in await self.store.archive.owners(self.tenant))

    # ── Taking along ────────────────────────────────────────────────────────────────────────

    def export(self, user: str) -> AsyncIterator[Record]:
        """Everything that is stored of the user, as records that can be written as JSON lines."""
        from omoide.transfer import export

        return export(self.store, self._owner(user))

    # ── Forgetting ──────────────────────────────────────────────────────────────────────────

    async def erase(
        self,
        user: str,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
    ) -> Erased:
        """Remove for good: the user, or a session, or turns, or sentences of the memory."""
        return await self.store.archive.erase(
            self._owner(user), session=session, turns=turns, sentences=sentences
        )

    async def close(self) -> None:
        """Close the models and the store."""
        for part in (self.model, self.iterator, self._embedder, self.store):
            if part is not None:
                await part.close()

    # ── Within ──────────────────────────────────────────────────────────────────────────────

    def _owner(self, user: str) -> Owner:
        return Owner(tenant=self.tenant, user=checked_name(user, "the user"))

    def _now(self, at: datetime | None) -> datetime:
        if at is not None and at.tzinfo is None:
            raise BadInput(f"at={at.isoformat()} has no time zone: give an aware datetime")
        return at or self._clock.now()

    def _said(self, turn: Utterance, now: datetime) -> Said:
        return Said(
            speaker=turn.speaker,
            text=checked_text(turn.text, longest=self._limits.longest),
            time=self._now(turn.time or now),
            id=checked_name(turn.id, "a turn's id") if turn.id is not None else uuid.uuid4().hex,
            language=detect(turn.text),
            name=checked_name(turn.name, "a speaker's name") if turn.name is not None else None,
        )

    @property
    def _human_recall(self) -> HumanRecall:
        from omoide.memory.events.human_recall import HumanRecall

        for mechanism in self.mechanisms:
            if isinstance(mechanism, HumanRecall):
                return mechanism
        raise BadInput(
            "this needs the mechanism human-recall; name it in OMOIDE_MECHANISMS, for example "
            "OMOIDE_MECHANISMS=summary,search,human-recall"
        )
