"""Large erasures in slices: a transaction removes few rows, so that no other writer waits for long.
How few depends on how long the last slice took, on this machine at this time, and on how many pages
it wrote, for which the disk is waited for.

The first transaction of an erasure notes in the table of the database's own values what the others
have to remove; the last takes that out again. So an erasure that is interrupted is finished by the
next opening, or by the next erasure of any process. Of a part the memories go first and then the
turns, and if somebody changed a memory meanwhile, all is looked for again. An owner who is erased
whole gets another name in the first transaction: from then on nothing of them is found under
theirs, and a new owner may have it. A database that locks one owner at a time removes the rest in
one transaction. Nobody waits for it: the jobs go with the name, no session of an owner without a
name is ended, and the owner is not locked.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erasure_findings import ErasureRequest
from omoide.adapters.stores.sql.external import vanishing_owner_name
from omoide.adapters.stores.sql.rows import lock_owner
from omoide.adapters.stores.sql.tables import TABLES
from omoide.ports import Erased

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner

WANTED = 0.01
"""Seconds that a slice is to take, without the wait for the disk, which does not depend on it."""
PAGES = 60
"""Pages that a slice is to write, where a database counts them."""
ROWS = 1000
"""Most rows that a slice of a whole owner removes, by the weight of each."""
FIRST_ROWS = 250
"""The same for the first slice, of which nothing is known yet."""
ITEMS = 40
"""Most facts, events, memos and turns that a slice of a part removes. Each posting lies in a page
of its own."""
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
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
"""Seconds. Whoever waits for SQLite's lock asks for it once in a millisecond, so a shorter pause
could be missed."""


async def leave_time(taken: float) -> None:
    """Let others write for as long as they had to wait."""
    await asyncio.sleep(min(max(taken, _SHORTEST_PAUSE), _LONGEST_PAUSE))


@dataclass(kw_only=True)
class SliceSize:
    """How much the next slice may remove."""

    size: int
    most: int
    times: float = 1.0
    """How often `WANTED` it may take."""

    def adapt(self, seconds: float, pages: int = 0) -> None:
        """Choose the next size after a slice of this one took so long and wrote so many pages: at
        most twice or half. A slice costs something however small it is, so none is smaller than a
        twentieth."""
        wanted = min(self.times * WANTED / max(seconds, 1e-6), PAGES / max(pages, 1))
        scale = min(max(wanted, 0.5), 2.0)
        self.size = min(max(int(self.size * scale), self.most // 20), self.most)


@dataclass(kw_only=True)
class TableSliceSizes:
    """How much the next slice of a whole owner may remove of each table: ten rows of one can write
    as many pages as a thousand of another."""

    sizes: dict[str, SliceSize] = field(default_factory=dict)
    last: str = ""
    """The table at which the last slice ended."""

    def of(self, table: str) -> int:
        """How many rows of it a slice may remove that removes nothing else, by their weight."""
        self.last = table
        return self.sizes.setdefault(table, SliceSize(size=FIRST_ROWS, most=ROWS)).size

    def adapt(self, seconds: float, pages: int = 0) -> None:
        """See `SliceSize.adapt`."""
        if self.last:
            self.sizes[self.last].adapt(seconds, pages)


@dataclass(frozen=True, kw_only=True)
class UnfinishedErasure:
    """What an erasure still has to remove of one owner."""

    name: str
    """Of its row."""
    tenant: str
    owner: int
    wanted: ErasureRequest | None = None
    """The part; None for everything."""

    def state(self, connection: Connection) -> Any:  # noqa: ANN401 - a row or None
        """The owner's name, and a number that changes as long as a part is being removed."""
        find = 'SELECT "user", erasures FROM owners WHERE id = ?'
        return connection.execute(find, (self.owner,)).fetchone()


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


@dataclass(frozen=True, kw_only=True)
class ErasureNotes:
    """What unfinished erasures have to remove, in a table with names and values."""

    table: str

    def add_part(
        self, connection: Connection, owner: Owner, number: int, wanted: ErasureRequest
    ) -> UnfinishedErasure:
        """Note that a part is still to be removed. Older versions of omoide find no positions of
        turns in it, and leave it alone."""
        what = {"session": wanted.session, "turns": wanted.turns, "positions": ()}
        name = self._add(connection, number, what)
        return UnfinishedErasure(name=name, tenant=owner.tenant, owner=number, wanted=wanted)

    def add_owner(self, connection: Connection, owner: int) -> None:
        """Take the name from an owner, and note that everything of theirs is still to be
        removed."""
        connection.execute(
            'UPDATE owners SET "user" = ? WHERE id = ?', (vanishing_owner_name(owner), owner)
        )
        self._add(connection, owner, {})

    def all(self, connection: Connection) -> list[UnfinishedErasure]:
        """All erasures that are still to be finished."""
        rows: list[Any] = connection.execute(
            f"SELECT name, value FROM {self.table} WHERE name >= ? AND name < ?",  # noqa: S608
            (f"{_NAME} 0", f"{_NAME} a"),  # a digit follows, however the database sorts
        ).fetchall()
        found = []
        for name, value in rows:
            what = json.loads(value)
            wanted = None
            if "positions" in what:
                wanted = ErasureRequest(
                    session=what["session"],
                    turns=tuple(what.get("turns", ())),
                    positions=tuple(what["positions"]),
                )
            found.append(
                UnfinishedErasure(
                    name=name,
                    tenant=what.get("tenant", ""),
                    owner=what["owner"],
                    wanted=wanted,
                )
            )
        return found

    def hold(self, connection: Connection, erasure: UnfinishedErasure, *, wait: bool) -> bool:
        """Lock the note and its owner for this transaction; False if another process has finished
        the erasure or, unless `wait`, is about to.

        An owner without a name is not locked: nobody writes for them but erasures of a part that
        had begun before, and these lock their notes."""
        lock = "/* FOR UPDATE */" if wait else "/* FOR UPDATE SKIP LOCKED */"
        found = connection.execute(
            f"SELECT 1 FROM {self.table} WHERE name = ? {lock}",  # noqa: S608
            (erasure.name,),
        ).fetchone()
        if found is None:
            return False
        if erasure.wanted:
            lock_owner(connection, erasure.owner)
        else:
            connection.execute(
                f"SELECT 1 FROM {self.table} WHERE name LIKE ? /* FOR UPDATE */",  # noqa: S608
                (f"{_NAME} {erasure.owner} %",),
            ).fetchall()
        return True

    def remove(self, connection: Connection, erasure: UnfinishedErasure) -> None:
        """Take out the note of an erasure that is finished."""
        connection.execute(f"DELETE FROM {self.table} WHERE name = ?", (erasure.name,))  # noqa: S608

    def _add(self, connection: Connection, owner: int, what: Mapping[str, object]) -> str:
        name = f"{_NAME} {owner} {secrets.token_hex(8)}"
        [(tenant,)] = connection.execute("SELECT tenant FROM owners WHERE id = ?", (owner,))
        connection.execute(
            f"INSERT INTO {self.table} (name, value) VALUES (?, ?)",  # noqa: S608
            (name, json.dumps({"tenant": tenant, "owner": owner, **what})),
        )
        return name


def remove_rows(connection: Connection, owner: int, sizes: TableSliceSizes) -> RemovedRows:
    """Remove some rows of an owner who is in `erasing`, and with the last of them the owner. The
    database itself refuses to remove an owner of whom any table has a row."""
    removed, left = RemovedRows(), 1.0
    for table, key in _KEYS.items():
        columns, weight = ", ".join(key), _WEIGHTS.get(table, 1)
        most = sizes.of(table)
        limit = max(int(left * most) // weight, 1)
        chosen = f"SELECT {columns} FROM {table} WHERE owner = ?1 ORDER BY {columns} LIMIT ?2"  # noqa: S608
        if table == "summaries":
            removed.sentences = _sentences(connection, owner, limit)
        connection.execute(
            f"DELETE FROM {table} WHERE owner = ?1 AND ({columns}) IN ({chosen})",  # noqa: S608
            (owner, limit),
        )
        removed.rows[table] = connection.changes()
        left = max(left - weight * removed.rows[table] / most, 0.0)
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
