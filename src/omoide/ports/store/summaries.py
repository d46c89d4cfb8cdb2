"""The recursive summary's versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner, Rejected, Summary


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
