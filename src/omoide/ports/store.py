"""What a database must offer, seen from its several sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import (
        Call,
        Event,
        Job,
        Memo,
        Note,
        Owner,
        Rejected,
        Said,
        Session,
        Speaker,
        State,
        Summary,
        Task,
        Turn,
    )
    from omoide.ports.models import Space, Vectors

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]


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
        back in order. The jobs are due at once, whatever `at` says. An unknown number raises
        `NoSuchSession`. Without `digest` no job is queued (for imports that bring their memory
        along)."""

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
        """Keep an answer that did not become memory. One about a session that is not there, since
        it was erased meanwhile, is passed over: it would bring its words back."""

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
        """Write one call down; nothing for an owner of whom nothing is stored, since they were
        erased meanwhile."""

    async def calls(self, owner: Owner) -> tuple[Call, ...]:
        """All calls, oldest first."""


class Events(Protocol):
    """Single things that happened, and how often each came to mind."""

    async def add(self, owner: Owner, events: Sequence[Event]) -> None:
        """Store new events, with postings for full-text search, and queue an EMBED job unless one
        is waiting, in one transaction. An id that is there already is passed over. Raises
        `StaleVersion` for one that cites a turn or a session that was erased meanwhile."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Event, ...]:
        """All events, or those with these ids, in the order they were told. Unknown ids are left
        out."""

    async def consolidate(self, owner: Owner, events: Sequence[Event]) -> int:
        """Write down that these events came to mind: each is given as it is *after* the recall
        (`Event.recalled`), and written only if the stored one has one recall less, so that two
        who recalled at once do not count as one. All in one transaction; how many were written."""

    async def supersede(self, owner: Owner, *, old: str, by: str) -> None:
        """Note that the event `old` is no longer true since the event `by`; the latest call counts.
        Unknown ids, and an event that would supersede itself, are passed over."""


class Memos(Protocol):
    """Stretches of dialogue by topic."""

    async def add(self, owner: Owner, memos: Sequence[Memo]) -> None:
        """Store new memos, with postings for full-text search over topic, summary and compressed
        text, and queue an EMBED job unless one is waiting, in one transaction. An id that is there
        is passed over. Raises `StaleVersion` as `Events.add` does."""

    async def read(self, owner: Owner, *, ids: Sequence[str] | None = None) -> tuple[Memo, ...]:
        """All memos, or those with these ids, oldest first. Unknown ids are left out."""

    async def fold(self, owner: Owner, *, ids: Sequence[str], into: Memo) -> None:
        """Add the memo `into` and mark those with these ids as folded into it, in one
        transaction. Nothing is deleted: a folded memo is still read, and no longer searched.
        Unknown ids are passed over; an `into` that is there is kept, so that the call can be
        made again. Raises `StaleVersion` as `add` does."""


class Notes(Protocol):
    """Short texts that mechanisms keep about an owner: MemoryBank's daily summaries and its
    portrait, Generative Agents' reflections."""

    async def put(self, owner: Owner, note: Note) -> None:
        """Store a note in place of the one with the same kind and key. Raises `StaleVersion` for
        one made from a session that was erased meanwhile."""

    async def read(self, owner: Owner, *, kind: str | None = None) -> tuple[Note, ...]:
        """The notes of a kind, in order of their keys; of all kinds, in order of these, if None
        is named."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """An item found by a search."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Voice:
    """Someone who speaks in a conversation."""

    speaker: Speaker
    name: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Outline:
    """What is known of each turn of an owner beside its words: one entry a turn, session by
    session and in order within each, so that a turn's neighbours stand next to it."""

    ids: Sequence[str]
    places: Mapping[str, int]
    """Where each id stands."""
    session: Ints
    voices: tuple[Voice, ...]
    voice: Ints
    """Which of the voices speaks."""
    time: NDArray[np.datetime64]
    """When it was said, in UTC and microseconds."""
    length: Floats
    """How many terms it has."""
    telling: Floats
    """`omoide.language.terms.telling` of its text."""
    named: Ints
    """One row for each stretch of days that a turn speaks of: the turn's place in the outline,
    the first day and the last, as numbers of days (`date.toordinal`)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Postings:
    """Where a term occurs."""

    places: Ints
    """In the outline, each once."""
    counts: Floats
    """How often, there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """All turns of one owner in the light of one query, at one moment."""

    outline: Outline
    postings: Mapping[str, Postings]
    """Of the terms that occur."""
    cosines: Floats | None
    """Of each turn's vector with the query's; not a number where a turn has none yet. None if no
    vector was given or none is stored."""
    others: frozenset[Kind]
    """Which kinds of items there are to be found beside turns."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """An item to be embedded."""

    id: str
    text: str


class Index(Protocol):
    """Search over one owner's turns, events or memos. Each is found by its words as soon as it is
    stored. Memos that were folded into another, and events that were superseded, are not found.
    What is embedded is a turn's or event's text, and a memo's topic and summary. A term of one
    Chinese, Japanese or Korean character stands for every term that begins with it."""

    async def words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """The best items by BM25 over this owner's items of that kind alone, best first."""

    async def survey(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> Survey:
        """What is needed to weigh every turn of the owner at once: their outline, where the terms
        occur, and the cosines with the one row of `query`, all of one moment. Arrays may be shared
        with other callers: they are to be read only. Raises `EmbedderMismatch` as `put` does."""

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: Kind = Kind.TURN
    ) -> tuple[Text, ...]:
        """The items of the kind that have no vector in `space` yet, those stored first."""

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: Kind = Kind.TURN,
    ) -> None:
        """Store one vector an item, in place of one that is there; unknown items are passed over.
        Raises `EmbedderMismatch` if `space.name` is in use in this database with another version
        or other dimensions, or if the array has not that shape."""

    async def nearest(
        self, owner: Owner, space: Space, query: Vectors, *, k: int, kind: Kind = Kind.TURN
    ) -> tuple[Hit, ...]:
        """The items whose vectors are nearest to the one row of `query` by cosine, best first.
        Raises `EmbedderMismatch` as `put` does."""


@dataclass(frozen=True, kw_only=True)
class Erased:
    """What an erasure removed."""

    sessions: int
    turns: int
    sentences: int
    """Sentences taken out of memory versions, every version counted."""


class Archive(Protocol):
    """Whole owners: who there is, bringing one back, and removal for good."""

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """Everyone of whom anything is stored, by name."""

    async def put_back(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """Store sessions and turns of an export exactly as they were, numbers, positions and times
        and all, in one transaction, with postings and an EMBED job as `Turns.append` makes them
        and without DIGEST jobs; how many of each were new. Those whose number, or whose id, is
        there already are passed over; numbers and positions up to the highest are never given
        again. A turn at a position, or a key of a session, that another has raises
        `ConflictingTurn`, and nothing is kept."""

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

        Memos and events that cite a removed turn go, and all notes if any turn does; what such a
        memo or event had taken the place of is found again. `sentences` also removes events, memos
        and notes that hold one of the texts. In every
        version of the summary, a sentence that cites a removed turn goes too, and so
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
    def events(self) -> Events:
        """Things that happened."""

    @property
    def memos(self) -> Memos:
        """Dialogue by topic."""

    @property
    def notes(self) -> Notes:
        """What mechanisms keep."""

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
