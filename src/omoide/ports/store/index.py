"""Search over what is remembered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from omoide.domain import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.domain import Owner, Speaker
    from omoide.ports.models import Space, Vectors

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]


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
    lacking: str = ""
    """Why there are no cosines though vectors were asked for: their place cannot be reached."""


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


@runtime_checkable
class Derived(Protocol):
    """An index whose vectors lie elsewhere than the words, so that the two can differ for a while:
    what is written there comes after the words, and what is erased leaves it after them. No search
    finds what the words no longer have; where that place cannot be reached, `survey` says so in
    `lacking`, and `nearest` finds nothing."""

    async def tidy(self, owner: Owner) -> None:
        """Remove vectors of what is not stored any more, and let what should have a vector and
        lost it be embedded again. For the EMBED job of an owner. Raises `VectorsUnavailable`."""
