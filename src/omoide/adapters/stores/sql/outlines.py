"""Outlines of owners' turns, kept in memory between searches.

An outline is brought up to date by loading the turns that arrived since, whoever wrote them; it
is loaded anew when turns vanished. The outlines used longest ago make room.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import MOST, TURNS
from omoide.adapters.stores.sql.ranking import BEYOND
from omoide.domain import Speaker
from omoide.language.terms import is_beginning, telling, terms
from omoide.language.times import day_numbers
from omoide.ports.store import Outline, Postings, Voice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    import numpy as np
    from numpy.typing import NDArray

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Turn

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

LOAD = (
    "SELECT position, id, session, speaker, name, time, length, telling, named "
    "FROM turns JOIN outlines USING (owner, position) WHERE owner = ? AND position > ? "
    "ORDER BY position"
)
# As one string of numbers that hold both: a fifth of the time of many rows.
_BOTH = f"SELECT ?2, string_agg(CAST(CAST(item AS bigint) * {MOST + 1} + tf AS text), ' ')"
POSTINGS = f"{_BOTH} FROM postings WHERE owner = ?1 AND term = ?2 AND kind = ?3"
BEGINNING = (
    f"{_BOTH} FROM (SELECT item, sum(tf) AS tf FROM postings "  # noqa: S608
    "WHERE owner = ?1 AND term >= ?2 AND term < ?4 AND kind = ?3 GROUP BY item) AS beginning"
)
_BYTES_A_TURN = 300
"""About what a turn takes: an id of 32 characters, its place in a dictionary, seven numbers."""


def write_outlines(connection: Connection, owner: int, turns: Sequence[Turn]) -> None:
    """Read what recall weighs out of new turns, and store it."""
    connection.executemany(
        "INSERT INTO outlines (owner, position, length, telling, named) VALUES (?, ?, ?, ?, ?)",
        (
            (owner, turn.position, len(terms(turn.text)), telling(turn.text), _days(turn))
            for turn in turns
        ),
    )


def _days(turn: Turn) -> str:
    return days_named(turn.text, turn.time.date())


def days_named(text: str, said: date) -> str:
    """The days that a text speaks of, as a row holds them."""
    return " ".join(f"{first} {last}" for first, last in day_numbers(text, said))


class Outlines:
    """All outlines in memory, of at most about `limit` bytes together, or the one used last."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Kept] = OrderedDict()

    def fresh(self, connection: Connection, owner: int) -> Placed:
        """The owner's outline as of the caller's transaction, or a little later."""
        with self._lock:
            kept = self._kept.setdefault(owner, _Kept(owner=owner))
            self._kept.move_to_end(owner)
        with kept.lock:
            placed = kept.refresh(connection)
        with self._lock:
            size = sum(kept.size for kept in self._kept.values())
            while size > self._limit and len(self._kept) > bool(self._limit):
                _, oldest = self._kept.popitem(last=False)
                size -= oldest.size
        return placed

    def clear(self) -> None:
        """Let go of all of them, so that nothing of what was erased stays in memory."""
        with self._lock:
            self._kept.clear()


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """An outline, and where in it each position stands."""

    outline: Outline
    by_position: Ints
    """Place by position, -1 where there is none."""
    positions: Ints
    """Position by place."""

    def places(self, positions: Ints) -> Ints:
        """Where these positions stand; -1 for those that came since or are gone."""
        import numpy as np

        return self.by_position[np.where(positions < len(self.by_position), positions, 0)]

    def spread(self, positions: Ints, values: Floats) -> Floats:
        """One value a turn; not a number for turns that are not among `positions`."""
        import numpy as np

        count = len(self.outline.ids)
        if len(positions) == count and (positions == self.positions).all():
            return values
        spread = np.full(count, np.nan, np.float32)
        places = self.places(positions)
        there = places >= 0
        spread[places[there]] = values[there]
        return spread


def read_postings(
    connection: Connection, owner: int, terms: Sequence[str], placed: Placed
) -> dict[str, Postings]:
    """Where the terms occur in an outline, read in the caller's transaction."""
    import numpy as np

    found = {}
    wanted = tuple(dict.fromkeys(terms))
    keys = [(owner, term, TURNS.kind) for term in wanted if not is_beginning(term)]
    ranges = [(owner, term, TURNS.kind, term + BEYOND) for term in wanted if is_beginning(term)]
    numbers = dict(connection.executemany(POSTINGS, keys).fetchall())
    numbers.update(connection.executemany(BEGINNING, ranges).fetchall())
    for term in wanted:
        if not (held := numbers.get(term)):
            continue
        both = np.fromstring(held, np.int64, sep=" ")
        places, counts = placed.places(both // (MOST + 1)), (both & MOST).astype(np.float32)
        if (there := places >= 0).all():
            found[term] = Postings(places=places, counts=counts)
        else:
            found[term] = Postings(places=places[there], counts=counts[there])
    return found


@dataclass
class _Kept:
    """The turns of one owner in order of position, and the newest outline made of them."""

    owner: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    epoch: int = -1
    last: int = 0
    placed: Placed | None = None
    ids: list[str] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)
    voices: dict[tuple[str, str | None], int] = field(default_factory=dict)
    columns: dict[str, _Growing] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes held, about."""
        return _BYTES_A_TURN * len(self.ids)

    def refresh(self, connection: Connection) -> Placed:
        """Load what changed since the last time."""
        row: Any = connection.execute(
            "SELECT epoch, given FROM counts WHERE owner = ? AND kind = ?", (self.owner, TURNS.kind)
        ).fetchone()
        epoch, given = row or (0, 0)
        if epoch != self.epoch:
            self.epoch, self.last, self.placed = epoch, 0, None
            self.ids, self.positions, self.voices, self.columns = [], {}, {}, {}
        if self.placed is None or given > self.last:
            rows = connection.execute(LOAD, (self.owner, self.last)).fetchall()
            self._append(rows)
            self.placed, self.last = self._made(), max(given, self.last)
        return self.placed

    def _append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        import numpy as np

        columns = list(zip(*rows, strict=True)) or [()] * 9
        position, ids, session, speaker, name, time, length, told, named = columns
        voices = self.voices
        days = [
            (where, *pair)
            for where, text in zip(position, named, strict=True)
            if text
            for pair in _pairs(text)
        ]
        fresh = {
            "position": np.array(position, np.int64),
            "session": np.array(session, np.int64),
            "voice": np.array(
                [voices.setdefault(who, len(voices)) for who in zip(speaker, name, strict=True)],
                np.int64,
            ),
            "time": np.array(time, "datetime64[us]"),
            "length": np.array(length, np.float32),
            "telling": np.array(told, np.float32),
            "named": np.array(days, np.int64).reshape(-1, 3),
        }
        self.ids += ids
        self.positions.update(zip(ids, position, strict=True))
        for key, array in fresh.items():
            self.columns.setdefault(key, _Growing(array[:0])).add(array)

    def _made(self) -> Placed:
        """An outline as a new value: a search may still be reading the old one."""
        import numpy as np

        arrays = {key: column.so_far for key, column in self.columns.items()}
        ids = tuple(self.ids)
        if (np.diff(arrays["session"]) < 0).any():  # sessions went on side by side
            order = np.argsort(arrays["session"], kind="stable")
            arrays = {
                key: array if key == "named" else array[order] for key, array in arrays.items()
            }
            ids = tuple(ids[i] for i in order)
        positions, named = arrays.pop("position"), arrays.pop("named").copy()
        by_position = np.full(int(positions.max(initial=0)) + 1, -1, np.int64)
        by_position[positions] = np.arange(len(positions))
        named[:, 0] = by_position[named[:, 0]]
        outline = Outline(
            ids=ids,
            places=_Places(ids, self.positions, by_position),
            voices=tuple(Voice(speaker=Speaker(who), name=name) for who, name in self.voices),
            named=named,
            **arrays,
        )
        return Placed(outline=outline, by_position=by_position, positions=positions)


class _Growing:
    """An array that is added to at its end; what was handed out before stays as it is."""

    def __init__(self, empty: NDArray[Any]) -> None:
        self._room, self._used = empty, 0

    @property
    def so_far(self) -> NDArray[Any]:
        """All that was added."""
        return self._room[: self._used]

    def add(self, more: NDArray[Any]) -> None:
        """Put it behind the rest, in a larger room if need be."""
        import numpy as np

        end = self._used + len(more)
        if end > len(self._room):
            room = np.empty((end + end // 8, *more.shape[1:]), more.dtype)
            room[: self._used] = self.so_far
            self._room = room
        self._room[self._used : end] = more
        self._used = end


class _Places(Mapping[str, int]):
    """Places by id. The positions are shared with later outlines, which only add to them: making
    this anew for each would take longer than the search."""

    def __init__(self, ids: Sequence[str], positions: dict[str, int], places: Ints) -> None:
        self._ids, self._positions, self._places = ids, positions, places

    def __getitem__(self, name: str) -> int:
        position = self._positions[name]
        if position >= len(self._places):
            raise KeyError(name)
        return int(self._places[position])

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    numbers = iter(map(int, text.split()))
    return zip(numbers, numbers, strict=True)
