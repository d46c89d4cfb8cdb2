"""The port for versions of the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner, RejectedAnswer, Summary


class SummaryStore(Protocol):
    """Stores the versions of the recursive summary, and rejected answers."""

    async def commit(self, owner: Owner, summary: Summary) -> None:
        """Add a version. Raises `StaleVersion` and writes nothing if its number does not follow the
        newest one's, if it is a second DIGEST version of one session, or if it cites a turn or
        fact or digests a session that was erased meanwhile."""

    async def find(
        self,
        owner: Owner,
        *,
        number: int | None = None,
        session: int | None = None,
        at: datetime | None = None,
    ) -> Summary | None:
        """The newest version; or version `number`; or the newest that includes no session later
        than `session`; or the newest whose time is not after `at`. None if there is none."""

    async def history(self, owner: Owner) -> tuple[Summary, ...]:
        """All versions, oldest first."""

    async def add_rejected(self, owner: Owner, rejected: RejectedAnswer) -> None:
        """Keep a rejected answer. Ignored if its session does not exist: it may have been erased
        meanwhile, and the answer could bring its text back."""

    async def rejected(self, owner: Owner) -> tuple[RejectedAnswer, ...]:
        """Rejected answers, oldest first."""
