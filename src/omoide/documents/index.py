"""`SearchIndex` in documents: a full scan for each search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.documents.record import vector_key
from omoide.domain import MemoryKind
from omoide.errors import EmbedderMismatch
from omoide.language.terms import is_prefix
from omoide.ports import Hit, TextToEmbed
from omoide.ports.store import NamedSpeaker, Postings, SearchData, TurnTable
from omoide.ports.store.bm25 import rarity, weight

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.documents.owner_records import OwnerRecords
    from omoide.documents.record import Record
    from omoide.domain import Owner, Turn
    from omoide.ports import Space, Vectors

    Floats = NDArray[np.float32]


class DocumentIndex:
    """Search."""

    def __init__(self, records: OwnerRecords) -> None:
        self._records = records

    async def search_words(
        self, owner: Owner, terms: Sequence[str], *, k: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[Hit, ...]:
        """See `SearchIndex.search_words`. Ties are broken in favour of the newer item."""
        record = await self._records.read(owner)
        items, counts = record.found[_searched(kind)], record.counts[kind]
        scores = [0.0] * len(items)
        for term in dict.fromkeys(terms):
            frequencies = [_frequency(term, terms_of) for terms_of, _ in counts]
            idf = rarity(len(items), sum(count > 0 for count in frequencies))
            for i, count in enumerate(frequencies):
                if count:
                    scores[i] += idf * weight(count, counts[i][1])
        return _best([item.id for item in items], scores, k=k, above=0.0)

    async def search_data(
        self,
        owner: Owner,
        terms: Sequence[str],
        *,
        space: Space | None = None,
        query: Vectors | None = None,
    ) -> SearchData:
        """See `SearchIndex.search_data`."""
        import numpy as np

        if space is not None and query is not None:
            await self._check_query(space, query)
        record = await self._records.read(owner)
        order = sorted(range(len(record.turns)), key=lambda i: record.turns[i].session)
        counts = [record.counts[MemoryKind.TURN][i] for i in order]
        postings = {}
        for term in dict.fromkeys(terms):
            frequencies = np.array([_frequency(term, own) for own, _ in counts], np.float32)
            if (rows := np.flatnonzero(frequencies)).size:
                postings[term] = Postings(rows=rows, counts=frequencies[rows])
        turns = [record.turns[i] for i in order]
        cosines = None
        if space is not None and query is not None:
            cosines = _cosines(
                record, space, query, kind=MemoryKind.TURN, ids=[t.id for t in turns]
            )
        return SearchData(
            table=_turn_table(turns, lengths=[length for _, length in counts]),
            postings=postings,
            cosines=None if cosines is None or np.isnan(cosines).all() else cosines,
            other_kinds=frozenset(kind for kind, items in record.found.items() if items)
            - {MemoryKind.TURN},
        )

    async def without_vector(
        self, owner: Owner, space: Space, *, limit: int, kind: MemoryKind = MemoryKind.TURN
    ) -> tuple[TextToEmbed, ...]:
        """See `SearchIndex.without_vector`."""
        record = await self._records.read(owner)
        same = await self._records.measures(space) == (space.version, space.dimensions)
        missing = [
            TextToEmbed(id=item.id, text=item.meaning)
            for item in record.found[_searched(kind)]
            if not same or vector_key(space.name, kind, item.id) not in record.vectors
        ]
        return tuple(missing[: max(limit, 0)])

    async def put(
        self,
        owner: Owner,
        space: Space,
        *,
        ids: Sequence[str],
        vectors: Vectors,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> None:
        """See `SearchIndex.put`."""
        if vectors.shape != (len(ids), space.dimensions):
            raise EmbedderMismatch(
                f"{space.name} needs {len(ids)} vectors of {space.dimensions} dimensions, not an "
                f"array of shape {vectors.shape}"
            )
        await self._records.check(space, create=True)

        def work(record: Record) -> None:
            existing = {item.id for item in record.found[_searched(kind)]}
            for name, vector in zip(ids, vectors, strict=True):
                if name in existing:
                    data = vector.astype("<f4").tobytes()
                    record.vectors[vector_key(space.name, kind, name)] = data

        await self._records.change(owner, work)

    async def nearest(
        self,
        owner: Owner,
        space: Space,
        query: Vectors,
        *,
        k: int,
        kind: MemoryKind = MemoryKind.TURN,
    ) -> tuple[Hit, ...]:
        """See `SearchIndex.nearest`. Ties are broken in favour of the newer item."""
        await self._check_query(space, query)
        record = await self._records.read(owner)
        ids = [
            item.id
            for item in record.found[_searched(kind)]
            if vector_key(space.name, kind, item.id) in record.vectors
        ]
        cosines = _cosines(record, space, query, kind=kind, ids=ids)
        return _best(ids, cosines.tolist(), k=k, above=float("-inf"))

    async def _check_query(self, space: Space, query: Vectors) -> None:
        if query.size != space.dimensions:
            raise EmbedderMismatch(
                f"{space.name} needs one vector of {space.dimensions} dimensions, not an array of "
                f"shape {query.shape}"
            )
        await self._records.check(space)


def _searched(kind: MemoryKind) -> MemoryKind:
    if kind not in (MemoryKind.TURN, MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.FACT):
        raise ValueError(f"only turns, events, memos and facts can be searched, not {kind!r}")
    return kind


def _frequency(term: str, counts: Counter[str]) -> int:
    """How often an item contains a term; a prefix counts for all terms that start with it."""
    if is_prefix(term):
        return sum(count for other, count in counts.items() if other.startswith(term))
    return counts[term]


def _best(ids: Sequence[str], scores: Sequence[float], *, k: int, above: float) -> tuple[Hit, ...]:
    order = sorted(range(len(ids)), key=lambda i: (-scores[i], -i))
    chosen = [i for i in order if scores[i] > above][: max(k, 0)]
    return tuple(Hit(id=ids[i], score=scores[i]) for i in chosen)


def _cosines(
    record: Record, space: Space, query: Vectors, *, kind: MemoryKind, ids: Sequence[str]
) -> Floats:
    """The cosine of each item's vector with the query; NaN for an item without a vector."""
    import numpy as np

    matrix = np.full((len(ids), space.dimensions), np.nan, np.float32)
    for row, name in enumerate(ids):
        if data := record.vectors.get(vector_key(space.name, kind, name)):
            matrix[row] = np.frombuffer(data, "<f4")
    cosines: Floats = matrix @ query.reshape(-1).astype(np.float32)
    return cosines


def _turn_table(turns: Sequence[Turn], *, lengths: Sequence[int]) -> TurnTable:
    import numpy as np

    ids = tuple(turn.id for turn in turns)
    voices: dict[NamedSpeaker, int] = {}
    voice = [
        voices.setdefault(NamedSpeaker(speaker=turn.speaker, name=turn.name), len(voices))
        for turn in turns
    ]
    return TurnTable(
        ids=ids,
        row_by_id={name: row for row, name in enumerate(ids)},
        session=np.array([turn.session for turn in turns], np.int64),
        speakers=tuple(voices),
        voice=np.array(voice, np.int64),
        time=np.array([turn.time.replace(tzinfo=None) for turn in turns], "datetime64[us]"),
        length=np.array(lengths, np.float32),
    )
