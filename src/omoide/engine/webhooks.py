"""Tells other programs what happened to a memory, as durable work.

A NOTIFY job is queued when a session was digested or work was given up. What it tells is read from
the store when it is delivered: so nothing is kept twice, what was erased meanwhile is not told, and
a delivery that failed is tried again like any job. An event may be delivered more than once; its id
is the same each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import JobState, JobTask
from omoide.domain.webhook import WebhookEvent, WebhookKind
from omoide.errors import WebhookFailed

if TYPE_CHECKING:
    from omoide.domain import Fact, Job
    from omoide.ports import Clock, Store
    from omoide.ports.webhooks import WebhookSender


SOON = timedelta(seconds=2)
"""After which an event is delivered."""


@dataclass(frozen=True, kw_only=True)
class Webhooks:
    """Queues and delivers events."""

    store: Store
    clock: Clock
    sender: WebhookSender | None
    texts: bool = False
    """Whether events have the texts of facts."""

    async def queue(self, job: Job, state: JobState) -> None:
        """Queue what is to be told about a job that is about to end."""
        dead = state is JobState.DEAD and job.task is not JobTask.NOTIFY
        if self.sender is None or not (dead or job.task is JobTask.DIGEST):
            return
        if not await self.store.turns.read(job.owner, session=job.session, last=1):
            return  # erased meanwhile
        due = self.clock.now() + SOON  # by then the job has ended
        await self.store.jobs.enqueue(job.owner, JobTask.NOTIFY, session=job.session, at=due)

    async def deliver(self, job: Job) -> None:
        """Deliver what a NOTIFY job is about."""
        if self.sender is None:
            raise WebhookFailed("no webhook is configured for this process: set OMOIDE_WEBHOOKS")
        for event in await self._events(job):
            await self.sender.send(event)

    async def _events(self, job: Job) -> list[WebhookEvent]:
        dead = await self.store.jobs.list(job.owner.tenant, owner=job.owner, states=[JobState.DEAD])
        given_up = [
            one for one in dead if one.session == job.session and one.task is not JobTask.NOTIFY
        ]
        events = [
            self._event(
                job, WebhookKind.JOB_DEAD, number=one.id, task=one.task.value, session=one.session
            )
            for one in given_up
        ]
        digest_failed = any(one.task is JobTask.DIGEST for one in given_up)
        return [*([] if digest_failed else await self._updates(job)), *events]

    async def _updates(self, job: Job) -> list[WebhookEvent]:
        if job.session is None:
            return []  # nothing was digested
        turns = await self.store.turns.read(job.owner, session=job.session)
        if not turns:
            return []  # it was erased since
        newest = await self.store.summaries.find(job.owner)
        facts = {fact.id: fact for fact in await self.store.facts.read(job.owner)}
        learned = [fact for fact in facts.values() if fact.session == job.session]
        said = {turn.id for turn in turns}
        ended = [
            fact
            for fact in facts.values()
            if fact.ended is not None
            and (
                (fact.ended_by in facts and facts[fact.ended_by].session == job.session)
                or not said.isdisjoint(fact.end_sources)
            )
        ]
        updated = self._event(
            job,
            WebhookKind.MEMORY_UPDATED,
            session=job.session,
            version=newest.number if newest else 0,
            facts=[self._fact(fact) for fact in learned],
        )
        superseded = [
            self._event(
                job,
                WebhookKind.FACT_SUPERSEDED,
                session=job.session,
                fact=self._fact(fact),
                by=self._fact(facts[fact.ended_by]) if fact.ended_by in facts else None,
            )
            for fact in ended
        ]
        return [updated, *superseded]

    def _fact(self, fact: Fact) -> dict[str, str]:
        return {"id": fact.id, **({"text": fact.text} if self.texts else {})}

    def _event(self, job: Job, kind: WebhookKind, **data: object) -> WebhookEvent:
        owner = job.owner
        return WebhookEvent(
            kind=kind, time=job.created, tenant=owner.tenant, user=owner.user, data=data
        )
