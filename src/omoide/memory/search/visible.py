"""An owner's turns without those that were not said yet or are in the prompt already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from itertools import compress
from typing import TYPE_CHECKING

from omoide.ports.store import Postings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from omoide.ports.store import Survey

    Ints = NDArray[np.int64]


def visible(survey: Survey, *, at: datetime, besides: AbstractSet[str]) -> Survey:
    """The survey as if nothing had been said after `at`, nor the turns with ids in `besides`."""
    import numpy as np

    outline = survey.outline
    keep = outline.time <= np.datetime64(at.astimezone(UTC).replace(tzinfo=None), "us")
    keep[[i for name in besides if (i := outline.places.get(name)) is not None]] = False
    return survey if keep.all() else _only(survey, keep)


def _only(survey: Survey, keep: NDArray[np.bool_]) -> Survey:
    import numpy as np

    old, count = survey.outline, int(keep.sum())
    moved = np.where(keep, np.cumsum(keep) - 1, -1)
    named = old.named[keep[old.named[:, 0]]]
    # The session that goes on is mostly the last: then the rest is the beginning, and no copy.
    kept: slice | NDArray[np.bool_] = slice(count) if keep[:count].all() else keep
    ids = old.ids[:count] if isinstance(kept, slice) else tuple(compress(old.ids, keep.tolist()))
    outline = replace(
        old,
        ids=ids,
        places=_Moved(old.places, moved, ids),
        session=old.session[kept],
        voice=old.voice[kept],
        time=old.time[kept],
        length=old.length[kept],
        telling=old.telling[kept],
        named=np.column_stack((moved[named[:, 0]], named[:, 1:])),
    )
    postings = {
        term: Postings(places=moved[p.places[there]], counts=p.counts[there])
        for term, p in survey.postings.items()
        if (there := keep[p.places]).any()
    }
    cosines = None if survey.cosines is None else survey.cosines[kept]
    return replace(survey, outline=outline, postings=postings, cosines=cosines)


class _Moved(Mapping[str, int]):
    """Places by id after some turns were left out, looked up when asked for."""

    def __init__(self, before: Mapping[str, int], moved: Ints, ids: Sequence[str]) -> None:
        self._before, self._moved, self._ids = before, moved, ids

    def __getitem__(self, name: str) -> int:
        place = int(self._moved[self._before[name]])
        if place < 0:
            raise KeyError(name)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
