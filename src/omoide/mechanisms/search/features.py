"""Features of turns for ranking: how informative a turn is, and which days it names.

Both are computed from the text once. A store may keep them (`TurnTable.features`); if it does not,
they are computed here when a turn is first ranked.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.language.terms import informativeness
from omoide.language.times import day_numbers
from omoide.ports.store import Features

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from omoide.domain import Owner, Turn
    from omoide.ports import Store
    from omoide.ports.store import SearchData

_OWNERS = 64
"""Number of owners whose features are cached, for stores that do not keep them."""


@dataclass(frozen=True, kw_only=True)
class TurnFeatures:
    """The features of one turn."""

    value: float
    """`omoide.language.terms.informativeness` of its text."""
    spans: tuple[tuple[int, int], ...]
    """Periods that it mentions: first and last day, as `date.toordinal`."""


def features_of(turn: Turn, *, count: int | None = None) -> TurnFeatures:
    """Compute the features of a turn, given the number of its terms if that is known."""
    return TurnFeatures(
        value=informativeness(turn.text, count=count), spans=spans_of(turn.text, turn.time.date())
    )


def spans_of(text: str, said: date) -> tuple[tuple[int, int], ...]:
    """The periods that a text, said on that day, mentions."""
    return tuple(day_numbers(text, said))


def gathered(features: Sequence[TurnFeatures]) -> Features:
    """The features of turns, in the order of a turn table, as arrays."""
    import numpy as np

    spans = [(row, *span) for row, turn in enumerate(features) for span in turn.spans]
    return Features(
        values=np.array([turn.value for turn in features], np.float32),
        spans=np.array(spans, np.int64).reshape(-1, 3),
    )


class FeatureReader:
    """Adds features to search data if the store has none, from the turns' texts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Owner, dict[str, TurnFeatures]] = OrderedDict()

    async def __call__(self, owner: Owner, data: SearchData) -> SearchData:
        """The data with features. Cached features of erased turns are dropped."""
        table = data.table
        if table.features is not None:
            return data
        known = self._kept.get(owner, {})
        missing = [name for name in table.ids if name not in known]
        turns = await self._store.turns.read(owner, ids=missing) if missing else ()
        known = known | {turn.id: features_of(turn) for turn in turns}
        erased = TurnFeatures(value=0.0, spans=())  # erased since the data was read
        current = {name: known.get(name, erased) for name in table.ids}
        self._kept[owner] = current
        self._kept.move_to_end(owner)
        while len(self._kept) > _OWNERS:
            self._kept.popitem(last=False)
        features = gathered(list(current.values()))
        return replace(data, table=replace(table, features=features))
