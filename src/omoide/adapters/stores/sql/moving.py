"""Everything from one database into another, owner by owner, checked row by row.

An owner is written in one transaction, and read back within it: only if every table then has the
same number of rows and the same digest as at the source is it kept. So a move that is broken off
leaves whole owners behind and nothing else, and goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.index import OUTSIDE
from omoide.adapters.stores.sql.rows import owner_id, settled_owner_id
from omoide.adapters.stores.sql.tables import OWNER, TABLES
from omoide.errors import BadInput, EmbedderMismatch, StoreCorrupt
from omoide.ports.moving import Migrated, Moved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.nearness import Nearness
    from omoide.adapters.stores.sql.sides import SqlStore
    from omoide.adapters.stores.sql.tables import Table
    from omoide.domain import Owner
    from omoide.ports import Progress

CHUNK = 2000
"""Rows that are in memory at a time."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """How many rows a table has of an owner, and what is in them, in whatever order."""

    rows: int
    digest: int


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One of the two databases, at one owner."""

    connection: Connection
    nearness: Nearness
    owner: int
    spaces: dict[int, str]
    """Those whose vectors are here. What is in Qdrant goes by this database's own numbers, and is
    made anew elsewhere."""

    @classmethod
    def of(cls, store: SqlStore, connection: Connection, owner: int) -> _Side:
        """The side of a store."""
        rows = connection.execute("SELECT id, name FROM spaces").fetchall()
        spaces = {number: name for number, name in rows if OUTSIDE not in name}
        return cls(connection=connection, nearness=store.nearness, owner=owner, spaces=spaces)

    def rows(self, table: Table) -> Iterator[list[Any]]:
        """A table's rows in order, in a form that is the same everywhere."""
        columns, keys = ", ".join(table.columns), ", ".join(table.key)
        select = f"SELECT {columns} FROM {table.name} WHERE owner = ?"  # noqa: S608
        order = f" ORDER BY {keys} LIMIT {CHUNK}"
        places = ", ".join("?" * len(table.key))
        after: tuple[Any, ...] = ()
        while True:
            further = f" AND ({keys}) > ({places})" if after else ""
            found = self.connection.execute(
                select + further + order, (self.owner, *after)
            ).fetchall()
            for row in found:
                named = dict(zip(table.columns, row, strict=True))
                if named.get("space") in (None, *self.spaces):
                    yield self._plain(table, named)
            if len(found) < CHUNK:
                return
            after = tuple(found[-1][: len(table.key)])

    def write(self, table: Table, rows: list[list[Any]]) -> None:
        """Add rows that `rows` of another side gave."""
        columns = table.carried
        places = ", ".join("?" * (len(columns) + 1))
        self.connection.executemany(
            f"INSERT INTO {table.name} (owner, {', '.join(columns)}) VALUES ({places})",  # noqa: S608
            [(self.owner, *self._own(table, dict(zip(columns, r, strict=True)))) for r in rows],
        )

    def content(self, table: Table) -> Content:
        """What a table holds of the owner."""
        tally = Tally(table)
        for row in self.rows(table):
            tally.add(row)
        return tally.content

    def counted(self) -> list[int]:
        """What the owner's own row counts."""
        row = self.connection.execute(
            f"SELECT {', '.join(OWNER)} FROM owners WHERE id = ?",  # noqa: S608
            (self.owner,),
        ).fetchone()
        return list(row)

    def _plain(self, table: Table, row: dict[str, Any]) -> list[Any]:
        if "space" in row:
            row["space"] = self.spaces[row["space"]]
        if "vector" in row:
            row["vector"] = self.nearness.read(row["vector"]).astype("<f4").tobytes()
        for name in table.booleans:
            row[name] = bool(row[name])
        return [_without_nul(row[name]) for name in table.carried]

    def _own(self, table: Table, row: dict[str, Any]) -> list[Any]:
        import numpy as np

        if "space" in row:
            names = {name: number for number, name in self.spaces.items()}
            row["space"] = names[row["space"]]
        if "vector" in row:
            row["vector"] = self.nearness.written(np.frombuffer(row["vector"], "<f4"))
        return list(row.values())


class Tally:
    """Counts rows and digests them: the sum of the SHA-256 of each, since databases number the
    spaces of vectors differently. Where only the order tells rows apart, it is digested too."""

    def __init__(self, table: Table) -> None:
        self._ordered = table.numbered
        self._rows = 0
        self._sum = 0

    def add(self, row: list[Any]) -> None:
        """Take in a row."""
        self._rows += 1
        whole = [self._rows, *row] if self._ordered else row
        text = json.dumps(whole, ensure_ascii=False, default=bytes.hex)
        self._sum += int.from_bytes(hashlib.sha256(text.encode()).digest())

    @property
    def content(self) -> Content:
        """What was taken in."""
        return Content(rows=self._rows, digest=self._sum % 2**256)


def _without_nul(value: Any) -> Any:  # noqa: ANN401 - whatever stands in a column
    """PostgreSQL's text cannot hold it; in a model's answer that was set aside it may stand."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


async def move_all(
    source: SqlStore,
    target: SqlStore,
    *,
    tenant: str | None = None,
    progress: Progress | None = None,
) -> Migrated:
    """Bring every owner over, or those of one tenant; those that cannot be are told of."""
    names = (tenant,) if tenant else await source.archive.tenants()
    owners = [owner for name in names for owner in await source.archive.owners(name)]
    moved: list[Moved] = []
    refused: list[str] = []
    for number, owner in enumerate(owners, 1):
        try:
            moved.append(await move(source, target, owner))
        except BadInput as error:
            refused.append(str(error))
        if progress:
            progress(number, len(owners), "users")
    return Migrated(
        owners=len(moved),
        known=sum(one.known for one in moved),
        rows=sum(one.rows for one in moved),
        refused=tuple(refused),
    )


async def move(source: SqlStore, target: SqlStore, owner: Owner) -> Moved:
    """Bring one owner over. Raises `BadInput` if the target has something else of theirs, and
    `StoreCorrupt` if what was written is not what was read."""

    def work(there: Connection) -> Moved:
        return source.database.look(
            owner.tenant, lambda here: _move(source, here, target, there, owner)
        )

    return await target.database.write(owner.tenant, work)


def _move(
    source: SqlStore, here: Connection, target: SqlStore, there: Connection, owner: Owner
) -> Moved:
    number = owner_id(here, owner)
    if number is None:
        raise BadInput(f"nothing is stored of {owner.user!r} of {owner.tenant!r} any more")
    known = owner_id(there, owner) is not None
    _match_spaces(here, there)
    origin = _Side.of(source, here, number)
    goal = _Side.of(target, there, settled_owner_id(there, owner))
    rows = 0
    if not known:
        counted = [*origin.counted(), goal.owner]
        there.execute(
            f"UPDATE owners SET {', '.join(f'{name} = ?' for name in OWNER)} WHERE id = ?",  # noqa: S608
            counted,
        )
    for table in TABLES:
        wanted = origin.content(table) if known else _copy(origin, goal, table)
        came = goal.content(table)
        rows += came.rows
        if came != wanted:
            raise _differs(owner, table, wanted, came, known=known)
    if goal.counted() != origin.counted():
        raise _differs(owner, None, None, None, known=known)
    return Moved(rows=rows, known=known)


def _copy(origin: _Side, goal: _Side, table: Table) -> Content:
    tally, batch = Tally(table), list[list[Any]]()
    for row in origin.rows(table):
        tally.add(row)
        batch.append(row)
        if len(batch) == CHUNK:
            goal.write(table, batch)
            batch = []
    if batch:
        goal.write(table, batch)
    return tally.content


def _match_spaces(here: Connection, there: Connection) -> None:
    """Make the spaces of vectors known at the target."""
    columns = "name, version, dimensions"
    known = here.execute(f"SELECT {columns} FROM spaces ORDER BY name").fetchall()  # noqa: S608
    wanted = [row for row in known if OUTSIDE not in row[0]]
    for name, version, dimensions in wanted:
        there.execute(
            f"INSERT INTO spaces ({columns}) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",  # noqa: S608
            (name, version, dimensions),
        )
    found = {row[0]: row for row in there.execute(f"SELECT {columns} FROM spaces")}  # noqa: S608
    for row in wanted:
        if found[row[0]] != row:
            raise EmbedderMismatch(
                f"vectors of {row[0]} have version {row[1]!r} and {row[2]} dimensions, and at the "
                f"target version {found[row[0]][1]!r} and {found[row[0]][2]}"
            )


def _differs(
    owner: Owner, table: Table | None, wanted: Content | None, came: Content | None, *, known: bool
) -> BadInput | StoreCorrupt:
    what = table.name if table else "counters"
    counts = f" ({wanted.rows} rows here, {came.rows} there)" if wanted and came else ""
    if known:
        return BadInput(
            f"the target already has something else of user {owner.user!r} of tenant "
            f"{owner.tenant!r}: {what} differ{counts}; erase that user there first, or leave it"
        )
    return StoreCorrupt(
        f"what was written of user {owner.user!r} of tenant {owner.tenant!r} is not what was "
        f"read: {what} differ{counts}; nothing of this user was kept there"
    )
