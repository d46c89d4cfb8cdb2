"""Everything that is stored about one owner."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omoide.documents.codec import dumps, loads
from omoide.domain import Event, Job, JobState, JobTask, Memo, MemoryKind
from omoide.errors import StaleVersion
from omoide.language.terms import last_characters, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omoide.domain import Fact, ModelCall, Note, Owner, RejectedAnswer, Session, Summary, Turn

AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
"""Due time of jobs that follow from turns, whose own times may be in the future."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something that search can find."""

    id: str
    words: str
    """The text that word search uses."""
    meaning: str
    """The text that is embedded."""


@dataclass
class Record:
    """The data of one owner. Never change a record that was read: `copy` it first."""

    owner: Owner
    sessions: dict[int, Session] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    """Ordered by position."""
    versions: list[Summary] = field(default_factory=list)
    aside: list[RejectedAnswer] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """In the order they were stored; so are memos and facts."""
    memos: list[Memo] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    """A new job has a negative id until it is written."""
    until: dict[int, datetime] = field(default_factory=dict)
    """When the lease of a running job ends, by the job's id."""
    calls: list[ModelCall] = field(default_factory=list)
    vectors: dict[str, bytes] = field(default_factory=dict)
    """By space, kind and id (`vector_key`)."""
    last_session: int = 0
    last_position: int = 0
    """The highest session number and position ever used."""
    erasures: int = 0
    identity: str = ""
    """Given when the owner is first stored, so that one who was erased and is back is another."""

    @property
    def stored(self) -> bool:
        """Whether anything is stored about the owner."""
        return self != Record(self.owner)

    @property
    def erasure_mark(self) -> str:
        """See `Archive.erasure_mark`."""
        return f"{self.identity}.{self.erasures}" if self.stored else ""

    def copy(self) -> Record:
        """A copy that may be changed."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        copied: dict[str, Any] = {
            k: v.copy() if isinstance(v, list | dict) else v for k, v in values.items()
        }
        return Record(**copied)

    def encode(self) -> bytes:
        """Encode as a document."""
        content: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        content["sessions"] = list(self.sessions.values())
        content["until"] = list(self.until.items())
        return dumps(content)

    @classmethod
    def decode(cls, document: bytes) -> Record:
        """Decode from a document."""
        content = loads(document)
        content["sessions"] = {session.number: session for session in content["sessions"]}
        content["until"] = dict(content["until"])
        values: dict[str, Any] = {
            k: list(v) if isinstance(v, tuple) else v for k, v in content.items()
        }
        return cls(**values)

    @cached_property
    def found(self) -> Mapping[MemoryKind, tuple[Item, ...]]:
        """What search can find, by kind, in the order it was stored."""
        return {
            MemoryKind.TURN: tuple(Item(id=t.id, words=t.text, meaning=t.text) for t in self.turns),
            MemoryKind.EVENT: tuple(
                Item(id=e.id, words=e.text, meaning=e.text)
                for e in self.events
                if e.superseded_by is None
            ),
            MemoryKind.MEMO: tuple(
                Item(
                    id=m.id,
                    words=f"{m.topic}\n{m.summary}\n{m.compressed}",
                    meaning=f"{m.topic}: {m.summary}",
                )
                for m in self.memos
                if m.folded_into is None
            ),
            MemoryKind.FACT: tuple(
                Item(id=f.id, words=f.text, meaning=f.text) for f in self.facts if f.ended is None
            ),
        }

    @cached_property
    def counts(self) -> Mapping[MemoryKind, tuple[tuple[Counter[str], int], ...]]:
        """The term counts of each item, and its number of terms."""
        return {
            kind: tuple(
                (Counter([*(all_ := terms(item.words)), *last_characters(item.words)]), len(all_))
                for item in items
            )
            for kind, items in self.found.items()
        }

    def queue(
        self,
        task: JobTask,
        *,
        session: int | None,
        created: datetime,
        due: datetime = AT_ONCE,
    ) -> None:
        """Queue a job."""
        self.jobs.append(
            Job(
                id=min([0, *(job.id for job in self.jobs)]) - 1,
                owner=self.owner,
                task=task,
                session=session,
                state=JobState.WAITING,
                attempts=0,
                created=created,
                due=due,
            )
        )

    def queue_embedding(self, created: datetime) -> None:
        """Queue an embed job, unless one is waiting already."""
        if not any(j.task == JobTask.EMBED and j.state is JobState.WAITING for j in self.jobs):
            self.queue(JobTask.EMBED, session=None, created=created)

    def end(self, session: Session, *, at: datetime, digest: bool = True) -> Session:
        """End a session and queue its digest."""
        ended = self.sessions[session.number] = replace(session, ended=at)
        if digest:
            self.queue(JobTask.DIGEST, session=session.number, created=at)
        return ended

    def drop_vectors(self, kind: MemoryKind, ids: Iterable[str]) -> None:
        """Remove the vectors of items in every space."""
        for key in self._vectors_of(kind, ids):
            del self.vectors[key]

    def count_vectors(self, kind: MemoryKind, ids: Iterable[str]) -> int:
        """How many vectors items have, in every space."""
        return len(self._vectors_of(kind, ids))

    def _vectors_of(self, kind: MemoryKind, ids: Iterable[str]) -> list[str]:
        named = {f"/{kind}/{name}" for name in ids}
        return [key for key in self.vectors if key[key.index("/") :] in named]

    def refuse_erased(
        self,
        what: str,
        *,
        cited: Iterable[str] = (),
        sessions: Iterable[int] = (),
        facts: Iterable[str] = (),
    ) -> None:
        """Raise `StaleVersion` for memory that was made from erased turns or facts. Only if
        something was erased: otherwise an unknown source is the caller's own choice."""
        if not self.erasures:
            return
        numbers = {number for number in sessions if number <= self.last_session}
        stated = {name for name in facts if name}
        if (
            set(cited) - {turn.id for turn in self.turns}
            or numbers - self.sessions.keys()
            or stated - {fact.id for fact in self.facts}
        ):
            raise StaleVersion(
                f"{what} cites turns or facts that were erased meanwhile; make it again"
            )


def vector_key(space: str, kind: MemoryKind, name: str) -> str:
    """The key of a vector; slashes in the name of its space are escaped."""
    return f"{space.replace('%', '%25').replace('/', '%2F')}/{kind}/{name}"
