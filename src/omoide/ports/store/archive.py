"""The port for listing, restoring and erasing owners."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from omoide.domain import Owner, Receipt, Session, Turn


@dataclass(frozen=True, kw_only=True)
class Erased:
    """What an erasure removed."""

    sessions: int
    turns: int
    sentences: int
    """Sentences removed from versions of the summary, counted in each version."""
    facts: int = 0
    pending: bool = False
    """Whether its vectors remain in an external index because that could not be reached. An EMBED
    job, retried until it succeeds, removes them."""
    events: int = field(default=0, compare=False)
    memos: int = field(default=0, compare=False)
    notes: int = field(default=0, compare=False)
    rejected: int = field(default=0, compare=False)
    receipt: Receipt | None = field(default=None, compare=False)
    """The signed receipt; `Memory.erase` adds it."""


@dataclass(frozen=True, kw_only=True)
class IndexTraces:
    """How many entries of the search index are left of erased turns."""

    postings: int = 0
    vectors: int = 0
    outlines: int = 0
    """What else is stored of a turn for the ranking."""


class Archive(Protocol):
    """Lists, restores and erases owners."""

    async def tenants(self) -> tuple[str, ...]:
        """All tenants that have anything stored, by name. May include tenants that once had."""

    async def owners(self, tenant: str) -> tuple[Owner, ...]:
        """All owners of the tenant that have anything stored, by name."""

    async def erasure_mark(self, owner: Owner) -> str:
        """A text that changes whenever something of the owner is erased, by any process. Empty if
        nothing is stored about the owner. For caches of what may quote the owner."""

    async def traces(
        self, owner: Owner, turns: Sequence[Turn], *, terms: Sequence[str], mark: str
    ) -> IndexTraces:
        """Look for what a search index may still hold of turns after they were erased, of their
        postings those of these terms. It does not go by the turns, which are gone: `mark` is the
        owner's `erasure_mark` of before, for the owner may be gone too."""

    async def note_erasure(self, owner: Owner, *, at: datetime) -> None:
        """Note that the whole owner is about to be erased, without the name: only who has the
        secret of the database can tell whose note it is. Each is later than the one before."""

    async def last_erasure(self, owner: Owner) -> datetime | None:
        """When the whole owner was last erased, by any process; None if never. For what was said
        before and is to be stored after."""

    async def receipt_key(self) -> bytes:
        """A secret of this database, with which receipts of erasures are signed. Made when it is
        first asked for, and the same for every process from then on."""

    async def restore(
        self, owner: Owner, *, sessions: Sequence[Session], turns: Sequence[Turn]
    ) -> tuple[int, int]:
        """Store sessions and turns of an export unchanged, with their numbers, positions and times,
        in one transaction. Returns how many sessions and turns were new.

        Writes postings and queues an EMBED job as `TurnStore.append` does, but no DIGEST jobs.
        Skips sessions whose number and turns whose id exist already. Numbers and positions up to
        the highest are never assigned again. Raises `ConflictingTurn`, and stores nothing, if
        another turn has the same position."""

    async def erase(
        self,
        owner: Owner,
        *,
        session: int | None = None,
        turns: Sequence[str] | None = None,
        sentences: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
    ) -> Erased:
        """Remove for good: everything of the owner if nothing else is given; or one session; or
        these turns; or sentences with exactly these texts; or the facts with these ids. What does
        not exist is ignored.

        - Memos and events that cite a removed turn are removed, and all notes if any turn is. What
          such a memo or event had replaced can be found again.
        - Facts whose words may come from a removed turn are removed, and so are facts without
          sources from that session or later ones. A fact stays, without that source, if the turn
          only confirmed it: it belongs to a later session than the fact and was said after the
          fact was learned. What a removed fact had ended is ended by that fact's own successor
          instead; if none is left, it holds again, without a last day. So does a fact whose end
          cites a removed turn and names no successor.
        - Sentences, in every version, and events that refer to a removed fact are removed.
        - `sentences` also removes events, memos, notes and facts that contain one of the texts, and
          the facts that the sentences state. Where only the reason, a tag or a flag of a fact
          contains it, that is cleared.
        - `facts` removes their texts as `sentences` does.
        - In every version of the summary, sentences that cite a removed turn are removed, unless a
          fact that stays says the same word for word. So are sentences without sources in versions
          that include the session, since it may be what supports them. This is the only way a
          version is ever changed in place.
        - Rejected answers for that session or later ones are removed, and so are the notes of
          versions and the errors of jobs that may quote it.
        - The ledger, which contains no text, stays unless the whole owner is erased.

        In an embedded database no byte of the text remains in its files on return. If another
        process prevents that, `StoreLocked` is raised and the next opening finishes the cleaning.
        On a server no row of any table contains the text; when its bytes leave the server's files,
        log and backups is up to the server's administrator.
        """
