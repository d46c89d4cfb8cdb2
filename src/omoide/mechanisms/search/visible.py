"""Filters out an owner's turns that are later than the query or already in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from itertools import compress
from typing import TYPE_CHECKING

from omoide.mechanisms.search.table_shape import WholeTable, shape_of
from omoide.ports.store import Features, Postings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from omoide.ports.store import SearchData

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]


def visible(data: SearchData, *, at: datetime, besides: AbstractSet[str]) -> SearchData:
    """The data without turns after `at` and without those with ids in `besides`."""
    import numpy as np

    table = data.table
    limit = np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
    if not besides and ((latest := shape_of(table).latest) is None or latest <= limit):
        return data
    keep = table.time <= limit
    keep[[i for name in besides if (i := table.row_by_id.get(name)) is not None]] = False
    return data if keep.all() else _only(data, keep)


def _only(data: SearchData, keep: NDArray[np.bool_]) -> SearchData:
    import numpy as np

    old, count = data.table, int(keep.sum())
    # Usually only the last session is dropped; the rest is then a prefix, and nothing moves.
    prefix = bool(keep[:count].all())
    kept: slice | NDArray[np.bool_] = slice(count) if prefix else keep
    moved = None if prefix else np.where(keep, np.cumsum(keep) - 1, -1)
    ids = old.ids[:count] if prefix else tuple(compress(old.ids, keep.tolist()))
    table = replace(
        old,
        ids=ids,
        row_by_id=_Moved(old.row_by_id, moved, ids),
        session=old.session[kept],
        voice=old.voice[kept],
        time=old.time[kept],
        length=old.length[kept],
        features=None if old.features is None else _kept_features(old.features, keep, kept, moved),
    )
    shape_of(table, whole=WholeTable(shape=shape_of(old), kept=kept))
    postings = {
        term: Postings(
            rows=p.rows[there] if moved is None else moved[p.rows[there]], counts=p.counts[there]
        )
        for term, p in data.postings.items()
        if (there := keep[p.rows]).any()
    }
    cosines = None if data.cosines is None else data.cosines[kept]
    exact = None if data.exact is None else _of_some(data.exact, np.flatnonzero(keep))
    return replace(data, table=table, postings=postings, cosines=cosines, exact=exact)


def _of_some(exact: Callable[[Ints], Floats], places: Ints) -> Callable[[Ints], Floats]:
    """The exact cosines by row, of the turns that stood in these places."""
    return lambda rows: exact(places[rows])


def _kept_features(
    old: Features,
    keep: NDArray[np.bool_],
    kept: slice | NDArray[np.bool_],
    moved: Ints | None,
) -> Features:
    spans = old.spans[keep[old.spans[:, 0]]]  # a copy
    if moved is not None:
        spans[:, 0] = moved[spans[:, 0]]
    return Features(values=old.values[kept], spans=spans)


class _Moved(Mapping[str, int]):
    """Rows by id after some turns were dropped, computed on lookup. Without `moved`, the last ones
    were."""

    def __init__(self, before: Mapping[str, int], moved: Ints | None, ids: Sequence[str]) -> None:
        self._before, self._moved, self._ids = before, moved, ids

    def __getitem__(self, name: str) -> int:
        row = self._before[name]
        if self._moved is not None:
            row = int(self._moved[row])
        if not 0 <= row < len(self._ids):
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
