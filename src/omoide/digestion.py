"""What the jobs do: digest a session into the summary, give turns their vectors."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from omoide.accounts import Account
from omoide.domain import Call, Origin, Purpose, Task
from omoide.errors import BadReply, StaleVersion
from omoide.language import estimate_tokens
from omoide.versions import nothing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from omoide.domain import Job
    from omoide.memory.recursive_summary import RecursiveSummary
    from omoide.ports import Clock, Embedder, Store

BATCH = 64


class Digestion:
    """The functions behind the tasks. Each may be run again after a crash: it does only what
    is not done yet."""

    def __init__(
        self,
        *,
        store: Store,
        summary: RecursiveSummary,
        embedder: Embedder | None,
        clock: Clock,
    ) -> None:
        self._store = store
        self._summary = summary
        self._embedder = embedder
        self._clock = clock

    @property
    def tasks(self) -> Mapping[Task, Callable[[Job], Awaitable[None]]]:
        """Which function does which task."""
        return {Task.DIGEST: self.digest, Task.EMBED: self.embed}

    async def digest(self, job: Job) -> None:
        """Rewrite the memory from the session. Raises `BadReply` if no answer would do: then
        the answers lie aside and the old memory stands."""
        history = await self._store.summaries.history(job.owner)
        if any(v.session == job.session and v.origin is Origin.DIGEST for v in history):
            return
        turns = await self._store.turns.read(job.owner, session=job.session)
        if not turns:  # erased since
            return
        sessions = await self._store.turns.sessions(job.owner)
        ended = next((s.ended for s in sessions if s.number == job.session), None)
        ended = ended or self._clock.now()
        model = self._summary.model
        account = Account(
            ledger=self._store.ledger, clock=self._clock, owner=job.owner, session=job.session
        )
        result = await self._summary.digest(
            old=history[-1] if history else nothing(ended, turns[0].language),
            turns=turns,
            at=ended,
            ask=account.asker(model, Purpose.DIGEST),
        )
        if await self._store.turns.read(job.owner, session=job.session) != turns:
            raise StaleVersion(f"session {job.session} was erased in part meanwhile")
        for rejected in result.rejected:
            await self._store.summaries.set_aside(job.owner, rejected)
        if result.summary is None:
            why = " ".join(result.rejected[-1].problems)
            raise BadReply(
                f"{model.name} gave no usable memory of session {job.session} in "
                f"{len(result.rejected)} tries: {why} The old memory stands."
            )
        await self._store.summaries.commit(job.owner, result.summary)

    async def embed(self, job: Job) -> None:
        """Give a vector to every turn of the owner that has none."""
        if self._embedder is None:
            return
        space = self._embedder.space
        while turns := await self._store.index.without_vector(job.owner, space, limit=BATCH):
            began = monotonic()
            vectors = await self._embedder.embed([turn.text for turn in turns])
            await self._store.index.put(
                job.owner, space, ids=[turn.id for turn in turns], vectors=vectors
            )
            call = Call(
                purpose=Purpose.EMBED,
                model=space.name,
                session=None,
                prompt_tokens=sum(estimate_tokens(turn.text) for turn in turns),
                completion_tokens=0,
                seconds=monotonic() - began,
                time=self._clock.now(),
            )
            await self._store.ledger.add(job.owner, call)
