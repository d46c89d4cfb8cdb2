"""The port for turns and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.domain import NewTurn, Owner, RecordedTurns, Session, Turn


class TurnStore(Protocol):
    """Stores turns and sessions. Append-only: turns are never changed, only erased by `Archive`,
    or replaced by a later reply to the same message."""

    async def append(
        self,
        owner: Owner,
        said: Sequence[NewTurn],
        *,
        session: str | None,
        idle: timedelta,
        answers: str | None = None,
        replaces: Sequence[str] = (),
    ) -> RecordedTurns:
        """Record all of `said` in one transaction; durable on return, even if power fails.

        With `session` (the caller's key for a conversation) the turns go into the newest session
        with that key, or into a new one if there is none or it has ended. Without a key they go
        into the newest open session that has no key. If its last turn is more than `idle` earlier,
        that session is ended as by `end`, at its last turn's time, and a new one is opened. A time
        that goes backwards does not start a new session: where two clocks differ, each message
        would end the session of the one before, and each of these would cost a digest.

        A known id with the same speaker and text returns the first turn, records nothing, and is
        not in `new` of the result. With a different speaker or text it raises `ConflictingTurn`,
        and nothing of the batch is stored.

        `answers` is the id of the turn that these answer. If it does not exist (it was erased
        meanwhile), nothing is recorded and the result is empty.

        `replaces` are ids of turns that these take the place of, such as a reply that broke off.
        Those in sessions that are still open are removed in the same transaction. It is not an
        erasure: their bytes may remain in the files. If nothing is said in their place, a session
        that they leave empty goes with them.

        Postings for full-text search are written, and an EMBED job is queued unless one is
        waiting, in the same transaction.
        """

    async def end(
        self, owner: Owner, *, session: int | None = None, at: datetime, digest: bool = True
    ) -> tuple[Session, ...]:
        """End that session (all open ones if None) and queue a DIGEST job for each, in one
        transaction. Returns the sessions that this call ended, in order; sessions that had ended
        before stay unchanged. The jobs are due at once, whatever `at` is. Raises `NoSuchSession`
        for an unknown number. Without `digest` no job is queued (for imports that include the
        digested memory)."""

    async def end_idle(
        self, tenant: str, *, before: datetime, after: datetime | None = None
    ) -> int:
        """End all open sessions of the tenant whose last turn is earlier than `before`, as by `end`
        at the time of that turn. So are those whose last turn is later than `after`, at that time:
        a clock was wrong, and they would stay open until then. Returns how many."""

    async def sessions(self, owner: Owner) -> tuple[Session, ...]:
        """All sessions, oldest first."""

    async def read(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        ids: Sequence[str] | None = None,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        first: int | None = None,
    ) -> tuple[Turn, ...]:
        """Turns ordered by position, filtered by session and ids, and by position if they have to
        come `after` or `before` one; then only the `last` or the `first` so many of them. Unknown
        ids are ignored. Reads no more turns than it returns."""
