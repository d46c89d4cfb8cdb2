"""The port for search by words and by vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from omoide.domain import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import Owner, Speaker
    from omoide.ports.models import Space, Vectors

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Hit:
    """An item found by a search."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True)
class NamedSpeaker:
    """A speaker in a conversation, with the name if known."""

    speaker: Speaker
    name: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """Numbers that the ranking computed from each turn when it was recorded. A store may keep them
    for speed; it does not interpret them."""

    values: Floats
    """One per turn, in the order of the turn table."""
    spans: Ints
    """Any number of pairs per turn. Each row holds the turn's row in the table and two integers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnTable:
    """Data of each turn of an owner, without the text. One row per turn, session by session and in
    order within each, so that neighbouring turns are adjacent."""

    ids: Sequence[str]
    row_by_id: Mapping[str, int]
    """Row number by turn id."""
    session: Ints
    speakers: tuple[NamedSpeaker, ...]
    voice: Ints
    """Index into `speakers`."""
    time: NDArray[np.datetime64]
    """Time of the turn, in UTC and microseconds."""
    length: Floats
    """Number of terms."""
    features: Features | None = None
    """None if the store keeps none; then the caller computes them from the texts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Postings:
    """The turns in which a term occurs."""

    rows: Ints
    """Rows of the turn table, each once."""
    counts: Floats
    """How often the term occurs in each row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchData:
    """Everything needed to score all turns of one owner for one query, from one snapshot."""

    table: TurnTable
    postings: Mapping[str, Postings]
    """By term, for terms that occur."""
    cosines: Floats | None
    """Cosine of each turn's vector with the query's; NaN for turns without a vector. None if no
    query vector was given or none is stored."""
    exact: Callable[[Ints], Floats] | None = None
    """If the cosines are only estimates, as of very many turns: the true ones of the turns in these
    rows."""
    other_kinds: frozenset[MemoryKind]
    """Kinds other than turns that have items to find."""
    ended_facts: bool = True
    """False if no fact of the owner has ended, so that none need be looked for."""
    degraded: str = ""
    """Why there are no cosines although a vector was given: the vector index cannot be reached."""


@dataclass(frozen=True, kw_only=True)
class TextToEmbed:
    """An item to be embedded."""

    id: str
    text: str


class SearchIndex(Protocol):
    """Search over one owner's turns, events, memos or facts. Items can be found by their words as
    soon as they are stored. Folded memos, superseded events and ended facts are not found. The
    embedded text is the text of a turn, event or fact, or a memo's topic and summary. A term of a
    single Chinese, Japanese or Korean character matches every term that begins with it."""

    async def search_words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[Hit, ...]:
        """The best items by BM25, computed over this owner's items of that kind, best first."""

    async def search_data(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> SearchData:
        """What is needed to score every turn of the owner: the turn table, the postings of the
        terms and the cosines with the single row of `query`, all from one snapshot. Arrays may be
        shared with other callers: do not modify them. Raises `EmbedderMismatch` as `put` does."""

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[TextToEmbed, ...]:
        """Items of the kind that have no vector in `space` yet, oldest first."""

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> None:
        """Store one vector per item, replacing existing ones; unknown items are ignored. Raises
        `EmbedderMismatch` if this database uses `space.name` with another version or other
        dimensions, or if the array has the wrong shape."""

    async def nearest(
        self,
        owner: Owner,
        space: Space,
        query: Vectors,
        *,
        k: int,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> tuple[Hit, ...]:
        """The items whose vectors are nearest to the single row of `query` by cosine, best first.
        Raises `EmbedderMismatch` as `put` does."""


@runtime_checkable
class ExternalVectors(Protocol):
    """A search index whose vectors are stored outside the database, so that the two can differ for
    a while: vectors are written and erased after the texts. A search never finds items that the
    database no longer has. If the vectors cannot be reached, `search_data` says so in `degraded`,
    and `nearest` finds nothing."""

    async def reconcile(self, owner: Owner) -> None:
        """Remove vectors of items that no longer exist, and mark items that lost their vector to be
        embedded again. Called by the EMBED job of an owner. Raises `VectorsUnavailable`."""


@runtime_checkable
class JoinedReads(Protocol):
    """A search index that can run many reads of its store in one round trip. A recall reads up to
    a dozen times, and waking a thread for each costs more than what it reads."""

    async def together(self, owner: Owner, reads: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `reads()`, which waits for nothing but reads of this store for this
        owner's tenant, all from one snapshot. It runs in another thread, without an event loop."""
