"""Large erasures in slices: a transaction removes few rows, so that no other writer waits for long.
How few depends on how long the last slice took, on this machine at this time.

The first transaction of an erasure writes into `meta` what the others have to remove; the last
takes that out again. So an erasure that is interrupted is finished by the next opening, or by the
next erasure of any process. An owner who is erased whole gets another name in the first
transaction: from then on nothing of them is found under theirs, and a new owner may have it.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erased_rows import erase_turns, remove_session
from omoide.adapters.stores.sql.external import vanishing_owner_name
from omoide.adapters.stores.sql.tables import TABLES
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.items import Posting

WANTED = 0.01
"""Seconds that a slice is to take, without the wait for the disk, which does not depend on it."""
ROWS = 2000
"""Most rows that a slice of a whole owner removes, by the weight of each."""
FIRST_ROWS = 500
"""The same for the first slice, of which nothing is known yet."""
TURNS = 40
"""Most turns that a slice of a part removes. Each posting lies in a page of its own."""
FIRST_TURNS = 10
"""The same for the first slice."""
_WEIGHTS = {
    "turns": 20,
    "vectors": 8,
    "summaries": 20,
    "facts": 20,
    "events": 10,
    "memos": 10,
    "aside": 10,
    "notes": 10,
    "jobs": 4,
}
"""Rows that cost more than others: they are long, or their index entries lie apart."""
_KEYS = {
    # No job of the owner may start any more; facts come after what triggers remove with them.
    "jobs": ("id",),
    "fact_sources": ("turn", "item"),
    **{table.name: table.key for table in TABLES if table.name != "jobs"},
    "vectors": ("space", "serial"),
}
_NAME = "unfinished"


@dataclass(kw_only=True)
class SliceSize:
    """How much the next slice may remove."""

    size: int
    most: int

    def adapt(self, seconds: float) -> None:
        """Choose the next size after a slice of this one took so long: at most twice or half. A
        slice costs something however small it is, so none is smaller than a twentieth."""
        scale = min(max(WANTED / max(seconds, 1e-6), 0.5), 2.0)
        self.size = min(max(int(self.size * scale), self.most // 20), self.most)


@dataclass(frozen=True, kw_only=True)
class UnfinishedErasure:
    """What an erasure still has to remove of one owner."""

    name: str
    """Of its row in `meta`."""
    owner: int
    positions: tuple[int, ...] | None = None
    """The turns; None for everything."""
    session: int | None = None
    """The session that goes with the last turn, if any."""

    @property
    def whole(self) -> bool:
        """Whether the whole owner is removed."""
        return self.positions is None


@dataclass(kw_only=True)
class RemovedRows:
    """How many rows of each table were removed, and whether all are."""

    rows: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    done: bool = False

    @property
    def erased(self) -> Erased:
        """The counts for the caller."""
        return Erased(
            sessions=self.rows["sessions"],
            turns=self.rows["turns"],
            sentences=self.sentences,
            facts=self.rows["facts"],
            events=self.rows["events"],
            memos=self.rows["memos"],
            notes=self.rows["notes"],
            rejected=self.rows["aside"],
        )


def note_turns(
    connection: Connection, owner: int, positions: Sequence[int], *, session: int | None
) -> None:
    """Note that these turns, and then the session, are still to be removed."""
    _note(connection, owner, {"positions": list(positions), "session": session})


def note_owner(connection: Connection, owner: int) -> None:
    """Take the name from an owner, and note that everything of theirs is still to be removed."""
    connection.execute(
        "UPDATE owners SET user = ? WHERE id = ?", (vanishing_owner_name(owner), owner)
    )
    _note(connection, owner, {})


def _note(connection: Connection, owner: int, what: dict[str, object]) -> None:
    connection.execute(
        "INSERT INTO meta VALUES (?, ?)",
        (f"{_NAME} {owner} {secrets.token_hex(8)}", json.dumps({"owner": owner, **what})),
    )


def unfinished(connection: Connection) -> list[UnfinishedErasure]:
    """All erasures that are still to be finished."""
    rows: list[Any] = connection.execute(
        "SELECT name, value FROM meta WHERE name >= ? AND name < ?", (f"{_NAME} ", f"{_NAME}!")
    ).fetchall()
    found = []
    for name, value in rows:
        what = json.loads(value)
        positions = what.get("positions")
        found.append(
            UnfinishedErasure(
                name=name,
                owner=what["owner"],
                positions=None if positions is None else tuple(positions),
                session=what.get("session"),
            )
        )
    return found


def remove_turns(
    connection: Connection,
    erasure: UnfinishedErasure,
    positions: Sequence[int],
    *,
    postings: Sequence[Posting],
    last: bool,
) -> None:
    """Remove some of the turns, and with the last of them the session and the note."""
    if not _is_noted(connection, erasure):
        return
    connection.execute("INSERT INTO erasing VALUES (?)", (erasure.owner,))
    erase_turns(connection, erasure.owner, positions, postings=postings)
    if last and erasure.session is not None:
        remove_session(connection, erasure.owner, erasure.session)
    connection.execute("DELETE FROM erasing WHERE owner = ?", (erasure.owner,))
    if last:
        connection.execute("DELETE FROM meta WHERE name = ?", (erasure.name,))


def remove_slice(connection: Connection, erasure: UnfinishedErasure, *, rows: int) -> RemovedRows:
    """Remove some rows of an owner, and with the last of them the owner and the note."""
    if not _is_noted(connection, erasure):
        return RemovedRows(done=True)
    connection.execute("INSERT INTO erasing VALUES (?)", (erasure.owner,))
    removed = remove_rows(connection, erasure.owner, rows=rows)
    if removed.done:
        connection.execute("DELETE FROM meta WHERE name = ?", (erasure.name,))
    else:
        connection.execute("DELETE FROM erasing WHERE owner = ?", (erasure.owner,))
    return removed


def remove_rows(connection: Connection, owner: int, *, rows: int = FIRST_ROWS) -> RemovedRows:
    """Remove some rows of an owner who is in `erasing`, and with the last of them the owner. The
    database itself refuses to remove an owner of whom any table has a row."""
    removed, left = RemovedRows(), rows
    for table, key in _KEYS.items():
        columns, weight = ", ".join(key), _WEIGHTS.get(table, 1)
        limit = max(left // weight, 1)
        chosen = f"SELECT {columns} FROM {table} WHERE owner = ?1 ORDER BY {columns} LIMIT ?2"  # noqa: S608
        if table == "summaries":
            removed.sentences = _sentences(connection, owner, limit)
        connection.execute(
            f"DELETE FROM {table} WHERE owner = ?1 AND ({columns}) IN ({chosen})",  # noqa: S608
            (owner, limit),
        )
        removed.rows[table] = connection.changes()
        left -= weight * removed.rows[table]
        if removed.rows[table] == limit:
            return removed
    connection.execute("DELETE FROM erasing WHERE owner = ?", (owner,))
    connection.execute("DELETE FROM owners WHERE id = ?", (owner,))
    removed.done = True
    return removed


def _sentences(connection: Connection, owner: int, limit: int) -> int:
    """How many sentences the first versions have."""
    rows = connection.execute(
        "SELECT json_array_length(sentences) FROM summaries WHERE owner = ? "
        "ORDER BY number LIMIT ?",
        (owner, limit),
    )
    return sum(count for (count,) in rows)


def _is_noted(connection: Connection, erasure: UnfinishedErasure) -> bool:
    """False if another process has finished it."""
    found = connection.execute("SELECT 1 FROM meta WHERE name = ?", (erasure.name,)).fetchone()
    return found is not None
