"""The port for facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from omoide.domain import FactFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Fact, FactChanges, FactMarks, Owner

ALL = FactFilter()


class FactStore(Protocol):
    """Stores facts. A fact's text never changes; only erasure removes a fact."""

    async def apply(self, owner: Owner, changes: FactChanges) -> None:
        """Add, end and confirm facts, and queue an EMBED job unless one is waiting, in one
        transaction.

        New facts are stored first, so that they can be ended and confirmed at once. Facts whose id
        is known are skipped, and so are changes of unknown ids, ends by an unknown fact, and ends
        of a fact by itself. `supersedes` follows the ends: a fact supersedes what it ended and
        nothing else. Applying the same changes again changes nothing. A fact that has ended
        is not ended again and is not found by searches any more. A confirmation adds its sources
        and moves `confirmed` forward. Raises `StaleVersion`, and changes nothing, if anything cites
        a turn or a session that was erased meanwhile."""

    async def read(
        self, owner: Owner, *, ids: Sequence[str] | None = None, only: FactFilter = ALL
    ) -> tuple[Fact, ...]:
        """The facts that match, by the time they were said; those said at the same time in the
        order they were stored. Unknown ids are ignored."""

    async def mark(self, owner: Owner, id: str, marks: FactMarks) -> Fact | None:  # noqa: A002
        """Set marks on a fact. Returns the fact as it is now; None if there is no such fact."""
