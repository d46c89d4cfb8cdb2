"""What the shared statements run on.

They are written once, in SQLite's SQL, of which four things are not PostgreSQL's; an adapter for
that rewrites them (`adapters/stores/postgres/translation.py`):

- placeholders are `?`, or `?1`, `?2` where one is used twice;
- `INDEXED BY name` tells SQLite, which keeps no statistics, which index to use;
- `IN (SELECT value FROM json_each(?))` chooses from a list, and a Python list is bound to it;
- a comment that begins with `FOR` locks rows, where more than one can write at a time.

A transaction that writes holds its owner (`rows.held_owner_id`, `rows.settled_owner_id`) from its
first statement on, so that all writing for one owner happens one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Work = Callable[["Connection"], "T"]

T = TypeVar("T")


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of whatever was asked for, or None
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection within a transaction. Lists may be bound."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run one statement."""

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> Rows:
        """Run one statement for each row of values; all that was found, in their order. Sent in
        one go where the way to the database is long."""

    def changes(self) -> int:
        """How many rows the last statement changed."""


class Database(Protocol):
    """Runs work in transactions, each for one tenant."""

    async def write(self, tenant: str, work: Work[T], /) -> T:
        """Do `work` in one transaction that is durable when this returns, or not at all."""

    async def read(self, tenant: str, work: Work[T], /) -> T:
        """Do `work` on one unchanging view of the data."""

    def look(self, tenant: str, work: Work[T], /) -> T:
        """The same in this very thread, for work that reads here and writes elsewhere. Blocks."""

    async def close(self) -> None:
        """Finish what was begun and close every connection. Calling it again does nothing."""
