"""What was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from omoide.domain import Owner, Recorded, Said, Session, Turn


class Turns(Protocol):
    """What was said. Append-only: nothing here is ever changed, only erased by `Archive`."""

    async def append(
        self, owner: Owner, said: Sequence[Said], *, session: str | None, idle: timedelta
    ) -> Recorded:
        """Record all of `said` in one transaction; durable on return, even against power loss.

        With `session` (the caller's key) they go into that session, opened if it is new; a key
        whose session has ended raises `NoSuchSession`. Without one they go into the newest open
        session without a key, unless its last turn is more than `idle` before, in which case it
        is ended as by `end`, at its last turn's time, and a new one opened. Times that go back
        do not cut.
        An id recorded before with the same speaker and text gives back the first turn and records
        nothing, and is not among the `new` of the result; with other words it raises
        `ConflictingTurn` and keeps nothing of the batch.
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
