"""Whole owners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Owner, Session, Turn


@dataclass(frozen=True, kw_only=True)
class Erased:
    """What an erasure removed."""

    sessions: int
    turns: int
    sentences: int
    """Sentences taken out of memory versions, every version counted."""
    pending: bool = False
    """Whether vectors of it are still elsewhere, since that place could not be reached: a job of
    the EMBED kind, which is tried until it can, removes them."""


class Archive(Protocol):
    """Whole owners: who there is, bringing one back, and removal for good."""

    async def tenants(self) -> tuple[str, ...]:
        """Every tenant of whom anything is stored, and perhaps some of whom something was, by
        name."""

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
        goes. No byte of the text remains in an embedded database's files when it returns; if
        another process keeps them from being cleaned, `StoreLocked` says so, and the next opening
        does it.
        On a server no row of any table holds it; when its bytes leave the server's files, log and
        copies is for the server's keeper to say.
        """
