"""`Memory`: all methods of a tenant's memory."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from omoide.domain import CallPurpose, JobState, JobTask, Speaker
from omoide.domain.text import checked_text, normal_name
from omoide.domain.time import AHEAD, aware
from omoide.engine.asking import Answer, Asking
from omoide.engine.editor import Editor
from omoide.engine.erasure import ErasureTarget
from omoide.engine.forgetting import Forgetting
from omoide.engine.ledger import Account
from omoide.engine.messages import Utterance, chat_messages, utterances
from omoide.engine.recalling import checked_budget, checked_count, checked_speaker, recall_filter
from omoide.engine.reply import Draft, Reply, stream_reply
from omoide.engine.taking_back import turns_taken_back
from omoide.errors import BadInput, NoSuchJob, NoSuchSession
from omoide.language import both_ends, detect_language
from omoide.mechanisms.facts.layers import usual_kinds
from omoide.ports.telemetry import MemoryOperation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from omoide.domain import (
        Job,
        MemoryKind,
        RecallResult,
        Receipt,
        RecordedTurns,
        Session,
    )
    from omoide.engine.asking import Exchange
    from omoide.engine.context import Context
    from omoide.engine.messages import ChatMessage, Words
    from omoide.mechanisms.events.calibration import Calibration
    from omoide.mechanisms.events.human_recall import RecallExplanation
    from omoide.mechanisms.events.scoring import ForgettingCurve
    from omoide.ports import Erased

    Messages = str | Utterance | Sequence[ChatMessage]
    """What the user says: a text, an `Utterance`, or messages with their history."""


class Memory(Editor, Forgetting):
    """Long-term memory for the users of one tenant. Made by `omoide.open_async` or a `Runtime`.

    `at=` sets the clock of any method, so that a past conversation can be recorded and replayed.
    Which sessions have gone idle is decided by the memory's own clock: to hold a past conversation
    turn by turn, open it with a `clock=` of that time, or a session may end between two turns.
    """

    # ── Talking ─────────────────────────────────────────────────────────────────────────────

    async def record(
        self,
        user: str,
        turns: Words | Sequence[Words],
        *,
        session: str | None = None,
        at: datetime | None = None,
    ) -> RecordedTurns:
        """Record turns; durable on return. A text is the user's; messages are mappings as OpenAI's
        clients use them (`role`, `content`), or `Utterance`. A turn id that is already known is not
        recorded again: the result is a tuple of turns whose `new` are the ids that this call
        recorded. `session` names a conversation: its turns go into its open session, whatever their
        times, until that is ended by `end_session` or found idle by the memory's own clock; then
        the conversation goes on in another one. Without it, a pause in the times of the turns of
        more than `Settings.idle` begins another session, and a time that goes back does not: end
        the session between old conversations, or record them in the order of time."""
        return await self._services.recorder.record(
            self._owner(user), utterances(turns), session=session, now=self._said_at(at)
        )

    @asynccontextmanager
    async def exchange(
        self,
        user: str,
        messages: Messages,
        *,
        session: str | None = None,
        at: datetime | None = None,
        budget: int | None = None,
        tolerant: bool = False,
    ) -> AsyncIterator[Exchange]:
        """One message and its reply, with a model of your own:

            async with memory.exchange("ana", "What is my cat called?") as turn:
                reply = await ask(turn.messages)
                await turn.finish(reply)

        Before the block is entered, the message is recorded durably, and `turn.messages` has what
        memory adds (the reasons are in `turn.why`). Of messages with a history only the new ones
        are recorded, and a request that is sent again records none. Without a history, give the
        text alone, which is always new: a list of the newest message looks like the first request
        of a conversation sent again, if the session began with the same words. With `tolerant`, an
        error of memory is noted in `turn.problems` instead of raised, so that it never stops a
        chat."""
        yield await self.begin(
            user, messages, session=session, at=at, budget=budget, tolerant=tolerant
        )

    async def begin(
        self,
        user: str,
        messages: Messages,
        *,
        session: str | None = None,
        at: datetime | None = None,
        budget: int | None = None,
        tolerant: bool = False,
        patience: float | None = None,
    ) -> Exchange:
        """Begin an exchange without a `with` block, for a reply that outlives it: call its
        `finish`. A tolerant one waits for memory at most `patience` seconds."""
        asking = self._asking(user, messages, session=session, at=at)
        asking = replaced(
            asking, budget=checked_budget(budget), tolerant=tolerant, patience=patience
        )
        return await self._services.exchanges.begin(asking)

    async def context(
        self,
        user: str,
        messages: Messages,
        *,
        at: datetime | None = None,
        budget: int | None = None,
    ) -> Context:
        """What memory adds to the prompt of the reply to these messages: as `text`, or as whole
        `messages`, with at most `budget` tokens of memory. Nothing is recorded."""
        given = () if isinstance(messages, str | Utterance) else chat_messages(messages)
        said = utterances(given or messages)
        from_user = [i for i, utterance in enumerate(said) if utterance.speaker is Speaker.USER]
        if not from_user:
            raise BadInput("no message is the user's: there is nothing to find a context for")
        method = await self._services.methods.of(self._owner(user))
        context = await method.contexts.for_words(
            said[: from_user[-1] + 1],
            owner=self._owner(user),
            now=self._now(at),
            budget=checked_budget(budget),
        )
        answered = [i for i, m in enumerate(given) if utterances(m) and m["role"] == "user"]
        return replaced(context, given=given, last=answered[-1] if answered else 0)

    async def reply(
        self,
        user: str,
        text: str,
        *,
        session: str | None = None,
        at: datetime | None = None,
        id: str | None = None,  # noqa: A002 - the same word as in `record`
        again: bool = False,
        replaces: str | None = None,
    ) -> Reply:
        """Record the user's message, and stream a reply to it that uses the memory.

        With `again`, a message whose id is known gets a new reply in place of the former one.
        `replaces` is the id of an earlier message that this one and its reply take the place of,
        with all that was said since. Both raise `ConflictingTurn` once that session has ended."""
        services = self._services
        message = Utterance(speaker=Speaker.USER, text=text, id=id)
        asking = self._asking(user, message, session=session, at=at)
        taken_back = await turns_taken_back(
            self._store, asking.owner, again=id if again else None, replaces=replaces
        )
        asking = replaced(asking, replaces=taken_back)
        exchange = await services.exchanges.begin(asking)
        context = exchange.context
        assert context is not None  # noqa: S101 - a strict exchange has one, or raised
        account = Account(
            ledger=self._store.ledger,
            clock=services.clock,
            owner=exchange.owner,
            session=exchange.session,
        )
        request = context.request(window=services.model.window)
        draft = Draft(lambda asked: account.stream(services.model, asked, CallPurpose.REPLY))
        return Reply(
            turn=exchange.turn,
            contributions=exchange.why,
            pieces=stream_reply(
                context.stream(request, draft.ask),
                record=lambda said: exchange.finish(Answer(text=said, once=again)),
                cut_loops=context.cut_loops,
            ),
            draft=draft,
            mark=exchange.turns.mark,
        )

    async def recall(
        self,
        user: str,
        query: str,
        *,
        at: datetime | None = None,
        k: int = 10,
        budget: int | None = None,
        asker: Speaker = Speaker.USER,
        kinds: Collection[MemoryKind | str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        speaker: Speaker | str | None = None,
        about: str | None = None,
        tags: Collection[str] = (),
    ) -> RecallResult:
        """What is relevant to `query`, best first, without a model call. `asker` is who "I" is in
        it. `kinds` (turn, fact, event, memo, sentence), `since`, `until` and `speaker` (of a turn)
        limit what is found; `about` (whom) and `tags` (any of them) limit it to such facts. The
        result is a tuple of items; its `support` says how likely it is that anything is known about
        the query."""
        query = both_ends(checked_text(query, max_chars=self._settings.max_turn_chars))
        owner = self._owner(user)
        only = recall_filter(
            kinds=kinds,
            usual=usual_kinds(self._services.layers),
            since=since,
            until=until,
            speaker=speaker,
            about=about,
            tags=tags,
        )
        with self._services.telemetry.operation(MemoryOperation.SEARCH, owner) as observed:
            observed.asked(query)
            found = await self._services.recall(
                owner,
                query,
                summary=lambda: self.summary(user, at=at),
                at=self._now(at),
                k=checked_count(k),
                budget=checked_budget(budget),
                asker=checked_speaker(asker, "asker"),
                only=only,
            )
            observed.records(len(found), (item.text for item in found))
        return found

    async def explain(
        self, user: str, text: str, *, at: datetime | None = None
    ) -> RecallExplanation:
        """Every event that was considered for `text`, and why it is recalled or not."""
        text = both_ends(checked_text(text, max_chars=self._settings.max_turn_chars))
        owner = self._owner(user)
        recall = await self._services.human_recall(owner)
        return await recall.explain(owner, text, now=self._now(at), language=detect_language(text))

    async def curves(
        self,
        user: str,
        *,
        at: datetime | None = None,
        days: float = 90.0,
        newest: int | None = None,
    ) -> tuple[ForgettingCurve, ...]:
        """How events that are not superseded fade, and how they would after a recall; with
        `newest`, only that many of the newest."""
        owner = self._owner(user)
        recall = await self._services.human_recall(owner)
        return await recall.curves(owner, now=self._now(at), days=days, newest=newest)

    async def calibrate(self, user: str, *, at: datetime | None = None) -> Calibration:
        """Fit the calibration to the user's own turns and events; it is used from now on."""
        owner = self._owner(user)
        return await (await self._services.human_recall(owner)).refit(owner, now=self._now(at))

    async def end_session(
        self, user: str, *, session: int | None = None, at: datetime | None = None
    ) -> tuple[Session, ...]:
        """End the user's open sessions, or one of them. They are digested in the background;
        `run_jobs` waits for that."""
        ended = await self._store.turns.end(self._owner(user), session=session, at=self._now(at))
        self._services.worker.wake()
        return ended

    async def end_idle(self, *, at: datetime | None = None) -> int:
        """End the sessions that were idle for longer than `Settings.idle`, and those whose last
        turn is dated more than a day ahead. Returns how many."""
        now, idle = self._now(at), self._settings.idle
        turns = self._store.turns
        ended = await turns.end_idle(self.tenant, before=now - idle, after=now + AHEAD)
        if ended:
            self._services.worker.wake()
        return ended

    async def run_jobs(self) -> int:
        """Run all jobs that are due, and wait for them. Returns how many were started."""
        return await self._services.worker.drain(self.tenant)

    # ── Repairing ───────────────────────────────────────────────────────────────────────────

    async def retry(
        self, user: str, *, job: int | None = None, at: datetime | None = None
    ) -> tuple[Job, ...]:
        """Queue the user's dead jobs again, or one of them. Returns them as they were before."""
        dead = await self.jobs(user, states=[JobState.DEAD])
        chosen = tuple(j for j in dead if job in (None, j.id))
        if job is not None and not chosen:
            raise NoSuchJob(f"job {job} is not among the dead jobs of {user}")
        now = self._now(at)
        for j in chosen:
            await self._store.jobs.set_state(j, state=JobState.WAITING, error=j.error, due=now)
        self._services.worker.wake()
        return chosen

    async def digest(
        self, user: str, *, session: int, at: datetime | None = None
    ) -> tuple[Job, ...]:
        """Queue a session to be digested again, in place of jobs of it that were given up. Returns
        its waiting jobs."""
        if session not in {s.number for s in await self.sessions(user)}:
            raise NoSuchSession(f"{user} has no session {session}")

        async def of_session(state: JobState) -> tuple[Job, ...]:
            jobs = await self.jobs(user, states=[state])
            return tuple(j for j in jobs if j.session == session and j.task is JobTask.DIGEST)

        await self._queue(user, JobTask.DIGEST, session=session, at=at)
        for job in await of_session(JobState.DEAD):
            await self._store.jobs.set_state(job, state=JobState.DONE)
        return await of_session(JobState.WAITING)

    async def embed(self, user: str, *, at: datetime | None = None) -> None:
        """Queue a job that embeds everything of the user's that has no vector."""
        if self._owner(user).user not in await self.users():
            raise BadInput(f"nothing is stored about {user}: there is nothing to embed")
        await self._queue(user, JobTask.EMBED, session=None, at=at)

    # ── Forgetting ──────────────────────────────────────────────────────────────────────────

    async def erase(
        self,
        user: str,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
    ) -> Erased:
        """Remove for good: the user, or a session, or turns, or sentences of the summary, or facts
        by their ids. The result counts what was removed, and has a signed `receipt`."""
        what = ErasureTarget(session=session, turns=turns, sentences=sentences, facts=facts)
        erased = await self._services.erasures.erase(owner := self._owner(user), what)
        self._services.methods.forget(owner)
        return erased

    async def is_genuine(self, receipt: Receipt) -> bool:
        """Whether a receipt was signed by this database for this tenant, and not changed since."""
        return receipt.tenant == self.tenant and await self._services.erasures.is_genuine(receipt)

    # ── Internal ────────────────────────────────────────────────────────────────────────────

    def _asking(
        self, user: str, messages: Messages, *, session: str | None, at: datetime | None
    ) -> Asking:
        owner = self._owner(user)
        at = None if at is None else aware(at, "at")
        session = None if session is None else normal_name(session, "a session's key")
        if isinstance(messages, str | Utterance):
            return Asking.words(owner, utterances(messages)[0], session=session, at=at)
        return replaced(Asking.chat(owner, chat_messages(messages), session=session), at=at)

    async def _queue(
        self, user: str, task: JobTask, *, session: int | None, at: datetime | None
    ) -> None:
        now = self._now(at)
        await self._store.jobs.enqueue(self._owner(user), task, session=session, at=now)
        self._services.worker.wake()
