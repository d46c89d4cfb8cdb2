"""A cache of owners' turn tables, kept in memory between searches.

A table is updated by loading the turns that were added since, by any process, and reloaded when
turns were removed. The least recently used tables are evicted.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.items import MAX_TERM_COUNT, TURNS
from omoide.adapters.stores.sql.ranking import BEYOND
from omoide.adapters.stores.sql.rows_by_position import RowsByPosition
from omoide.adapters.stores.sql.vectors import Compared
from omoide.domain import Speaker
from omoide.language.terms import is_prefix, terms
from omoide.mechanisms.search.features import features_of
from omoide.ports.store import Features, NamedSpeaker, Postings, TurnTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import TermsOf
    from omoide.domain import Turn

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

log = logging.getLogger(__name__)

_NEW = "WHERE owner = ?1 AND position > ?2 ORDER BY position"
_VOICE = "CASE WHEN name IS NULL THEN speaker ELSE speaker || ' ' || name END"
_UNIT = 2**53
"""What a number from 0 to 1 is multiplied by, to be read as a whole one without loss."""
# One row of strings, each a whole column, takes a fraction of the time of a row for each turn; so
# do two statements instead of a join.
TURNS_SINCE = (
    "SELECT count(*), string_agg(CAST(position AS text), ' '), "  # noqa: S608
    "string_agg(CAST(session AS text), ' '), string_agg(CAST(time AS text), ' '), "
    "string_agg(id, CAST(?3 AS text)), string_agg(voice, CAST(?3 AS text)) "
    f"FROM (SELECT position, session, time, id, {_VOICE} AS voice FROM turns {_NEW}) AS ordered"
)
OUTLINES_SINCE = (
    "SELECT string_agg(CAST(position AS text), ' '), string_agg(CAST(length AS text), ' '), "  # noqa: S608
    f"string_agg(CAST(CAST(telling * {_UNIT} AS bigint) AS text), ' '), "
    "string_agg(CASE WHEN named <> '' THEN CAST(position AS text) || ' ' || named END, ',') "
    f"FROM (SELECT position, length, telling, named FROM outlines {_NEW}) AS ordered"
)
NAMES_SINCE = f"SELECT id, {_VOICE} FROM turns {_NEW}"  # noqa: S608
_OUTLINED = (
    "WHERE owner = ?1 AND position > ?2 "
    "AND position IN (SELECT position FROM {other} WHERE owner = ?1) ORDER BY position"
)
"""For a damaged database: only turns with an outline, and outlines of turns."""
_BETWEEN = "\x1f"
"""Stands between texts in one string. A text that contains it makes too many of them, so that they
are read one by one."""
# One string of numbers that combine item and count: takes a fifth of the time of many rows.
_BOTH = (
    f"SELECT ?2, count(*), "
    f"string_agg(CAST(CAST(item AS bigint) * {MAX_TERM_COUNT + 1} + tf AS text), ' ')"
)
POSTINGS = f"{_BOTH} FROM postings WHERE owner = ?1 AND term = ?2 AND kind = ?3"
BEGINNING = (
    f"{_BOTH} FROM (SELECT item, sum(tf) AS tf FROM postings "  # noqa: S608
    "WHERE owner = ?1 AND term >= ?2 AND term < ?4 AND kind = ?3 GROUP BY item) AS beginning"
)
_BYTES_A_TURN = 300
"""Approximate size of a turn: an id of 32 characters, a dictionary entry, seven numbers."""


def write_turn_features(
    connection: Connection, owner: int, turns: Sequence[Turn], terms_of: TermsOf = terms
) -> None:
    """Store the lengths of new turns and the features that the ranking computes from them. The
    columns are still named after the first features that existed. `terms_of` may know the terms of
    the texts already."""
    rows = []
    for turn in turns:
        length = len(terms_of(turn.text))
        features = features_of(turn, count=length)
        rows.append((owner, turn.position, length, features.value, spans_text(features.spans)))
    connection.executemany(
        "INSERT INTO outlines (owner, position, length, telling, named) VALUES (?, ?, ?, ?, ?)",
        rows,
    )


def spans_text(spans: Iterable[tuple[int, int]]) -> str:
    """Encode pairs of numbers for a row."""
    return " ".join(f"{first} {last}" for first, last in spans)


class TurnTableCache:
    """Turn tables in memory, at most about `limit` bytes in total; the last used one always
    stays."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._cached: OrderedDict[int, _OwnerTurns] = OrderedDict()

    def fresh(self, connection: Connection, owner: int) -> PositionedTable:
        """The owner's turn table as of the caller's transaction, or a little later."""
        with self._lock:
            cached = self._cached.setdefault(owner, _OwnerTurns(owner=owner))
            self._cached.move_to_end(owner)
        with cached.lock:
            placed = cached.refresh(connection)
        with self._lock:
            size = sum(cached.size for cached in self._cached.values())
            while size > self._limit and len(self._cached) > bool(self._limit):
                _, oldest = self._cached.popitem(last=False)
                size -= oldest.size
        return placed

    def clear(self, owner: int) -> None:
        """Drop the owner's table, so that no erased data stays in memory."""
        with self._lock:
            self._cached.pop(owner, None)


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionedTable:
    """A turn table with a mapping between positions and rows."""

    table: TurnTable
    rows: RowsByPosition
    positions: Ints
    """Position by row."""

    def by_row(self, compared: Compared) -> Compared:
        """The same with one item per turn; NaN for turns that were not compared."""
        import numpy as np

        count, positions = len(self.table.ids), compared.items
        if len(positions) == count and (positions == self.positions).all():
            return compared
        rows = self.rows(positions)
        present = np.flatnonzero(rows >= 0)
        place = np.full(count, -1)
        place[rows[present]] = present
        cosines = np.full(count, np.nan, np.float32)
        cosines[rows[present]] = compared.cosines[present]
        exact = None if compared.exact is None else _placed(compared.exact, place)
        return Compared(items=self.positions, cosines=cosines, exact=exact)


def _placed(exact: Callable[[Ints], Floats], place: Ints) -> Callable[[Ints], Floats]:
    """The same by row, given the place of each row; NaN where that is -1."""
    import numpy as np

    return lambda rows: np.where(place[rows] < 0, np.float32(np.nan), exact(place[rows]))


def read_postings(
    connection: Connection, owner: int, terms: Sequence[str], placed: PositionedTable
) -> dict[str, Postings]:
    """Where the terms occur in a turn table, read in the caller's transaction."""
    import numpy as np

    wanted = tuple(dict.fromkeys(terms))
    keys = [(owner, term, TURNS.kind) for term in wanted if not is_prefix(term)]
    ranges = [(owner, term, TURNS.kind, term + BEYOND) for term in wanted if is_prefix(term)]
    found: list[Any] = connection.executemany(POSTINGS, keys).fetchall() if keys else []
    if ranges:
        found += connection.executemany(BEGINNING, ranges).fetchall()
    found = [(term, count, numbers) for term, count, numbers in found if count]
    if not found:
        return {}
    # All terms at once: with few postings a call of numpy costs more than its work.
    both = np.fromstring(" ".join(numbers for _, _, numbers in found), np.int64, sep=" ")
    rows = placed.rows(both // (MAX_TERM_COUNT + 1))
    counts = (both & MAX_TERM_COUNT).astype(np.float32)
    all_present = bool((rows >= 0).all())
    postings, end = {}, 0
    for term, count, _ in found:
        start, end = end, end + count
        its_rows, its_counts = rows[start:end], counts[start:end]
        if not all_present:
            present = its_rows >= 0
            its_rows, its_counts = its_rows[present], its_counts[present]
        postings[term] = Postings(rows=its_rows, counts=its_counts)
    return postings


@dataclass
class _OwnerTurns:
    """The turns of one owner ordered by position, and the newest turn table made of them."""

    owner: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    epoch: int = -1
    last: int = 0
    placed: PositionedTable | None = None
    ids: list[str] = field(default_factory=list)
    positions: _PositionById = field(default_factory=lambda: _PositionById())
    voices: dict[str, int] = field(default_factory=dict)
    columns: dict[str, _GrowingArray] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return _BYTES_A_TURN * len(self.ids)

    def refresh(self, connection: Connection) -> PositionedTable:
        """Load what changed since the last call."""
        row: Any = connection.execute(
            "SELECT epoch, given FROM counts WHERE owner = ? AND kind = ?", (self.owner, TURNS.kind)
        ).fetchone()
        epoch, given = row or (0, 0)
        if epoch != self.epoch:
            self.epoch, self.last, self.placed = epoch, 0, None
            self.ids, self.positions, self.voices, self.columns = [], _PositionById(), {}, {}
        if self.placed is None or given > self.last:
            self._append(connection)
            self.placed, self.last = self._build(), max(given, self.last)
        return self.placed

    def _append(self, connection: Connection) -> None:
        """Load the turns that were added since."""
        import numpy as np

        since, of_turns, of_outlines = (self.owner, self.last), _NEW, _NEW
        turns, outlines = self._since(connection)
        if turns[1] != outlines[0]:
            of_turns, of_outlines = (_OUTLINED.format(other=o) for o in ("outlines", "turns"))
            log.warning(
                "some turns of owner %s cannot be found, because the database has no outline of "
                "them: it is damaged; check it, and restore a backup",
                self.owner,
            )
            turns, outlines = self._since(connection, of_turns, of_outlines)
        count, position, session, time, ids, voices = turns
        _, length, telling, named = outlines
        names, speakers = ids.split(_BETWEEN), voices.split(_BETWEEN)
        if not len(names) == len(speakers) == count:
            rows = connection.execute(NAMES_SINCE.replace(_NEW, of_turns), since).fetchall()
            names, speakers = [name for name, _ in rows], [who for _, who in rows]
        known = self.voices
        for who in dict.fromkeys(speakers):
            known.setdefault(who, len(known))
        fresh = {
            "position": _numbers(position),
            "session": _numbers(session),
            "voice": np.fromiter(map(known.__getitem__, speakers), np.int64, count or 0),
            "time": _numbers(time).view("datetime64[us]"),
            "length": _numbers(length).astype(np.float32),
            "telling": (_numbers(telling) / _UNIT).astype(np.float32),
            "named": _days_named(named),
        }
        self.ids += names
        self.positions.add(names, fresh["position"])
        for key, array in fresh.items():
            self.columns.setdefault(key, _GrowingArray(array[:0])).add(array)

    def _since(
        self, connection: Connection, of_turns: str = _NEW, of_outlines: str = _NEW
    ) -> tuple[list[Any], list[Any]]:
        """The columns of new turns and of their outlines, under these conditions."""
        since = (self.owner, self.last)
        turns = connection.execute(TURNS_SINCE.replace(_NEW, of_turns), (*since, _BETWEEN))
        outlines = connection.execute(OUTLINES_SINCE.replace(_NEW, of_outlines), since)
        found = turns.fetchone(), outlines.fetchone()
        return [column or "" for column in found[0]], [column or "" for column in found[1]]

    def _build(self) -> PositionedTable:
        """Build a new turn table: a search may still be reading the old one."""
        import numpy as np

        arrays = {key: column.filled for key, column in self.columns.items()}
        ids = tuple(self.ids)
        session = arrays["session"]
        if (session[1:] < session[:-1]).any():  # sessions overlapped
            order = np.argsort(arrays["session"], kind="stable")
            arrays = {
                key: array if key == "named" else array[order] for key, array in arrays.items()
            }
            ids = tuple(ids[i] for i in order)
        positions, named = arrays.pop("position"), arrays.pop("named").copy()
        rows = RowsByPosition(positions)
        named[:, 0] = rows(named[:, 0])
        features = Features(values=arrays.pop("telling"), spans=named)
        turn_table = TurnTable(
            ids=ids,
            row_by_id=_RowById(ids, self.positions, rows),
            speakers=tuple(map(_speaker, self.voices)),
            features=features,
            **arrays,
        )
        return PositionedTable(table=turn_table, rows=rows, positions=positions)


class _GrowingArray:
    """An array that can be appended to; views returned before stay unchanged."""

    def __init__(self, empty: NDArray[Any]) -> None:
        self._buffer, self._used = empty, 0

    @property
    def filled(self) -> NDArray[Any]:
        """All rows that were added."""
        return self._buffer[: self._used]

    def add(self, more: NDArray[Any]) -> None:
        """Append rows, in a larger buffer if needed."""
        import numpy as np

        end = self._used + len(more)
        if end > len(self._buffer):
            buffer = np.empty((end + end // 8, *more.shape[1:]), more.dtype)
            buffer[: self._used] = self.filled
            self._buffer = buffer
        self._buffer[self._used : end] = more
        self._used = end


class _PositionById:
    """Positions by id. Many searches look up none, so the dictionary is filled by the first that
    does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}
        self._added: list[tuple[Sequence[str], Ints]] = []

    def add(self, ids: Sequence[str], positions: Ints) -> None:
        """Add turns."""
        with self._lock:
            self._added.append((ids, positions))

    def __getitem__(self, name: str) -> int:
        if self._added:
            with self._lock:
                for ids, positions in self._added:
                    self._known.update(zip(ids, positions.tolist(), strict=True))
                self._added = []
        return self._known[name]


class _RowById(Mapping[str, int]):
    """Rows by id. Shares the positions with later turn tables, which only add to them: rebuilding
    this for each would take longer than the search."""

    def __init__(self, ids: Sequence[str], positions: _PositionById, rows: RowsByPosition) -> None:
        self._ids, self._positions, self._rows = ids, positions, rows

    def __getitem__(self, name: str) -> int:
        import numpy as np

        row = int(self._rows(np.array([self._positions[name]]))[0])
        if row < 0:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def _numbers(text: str) -> Ints:
    """The whole numbers in a string. Raises `ValueError` if there is anything else in it."""
    import numpy as np

    return np.fromstring(text, np.int64, sep=" ")


def _speaker(voice: str) -> NamedSpeaker:
    """A speaker, and the name after a space if one is known (`_VOICE`)."""
    who, space, name = voice.partition(" ")
    return NamedSpeaker(speaker=Speaker(who), name=name if space else None)


def _days_named(text: str) -> Ints:
    """Position, first and last day of each period in a list of turns: a turn's position and the
    pairs of its days are separated by spaces, turns by commas."""
    import numpy as np

    numbers = _numbers(text.replace(",", " "))
    sizes = np.array([turn.count(" ") + 1 for turn in text.split(",") if turn], np.int64)
    first = np.cumsum(sizes) - sizes
    days = np.delete(numbers, first).reshape(-1, 2)
    return np.column_stack((np.repeat(numbers[first], sizes // 2), days))
