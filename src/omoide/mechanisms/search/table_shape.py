"""The shape of a turn table: what every query needs to know about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from omoide.language.terms import FULL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omoide.ports.store import TurnTable

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

KERNEL = tuple(exp(-distance / 1.5) for distance in (1, 2, 3))
"""Weight of a neighbouring turn, by distance."""
SHIFTS = tuple(shift for d in range(1, len(KERNEL) + 1) for shift in (-d, d))
"""How far each neighbour of a turn is away."""
K1, B = 0.9, 0.9
"""BM25 parameters for a turn. An assistant's turns are often ten times as long as the user's: a
lower `B` would put them first whatever is asked."""
SESSION_K1, SESSION_B = 1.2, 0.4
"""BM25 parameters for a session."""
MOST_STATED = 100
"""Terms outside questions above which a turn counts as a statement; its informativeness is too
near to 1 to tell how many there are."""
MAX_SPAN_DAYS = 40
"""Longest period, in days, that counts as a date: a whole year says little."""
ASKS = 0.5
"""The share of a turn in questions from which the next speaker's turn counts as its answer."""
_EPOCH = 719_163
"""1 January 1970 as `date.toordinal`."""
_DAY = 86_400_000_000
"""Microseconds in a day."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeTable:
    """The shape of a table, and which of its turns a part of it has."""

    shape: TableShape
    kept: slice | NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class TableShape:
    """What every query needs to know about a turn table. What only some need is computed when it
    is first asked for."""

    session: Ints
    time: NDArray[np.datetime64]
    spans: Ints
    """The periods that turns name: row, first and last day."""
    group: Ints
    """The session of each turn, counted from 0."""
    turns: Ints
    """Number of turns of each session."""
    size: NDArray[np.float64]
    """Number of terms of each session."""
    norm: Floats
    """What BM25 adds to the count of a term in each turn, by the turn's length."""
    session_norm: NDArray[np.float64]
    """The same for each session."""
    asking: Floats
    """The share of each turn that only asks."""
    only_asking: Floats
    """The same, fading with the turn's length."""
    answered: NDArray[np.bool_]
    """For each turn but the last, whether it mostly asks and somebody else speaks next in the same
    session."""
    answering: Floats
    """For each turn but the last, how far the next one counts as its answer."""
    taking_turns: float
    """How often the speaker changes from one turn to the next, 0 to 1."""
    padded: Ints
    """The session of each turn, with -1 for each of the neighbours that the first and the last turn
    do not have."""
    whole: WholeTable | None = None
    """What this is a part of."""

    @cached_property
    def _calendar(self) -> tuple[NDArray[np.int32], Ints]:
        import numpy as np

        if self.whole is not None:
            return self.whole.shape.days, self.whole.shape.day[self.whole.kept]
        day = self.time.view(np.int64) // _DAY + _EPOCH
        changes = np.concatenate(([True], day[1:] != day[:-1])) if len(day) else np.zeros(0, bool)
        ordered = day[changes]
        if (ordered[1:] > ordered[:-1]).all():  # as nearly always: nothing to sort
            return ordered.astype(np.int32), np.cumsum(changes) - 1
        ordered, row = np.unique(day, return_inverse=True)
        return ordered.astype(np.int32), row

    @property
    def days(self) -> NDArray[np.int32]:
        """The days on which there are turns, as `date.toordinal`, in order; also those of the whole
        table if this is a part of one."""
        return self._calendar[0]

    @property
    def day(self) -> Ints:
        """The day of each turn, as a row of `days`."""
        return self._calendar[1]

    @cached_property
    def named(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """The periods of at most `MAX_SPAN_DAYS` that turns name: row, first and last day."""
        import numpy as np

        spans = self.spans
        short = spans[spans[:, 2] - spans[:, 1] <= MAX_SPAN_DAYS].astype(np.int32)
        row, first, last = np.ascontiguousarray(short.T)
        return row, first, last

    @cached_property
    def latest(self) -> np.datetime64 | None:
        """The time of the newest turn."""
        return self.time.max() if len(self.time) else None

    @cached_property
    def beside(self) -> list[Floats]:
        """By distance: for each turn, 1 if the turn that far after it is in the same session, else
        0."""
        import numpy as np

        session, distances = self.session, range(1, len(KERNEL) + 1)
        return [
            (session[d:] == session[:-d]).astype(np.float32) for d in distances if d < len(session)
        ]


_NOBODY = [-1] * len(KERNEL)
"""The sessions of the neighbours that the first and the last turn do not have."""

_shapes: WeakKeyDictionary[TurnTable, TableShape] = WeakKeyDictionary()


def shape_of(table: TurnTable, *, whole: WholeTable | None = None) -> TableShape:
    """The shape of a turn table, cached until a turn is added. What each turn has by itself is
    taken from the `whole` table that this is a part of, if there is one."""
    import numpy as np

    if (known := _shapes.get(table)) is not None:
        return known
    session, count = table.session, len(table.session)
    beside = session[1:] == session[:-1]
    starts = np.concatenate(([0], np.flatnonzero(~beside) + 1)) if count else np.zeros(0, np.int64)
    turns = np.concatenate((starts[1:], [count])) - starts if count else starts
    size = np.add.reduceat(table.length, starts, dtype=np.float64) if count else np.zeros(0)
    mean_length = max(float(size.sum()) / max(count, 1), 1)
    mean_size = max(float(size.sum()) / max(len(size), 1), 1)
    follows = beside & (table.voice[1:] != table.voice[:-1])
    taking_turns = float(follows.sum() / max(int(beside.sum()), 1))
    if whole is None:
        asking, only_asking = _asking(table)
    else:
        asking, only_asking = whole.shape.asking[whole.kept], whole.shape.only_asking[whole.kept]
    features = table.features
    shape = _shapes[table] = TableShape(
        session=session,
        time=table.time,
        spans=np.zeros((0, 3), np.int64) if features is None else features.spans,
        group=np.repeat(np.arange(len(turns)), turns),
        turns=turns,
        size=size,
        norm=K1 * (1 - B + B * table.length / mean_length),
        session_norm=SESSION_K1 * (1 - SESSION_B + SESSION_B * size / mean_size),
        asking=asking,
        only_asking=only_asking,
        answered=follows & (asking[:-1] >= ASKS),
        answering=follows * (taking_turns * asking[:-1]),
        taking_turns=taking_turns,
        padded=np.concatenate((_NOBODY, session, _NOBODY)),
        whole=whole,
    )
    return shape


def _asking(table: TurnTable) -> tuple[Floats, Floats]:
    """The share of each turn's terms that are in questions, from its informativeness; and the same
    fading with the turn's length."""
    import numpy as np

    if table.features is None:
        none = np.zeros(len(table.ids), np.float32)
        return none, none
    stated = -FULL * np.log(np.maximum(1 - table.features.values, np.float32(1e-6)))
    share = np.minimum(np.maximum(1 - stated / np.maximum(table.length, 1), 0), 1)
    asking = np.where((table.length > 0) & (stated < MOST_STATED), share, 0).astype(np.float32)
    return asking, asking * np.exp(table.length * np.float32(-1 / FULL))
