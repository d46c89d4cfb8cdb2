"""Filters out an owner's turns that are later than the query or already in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from itertools import compress
from typing import TYPE_CHECKING

from omoide.mechanisms.search.table_shape import shape_of
from omoide.ports.store import Features, Postings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from omoide.ports.store import SearchData

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
    moved = np.where(keep, np.cumsum(keep) - 1, -1)
    # Usually only the last session is dropped; the rest is then a prefix and needs no copy.
    kept: slice | NDArray[np.bool_] = slice(count) if keep[:count].all() else keep
    ids = old.ids[:count] if isinstance(kept, slice) else tuple(compress(old.ids, keep.tolist()))
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
    postings = {
        term: Postings(rows=moved[p.rows[there]], counts=p.counts[there])
        for term, p in data.postings.items()
        if (there := keep[p.rows]).any()
    }
    cosines = None if data.cosines is None else data.cosines[kept]
    return replace(data, table=table, postings=postings, cosines=cosines)


def _kept_features(
    old: Features, keep: NDArray[np.bool_], kept: slice | NDArray[np.bool_], moved: Ints
) -> Features:
    spans = old.spans[keep[old.spans[:, 0]]]  # a copy
    spans[:, 0] = moved[spans[:, 0]]
    return Features(values=old.values[kept], spans=spans)


class _Moved(Mapping[str, int]):
    """Rows by id after some turns were dropped, computed on lookup."""

    def __init__(self, before: Mapping[str, int], moved: Ints, ids: Sequence[str]) -> None:
        self._before, self._moved, self._ids = before, moved, ids

    def __getitem__(self, name: str) -> int:
        row = int(self._moved[self._before[name]])
        if row < 0:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
