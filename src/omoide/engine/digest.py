"""What the jobs do: let every mechanism digest a session, and embed what has no vector yet."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from omoide.domain import CallPurpose, JobTask, MemoryKind, ModelCall, Speaker
from omoide.domain.time import in_zone
from omoide.engine.ledger import Account
from omoide.errors import BadReply, NoModel
from omoide.language import dominant_language, estimate_tokens
from omoide.mechanisms.base import DigestsOpenSessions, SessionToDigest
from omoide.ports.store import ExternalVectors
from omoide.ports.telemetry import OFF, MemoryOperation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from omoide.domain import Job, Turn
    from omoide.engine.methods import Method, Methods
    from omoide.ports import ChatModel, Clock, Embedder, Store
    from omoide.ports.telemetry import Telemetry

BATCH = 64
NO_MODEL = (
    "no chat model is configured: set OMOIDE_MODEL or --model (see `omoide models list`), or give "
    "`model=` when opening"
)
STEP = 8
"""The length of an open session is checked every time this many turns were added."""
LONG = 512
"""It is also checked when this many tokens were recorded at once."""


def has_grown(recorded: Sequence[Turn]) -> bool:
    """Whether the turns just recorded are a reason to check the session's length."""
    tokens = sum(estimate_tokens(turn.text) for turn in recorded)
    return any(turn.position % STEP == 0 for turn in recorded) or tokens >= LONG


class Digestion:
    """The functions that do the jobs. Each may be run again after a crash: it does only what is not
    done yet."""

    def __init__(
        self,
        *,
        store: Store,
        methods: Methods,
        model: ChatModel | None,
        embedder: Embedder | None,
        clock: Clock,
        telemetry: Telemetry = OFF,
    ) -> None:
        self._telemetry = telemetry
        self._store = store
        self._methods = methods
        self._model = model
        self._embedder = embedder
        self._clock = clock

    @property
    def tasks(self) -> Mapping[JobTask, Callable[[Job], Awaitable[None]]]:
        """The function for each task."""
        return {
            JobTask.DIGEST: self.digest,
            JobTask.EMBED: self.embed,
            JobTask.DIGEST_OPEN: self.digest_open,
        }

    async def digest(self, job: Job) -> None:
        """Let each mechanism digest the session. If one gets no usable answer from the model, the
        others still run; its `BadReply` is raised when all are done."""
        method = await self._methods.of(job.owner)
        if session := await self._session(job, method):
            digests = [mechanism.digest for mechanism in method.mechanisms]
            digests += [layer.digest for layer in method.layers]
            with self._telemetry.operation(MemoryOperation.DIGEST, job.owner):
                await self._each(session, digests)

    async def digest_open(self, job: Job) -> None:
        """Let the mechanisms that can digest a session while it is open do so. A session that has
        ended meanwhile is digested as a whole by its own job."""
        method = await self._methods.of(job.owner)
        session = await self._session(job, method)
        if session and session.session.open:
            digests = [
                m.digest_open for m in method.mechanisms if isinstance(m, DigestsOpenSessions)
            ]
            await self._each(session, digests)

    async def _session(self, job: Job, method: Method) -> SessionToDigest | None:
        turns = await self._store.turns.read(job.owner, session=job.session)
        sessions = await self._store.turns.sessions(job.owner)
        session = next((s for s in sessions if s.number == job.session), None)
        if session is None or not turns:  # erased since
            return None
        if self._model is None:
            raise NoModel(NO_MODEL)
        account = Account(
            ledger=self._store.ledger, clock=self._clock, owner=job.owner, session=job.session
        )
        from_user = [turn.text for turn in turns if turn.speaker is Speaker.USER]
        zone = method.contexts.timezone
        return SessionToDigest(
            owner=job.owner,
            session=session,
            turns=tuple(replace(turn, time=in_zone(turn.time, zone)) for turn in turns),
            language=dominant_language(from_user or [turn.text for turn in turns]),
            ask=account.asker(self._model, CallPurpose.DIGEST),
            timezone=zone,
        )

    async def _each(
        self,
        session: SessionToDigest,
        digests: Sequence[Callable[[SessionToDigest], Awaitable[object]]],
    ) -> None:
        failures: list[BadReply] = []
        for digest in digests:
            try:
                await digest(session)
            except BadReply as error:
                failures.append(error)
        if failures:
            raise BadReply(" ".join(str(error) for error in failures)) from failures[0]

    async def embed(self, job: Job) -> None:
        """Embed every turn, event, memo and fact of the owner that has no vector. In a separate
        vector store, the vectors of erased items are removed first."""
        index = self._store.index
        if isinstance(index, ExternalVectors):
            await index.reconcile(job.owner)
        if self._embedder is None:
            return
        space = self._embedder.space
        for kind in (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT):
            while items := await index.without_vector(job.owner, space, limit=BATCH, kind=kind):
                began = monotonic()
                vectors = await self._embedder.embed([item.text for item in items])
                ids = [item.id for item in items]
                await index.put(job.owner, space, ids=ids, vectors=vectors, kind=kind)
                call = ModelCall(
                    purpose=CallPurpose.EMBED,
                    model=space.name,
                    session=None,
                    prompt_tokens=sum(estimate_tokens(item.text) for item in items),
                    completion_tokens=0,
                    seconds=monotonic() - began,
                    time=self._clock.now(),
                )
                await self._store.ledger.add(job.owner, call)
