"""The connections that the shared statements run on.

Statements are written once, in SQLite's dialect. Four things differ in PostgreSQL and are
translated (`adapters/stores/postgres/translation.py`):

- placeholders are `?`, or `?1`, `?2` where one is used twice;
- `INDEXED BY name` tells SQLite, which keeps no statistics, which index to use;
- `IN (SELECT value FROM json_each(?))` selects from a list; a Python list is bound to it;
- a comment that begins with `FOR` locks rows, for databases with several concurrent writers.

A writing transaction locks its owner (`rows.locked_owner_id`, `rows.ensured_owner_id`) in its first
statement, so that all writes for one owner are serialised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence

    Work = Callable[["Connection"], "T"]
    Reads = Callable[[], Coroutine[Any, Any, "T"]]

T = TypeVar("T")


class Rows(Protocol):
    """The result of a statement."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row of any type, or None
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All remaining rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection in a transaction. Lists can be bound as values."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run one statement."""

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> Rows:
        """Run one statement for each row of values and return all results in order. Pipelined if
        the database is remote."""

    def changes(self) -> int:
        """How many rows the last statement changed."""


class Database(Protocol):
    """Runs work in transactions, each for one tenant."""

    async def write(self, tenant: str, work: Work[T], /) -> T:
        """Run `work` in one transaction, durable on return."""

    async def read(self, tenant: str, work: Work[T], /) -> T:
        """Run `work` on one snapshot of the data."""

    async def read_together(self, tenant: str, reads: Reads[T], /) -> T:
        """Run a coroutine that waits for nothing but `read`, in one thread and on one snapshot."""

    def read_inline(self, tenant: str, work: Work[T], /) -> T:
        """Like `read`, but in the calling thread, for work that writes to another database.
        Blocks."""

    async def close(self) -> None:
        """Finish running work and close every connection. Calling it again does nothing."""


def finished(reads: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never has to wait."""
    try:
        reads.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    reads.close()
    raise RuntimeError("reads that run together waited for something that is no read")
