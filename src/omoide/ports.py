"""What the outside must offer. The docstrings are the contract; `tests/contract` holds every
adapter to it.

All times are aware datetimes in UTC. All methods are safe to call from many tasks at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from datetime import datetime, timedelta

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import (
        Call,
        Job,
        Owner,
        Rejected,
        Said,
        Session,
        State,
        Summary,
        Task,
        Turn,
    )

    Vectors = NDArray[np.float32]
    """One row a text, each of length 1."""


# ── Models ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a chat model. `schema` and `grammar` are wishes: a model that cannot
    be held to them answers freely, so whoever asks must parse with care."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0
    schema: Mapping[str, object] | None = None
    """JSON schema that the answer must satisfy."""
    grammar: str | None = None
    """GBNF grammar of the answer; only llama.cpp knows these. Not together with `schema`."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A finished answer and what it took."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish: Literal["stop", "length"]
    cached_tokens: int = 0
    """How many of the prompt's tokens were already computed."""


class ChatModel(Protocol):
    """A language model that answers messages."""

    @property
    def name(self) -> str:
        """What it is called in the account and in memory versions."""

    @property
    def window(self) -> int:
        """How many tokens prompt and answer may have together."""

    def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer in pieces as they come, then exactly one `Completion` with all of it.

        Closing the iterator early stops the generation. Raises `ModelUnavailable` (after the
        adapter's own bounded retries), `ModelStalled`, `ModelRefused` or `ContextTooLong`; and
        `DownloadFailed` or `MissingExtra` if it cannot be got ready at its first use.
        """

    async def count(self, text: str) -> int:
        """Number of tokens in `text`; an estimate where the tokenizer is out of reach."""

    async def close(self) -> None:
        """Let go of whatever it holds. Calling it again does nothing."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Where vectors live: only those of the same space may be compared."""

    name: str
    version: str
    dimensions: int


class Embedder(Protocol):
    """Turns text into vectors of length 1."""

    @property
    def space(self) -> Space:
        """The space of its vectors."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order. Raises `ModelError`; and `DownloadFailed` or
        `MissingExtra` if it cannot be got ready at its first use."""

    async def close(self) -> None:
        """Let go of whatever it holds. Calling it again does nothing."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""


# ── The store ───────────────────────────────────────────────────────────────────────────────


class Turns(Protocol):
    """What was said. Append-only: nothing here is ever changed, only erased by `Archive`."""

    async def append(
        self, owner: Owner, said: Sequence[Said], *, session: str | None, idle: timedelta
    ) -> tuple[Turn, ...]:
        """Record all of `said` in one transaction; durable on return, even against power loss.

        With `session` (the caller's key) they go into that session, opened if it is new; a key
        whose session has ended raises `NoSuchSession`. Without one they go into the newest open
        session without a key, unless its last turn is more than `idle` before, in which case it
        is ended as by `end`, at its last turn's time, and a new one opened. Times that go back
        do not cut.
        An id recorded before with the same speaker and text gives back the first turn and records
        nothing; with other words it raises `ConflictingTurn` and keeps nothing of the batch.
        Postings for full-text search are written, and an EMBED job is queued unless one is
        waiting, in the same transaction.
        """

    async def end(
        self, owner: Owner, *, session: int | None = None, at: datetime, digest: bool = True
    ) -> tuple[Session, ...]:
        """End that session (all open ones if None) and queue a DIGEST job for each, in one
        transaction. A session already ended stays as it is; those that this call ended come
        back in order. An unknown number raises `NoSuchSession`. Without `digest` no job is queued
        (for imports that bring their memory along)."""

    async def end_idle(self, tenant: str, *, before: datetime) -> int:
        """End, as by `end` at its last turn's time, each of the tenant's open sessions whose
        last turn is before that moment; how many."""

    async def sessions(self, owner: Owner) -> tuple[Session, ...]:
        """All sessions, oldest first."""

    async def read(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        ids: Sequence[str] | None = None,
        last: int | None = None,
    ) -> tuple[Turn, ...]:
        """Turns in order of position: of one session, with these ids, the last so many of what
        was chosen. Unknown ids are left out."""


class Summaries(Protocol):
    """The versions of the recursive summary, and answers that were kept from becoming one."""

    async def commit(self, owner: Owner, summary: Summary) -> None:
        """Add a version. Its number must follow the newest one's, or `StaleVersion` is raised
        and nothing is written; so it is for a second DIGEST version of one session, and for one
        that cites a turn or digests a session that was erased meanwhile."""

    async def find(
        self,
        owner: Owner,
        *,
        number: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary | None:
        """The newest version; or that number; or the newest that knows of no session later than
        `session`; or the newest whose time is not after `at`. None where there is none."""

    async def history(self, owner: Owner) -> tuple[Summary, ...]:
        """All versions, oldest first."""

    async def set_aside(self, owner: Owner, rejected: Rejected) -> None:
        """Keep an answer that did not become memory."""

    async def aside(self, owner: Owner) -> tuple[Rejected, ...]:
        """Answers kept aside, oldest first."""


class Jobs(Protocol):
    """Durable work, stored with the data it serves."""

    async def claim(
        self, tenant: str, *, worker: str, now: datetime, lease: timedelta
    ) -> Job | None:
        """Take the oldest job that is due, and hold it until `now + lease`.

        Jobs of one owner and one task run in order, one at a time, whoever the workers are; a
        job waiting for its next try holds back the later ones of its owner and task, a dead one
        does not. A job whose lease ran out, or whose worker is known to be gone, is taken again.
        """

    async def extend(self, job: Job, *, until: datetime) -> bool:
        """Hold a running job for longer; False if another worker has taken it."""

    async def settle(
        self, job: Job, *, state: State, error: str = "", due: datetime | None = None
    ) -> bool:
        """Put a job into a state: DONE, DEAD, or WAITING until `due`. False, and nothing done,
        if another worker has taken it meanwhile. Of what is DONE only the newest job of each
        owner and task is kept."""

    async def enqueue(self, owner: Owner, task: Task, *, session: int | None, at: datetime) -> None:
        """Queue a job unless the same one is waiting or running."""

    async def list(
        self, tenant: str, *, owner: Owner | None = None, states: Sequence[State] = ()
    ) -> tuple[Job, ...]:
        """Jobs, oldest first; all states if none are named."""


class Ledger(Protocol):
    """What the models cost."""

    async def add(self, owner: Owner, call: Call) -> None:
        """Write one call down."""

    async def calls(self, owner: Owner) -> tuple[Call, ...]:
        """All calls, oldest first."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A turn found by a search."""

    turn: str
    score: float


class Index(Protocol):
    """Search over one owner's turns. A turn is found by its words as soon as it is recorded."""

    async def words(self, owner: Owner, terms: Sequence[str], *, k: int) -> tuple[Hit, ...]:
        """The best turns by BM25 over this owner's turns alone, best first."""

    async def without_vector(self, owner: Owner, space: Space, *, limit: int) -> tuple[Turn, ...]:
        """The oldest turns that have no vector in `space` yet."""

    async def put(
        self, owner: Owner, space: Space, *, turns: Sequence[str], vectors: Vectors
    ) -> None:
        """Store one vector a turn, in place of one that is there; unknown turns are passed over.
        Raises `EmbedderMismatch` if `space.name` is in use in this database with another version
        or other dimensions, or if the array has not that shape."""

    async def nearest(
        self, owner: Owner, space: Space, query: Vectors, *, k: int
    ) -> tuple[Hit, ...]:
        """The turns whose vectors are nearest to the one row of `query` by cosine, best first.
        Raises `EmbedderMismatch` as `put` does."""


@dataclass(frozen=True, kw_only=True)
class Erased:
    """What an erasure removed."""

    sessions: int
    turns: int
    sentences: int
    """Sentences taken out of memory versions, every version counted."""


class Archive(Protocol):
    """Whole owners: who there is, and removal for good."""

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """Everyone of whom anything is stored, by name."""

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
    ) -> Erased:
        """Remove for good: everything of the owner if nothing is named; or one session; or
        these turns; or sentences with exactly these texts.

        In every version of the summary, a sentence that cites a removed turn goes too, and so
        does one without any source in versions that know of that session, since it may rest on
        it. Answers set aside for that session or later ones go, and so do notes and job errors
        that may quote it. Versions are changed in place: this is the only way they ever are. What
        does not exist is passed over. The ledger, which holds no words, stays unless the owner
        goes. No byte of the text remains in the database's files when it returns; if another
        process keeps them from being cleaned, `StoreLocked` says so, and the next opening does it.
        """


class Store(Protocol):
    """One database, seen from its several sides."""

    @property
    def turns(self) -> Turns:
        """What was said."""

    @property
    def summaries(self) -> Summaries:
        """Versions of the summary."""

    @property
    def jobs(self) -> Jobs:
        """Work for models."""

    @property
    def ledger(self) -> Ledger:
        """What models cost."""

    @property
    def index(self) -> Index:
        """Search."""

    @property
    def archive(self) -> Archive:
        """Owners and erasure."""

    async def close(self) -> None:
        """Close it. Calling it again does nothing."""
