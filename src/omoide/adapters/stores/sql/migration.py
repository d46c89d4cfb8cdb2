"""Copies a database to another, owner by owner, verified row by row.

Each owner is written in one transaction and read back within it. It is committed only if every
table has the same number of rows and the same digest as in the source. So an interrupted migration
leaves only complete owners, and can be resumed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from omoide.adapters.stores.sql.erased_owners import read_secret, take_secret
from omoide.adapters.stores.sql.index import OUTSIDE
from omoide.adapters.stores.sql.rows import ensured_owner_id, owner_id
from omoide.adapters.stores.sql.tables import OWNER, TABLES
from omoide.errors import BadInput, EmbedderMismatch, StoreCorrupt
from omoide.ports.migration import MigratedOwner, MigrationResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omoide.adapters.stores.sql.connection import Connection
    from omoide.adapters.stores.sql.store import SqlStore
    from omoide.adapters.stores.sql.tables import OwnerTable
    from omoide.adapters.stores.sql.vectors import VectorComparer
    from omoide.domain import Owner
    from omoide.ports import Progress

CHUNK = 2000
"""Rows held in memory at a time."""


@dataclass(frozen=True, kw_only=True)
class TableContent:
    """Number and digest of an owner's rows in a table, independent of their order."""

    rows: int
    digest: int


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One owner in one of the two databases."""

    connection: Connection
    comparer: VectorComparer
    owner: int
    spaces: dict[int, str]
    """Names by number of the spaces whose vectors are in this database. Vectors in an external
    index use this database's numbers, so they are not copied but embedded again."""

    @classmethod
    def of(cls, store: SqlStore, connection: Connection, owner: int) -> _Side:
        """An owner in a store."""
        rows = connection.execute("SELECT id, name FROM spaces").fetchall()
        spaces = {number: name for number, name in rows if OUTSIDE not in name}
        return cls(connection=connection, comparer=store.comparer, owner=owner, spaces=spaces)

    def rows(self, table: OwnerTable) -> Iterator[list[Any]]:
        """A table's rows in order, in a form that does not depend on the database."""
        columns, keys = ", ".join(table.columns), ", ".join(table.key)
        select = f"SELECT {columns} FROM {table.name} WHERE owner = ?"  # noqa: S608
        order = f" ORDER BY {keys} LIMIT {CHUNK}"
        placeholders = ", ".join("?" * len(table.key))
        after: tuple[Any, ...] = ()
        while True:
            condition = f" AND ({keys}) > ({placeholders})" if after else ""
            chunk = self.connection.execute(
                select + condition + order, (self.owner, *after)
            ).fetchall()
            for row in chunk:
                values = dict(zip(table.columns, row, strict=True))
                if values.get("space") in (None, *self.spaces):
                    yield self._portable(table, values)
            if len(chunk) < CHUNK:
                return
            after = tuple(chunk[-1][: len(table.key)])

    def write(self, table: OwnerTable, rows: list[list[Any]]) -> None:
        """Add rows that `rows` read from another database."""
        columns = table.portable_columns
        placeholders = ", ".join("?" * (len(columns) + 1))
        self.connection.executemany(
            f"INSERT INTO {table.name} (owner, {', '.join(columns)}) VALUES ({placeholders})",  # noqa: S608
            [(self.owner, *self._local(table, dict(zip(columns, r, strict=True)))) for r in rows],
        )

    def content(self, table: OwnerTable) -> TableContent:
        """Number and digest of the owner's rows in a table."""
        digest = RowDigest(table)
        for row in self.rows(table):
            digest.add(row)
        return digest.content

    def counters(self) -> list[int]:
        """The counters in the owner's own row."""
        row = self.connection.execute(
            f"SELECT {', '.join(OWNER)} FROM owners WHERE id = ?",  # noqa: S608
            (self.owner,),
        ).fetchone()
        return list(row)

    def _portable(self, table: OwnerTable, row: dict[str, Any]) -> list[Any]:
        if "space" in row:
            row["space"] = self.spaces[row["space"]]
        if "vector" in row:
            row["vector"] = self.comparer.read(row["vector"]).astype("<f4").tobytes()
        for name in table.booleans:
            row[name] = bool(row[name])
        return [_without_nul(row[name]) for name in table.portable_columns]

    def _local(self, table: OwnerTable, row: dict[str, Any]) -> list[Any]:
        import numpy as np

        if "space" in row:
            names = {name: number for number, name in self.spaces.items()}
            row["space"] = names[row["space"]]
        if "vector" in row:
            row["vector"] = self.comparer.written(np.frombuffer(row["vector"], "<f4"))
        return list(row.values())


class RowDigest:
    """Counts and digests rows. The digest is the sum of the rows' SHA-256 and so ignores their
    order, because databases number spaces differently. If the key is not portable, the order
    counts."""

    def __init__(self, table: OwnerTable) -> None:
        self._ordered = table.numbered
        self._rows = 0
        self._sum = 0

    def add(self, row: list[Any]) -> None:
        """Add a row."""
        self._rows += 1
        values = [self._rows, *row] if self._ordered else row
        text = json.dumps(values, ensure_ascii=False, default=bytes.hex)
        self._sum += int.from_bytes(hashlib.sha256(text.encode()).digest())

    @property
    def content(self) -> TableContent:
        """Number and digest of the rows so far."""
        return TableContent(rows=self._rows, digest=self._sum % 2**256)


def _without_nul(value: Any) -> Any:  # noqa: ANN401 - any column value
    """Replace NUL, which PostgreSQL's text cannot hold, but a rejected answer may contain."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


async def migrate_all(
    source: SqlStore,
    target: SqlStore,
    *,
    tenant: str | None = None,
    progress: Progress | None = None,
) -> MigrationResult:
    """Copy every owner, or those of one tenant. Owners that cannot be copied are reported. A new
    target gets the source's secret, by which the receipts of its erasures are known as genuine."""
    secret = await source.database.read("", partial(read_secret, table=source.archive.META))
    take = partial(take_secret, table=target.archive.META, found=secret)
    await target.database.write("", take)
    names = (tenant,) if tenant else await source.archive.tenants()
    owners = [owner for name in names for owner in await source.archive.owners(name)]
    moved: list[MigratedOwner] = []
    refused: list[str] = []
    for number, owner in enumerate(owners, 1):
        try:
            moved.append(await migrate_owner(source, target, owner))
        except BadInput as error:
            refused.append(str(error))
        if progress:
            progress(number, len(owners), "users")
    return MigrationResult(
        owners=len(moved),
        known=sum(result.known for result in moved),
        rows=sum(result.rows for result in moved),
        refused=tuple(refused),
    )


async def migrate_owner(source: SqlStore, target: SqlStore, owner: Owner) -> MigratedOwner:
    """Copy one owner. Raises `BadInput` if the target has different data for them, and
    `StoreCorrupt` if the copy differs from the source."""

    def work(there: Connection) -> MigratedOwner:
        return source.database.read_inline(
            owner.tenant, lambda here: _move(source, here, target, there, owner)
        )

    return await target.database.write(owner.tenant, work)


def _move(
    source: SqlStore, here: Connection, target: SqlStore, there: Connection, owner: Owner
) -> MigratedOwner:
    number = owner_id(here, owner)
    if number is None:
        raise BadInput(
            f"user {owner.user!r} of tenant {owner.tenant!r} no longer exists in the source"
        )
    known = owner_id(there, owner) is not None
    _match_spaces(here, there)
    origin = _Side.of(source, here, number)
    goal = _Side.of(target, there, ensured_owner_id(there, owner))
    rows = 0
    if not known:
        counters = [*origin.counters(), goal.owner]
        there.execute(
            f"UPDATE owners SET {', '.join(f'{name} = ?' for name in OWNER)} WHERE id = ?",  # noqa: S608
            counters,
        )
    for table in TABLES:
        expected = origin.content(table) if known else _copy(origin, goal, table)
        actual = goal.content(table)
        rows += actual.rows
        if actual != expected:
            raise _differs(owner, table, expected, actual, known=known)
    if goal.counters() != origin.counters():
        raise _differs(owner, None, None, None, known=known)
    return MigratedOwner(rows=rows, known=known)


def _copy(origin: _Side, goal: _Side, table: OwnerTable) -> TableContent:
    digest, batch = RowDigest(table), list[list[Any]]()
    for row in origin.rows(table):
        digest.add(row)
        batch.append(row)
        if len(batch) == CHUNK:
            goal.write(table, batch)
            batch = []
    if batch:
        goal.write(table, batch)
    return digest.content


def _match_spaces(here: Connection, there: Connection) -> None:
    """Add the source's spaces to the target. Raises `EmbedderMismatch` if one differs there."""
    columns = "name, version, dimensions"
    known = here.execute(f"SELECT {columns} FROM spaces ORDER BY name").fetchall()  # noqa: S608
    wanted = [row for row in known if OUTSIDE not in row[0]]
    for name, version, dimensions in wanted:
        there.execute(
            f"INSERT INTO spaces ({columns}) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",  # noqa: S608
            (name, version, dimensions),
        )
    existing = {row[0]: row for row in there.execute(f"SELECT {columns} FROM spaces")}  # noqa: S608
    for row in wanted:
        if existing[row[0]] != row:
            raise EmbedderMismatch(
                f"vectors of {row[0]} have version {row[1]!r} and {row[2]} dimensions, but in the "
                f"target version {existing[row[0]][1]!r} and {existing[row[0]][2]}"
            )


def _differs(
    owner: Owner,
    table: OwnerTable | None,
    expected: TableContent | None,
    actual: TableContent | None,
    *,
    known: bool,
) -> BadInput | StoreCorrupt:
    what = table.name if table else "counters"
    counts = f" ({expected.rows} rows here, {actual.rows} there)" if expected and actual else ""
    if known:
        return BadInput(
            f"the target already has different data for user {owner.user!r} of tenant "
            f"{owner.tenant!r}: {what} differ{counts}; erase that user there first, or skip them"
        )
    return StoreCorrupt(
        f"the copy of user {owner.user!r} of tenant {owner.tenant!r} differs from the source: "
        f"{what} differ{counts}; nothing of this user was stored in the target"
    )
