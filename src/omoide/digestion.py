"""What the jobs do: let every mechanism digest a session, give what was stored its vectors."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from omoide.accounts import Account
from omoide.domain import Call, Kind, Purpose, Speaker, Task
from omoide.errors import BadReply
from omoide.language import dominant, estimate_tokens
from omoide.memory.mechanism import Ended, KeepingUp
from omoide.ports.store import Derived

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from omoide.domain import Job, Turn
    from omoide.memory.mechanism import Mechanism
    from omoide.ports import ChatModel, Clock, Embedder, Store

BATCH = 64
STEP = 8
"""After so many turns it is looked whether a session that goes on has grown long."""
LONG = 512
"""Or after so many tokens at once."""


def grown(recorded: Sequence[Turn]) -> bool:
    """Whether what was just recorded is a reason to look at the session's length."""
    said = sum(estimate_tokens(turn.text) for turn in recorded)
    return any(turn.position % STEP == 0 for turn in recorded) or said >= LONG


class Digestion:
    """The functions behind the tasks. Each may be run again after a crash: it does only what
    is not done yet."""

    def __init__(
        self,
        *,
        store: Store,
        mechanisms: Sequence[Mechanism],
        model: ChatModel,
        embedder: Embedder | None,
        clock: Clock,
    ) -> None:
        self._store = store
        self._mechanisms = mechanisms
        self._model = model
        self._embedder = embedder
        self._clock = clock

    @property
    def tasks(self) -> Mapping[Task, Callable[[Job], Awaitable[None]]]:
        """Which function does which task."""
        return {Task.DIGEST: self.digest, Task.EMBED: self.embed, Task.KEEP_UP: self.keep_up}

    async def digest(self, job: Job) -> None:
        """Let each mechanism take in the session. One that got nothing usable out of the model
        does not keep the others from it; its `BadReply` is raised when all are done."""
        if ended := await self._session(job):
            await self._each(ended, [mechanism.digest for mechanism in self._mechanisms])

    async def keep_up(self, job: Job) -> None:
        """Let the mechanisms that can write down a session while it goes on. One that has ended
        meanwhile is digested whole by its own job."""
        going = await self._session(job)
        if going and going.session.open:
            keeping = [m.keep_up for m in self._mechanisms if isinstance(m, KeepingUp)]
            await self._each(going, keeping)

    async def _session(self, job: Job) -> Ended | None:
        turns = await self._store.turns.read(job.owner, session=job.session)
        sessions = await self._store.turns.sessions(job.owner)
        session = next((s for s in sessions if s.number == job.session), None)
        if session is None or not turns:  # erased since
            return None
        account = Account(
            ledger=self._store.ledger, clock=self._clock, owner=job.owner, session=job.session
        )
        from_user = [turn.text for turn in turns if turn.speaker is Speaker.USER]
        return Ended(
            owner=job.owner,
            session=session,
            turns=turns,
            language=dominant(from_user or [turn.text for turn in turns]),
            ask=account.asker(self._model, Purpose.DIGEST),
        )

    async def _each(
        self, ended: Ended, works: Sequence[Callable[[Ended], Awaitable[object]]]
    ) -> None:
        failures: list[BadReply] = []
        for work in works:
            try:
                await work(ended)
            except BadReply as error:
                failures.append(error)
        if failures:
            raise BadReply(" ".join(str(error) for error in failures)) from failures[0]

    async def embed(self, job: Job) -> None:
        """Give a vector to every turn, event and memo of the owner that has none. Where vectors
        lie elsewhere, those of what was erased go first."""
        index = self._store.index
        if isinstance(index, Derived):
            await index.tidy(job.owner)
        if self._embedder is None:
            return
        space = self._embedder.space
        for kind in (Kind.TURN, Kind.EVENT, Kind.MEMO):
            while items := await index.without_vector(job.owner, space, limit=BATCH, kind=kind):
                began = monotonic()
                vectors = await self._embedder.embed([item.text for item in items])
                ids = [item.id for item in items]
                await index.put(job.owner, space, ids=ids, vectors=vectors, kind=kind)
                call = Call(
                    purpose=Purpose.EMBED,
                    model=space.name,
                    session=None,
                    prompt_tokens=sum(estimate_tokens(item.text) for item in items),
                    completion_tokens=0,
                    seconds=monotonic() - began,
                    time=self._clock.now(),
                )
                await self._store.ledger.add(job.owner, call)
