"""Transactions on a connection: one for a piece of work, or one for several that write."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

T = TypeVar("T")


@contextmanager
def transaction(
    connection: apsw.Connection, mode: Literal["DEFERRED", "IMMEDIATE"]
) -> Iterator[None]:
    """Run the block in a transaction; roll back if it raises."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have rolled it back already
            connection.execute("ROLLBACK")
        raise


class JoinedWrites:
    """Work that shares one transaction, since to commit costs more than most writes. What one piece
    wrote before it failed is undone, and the others stand."""

    def __init__(self, connection: apsw.Connection, *, alone: bool) -> None:
        self._connection = connection
        self._alone = alone
        self.failure: BaseException | None = None
        """What has undone the whole transaction, if anything has."""

    def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """The result of one piece of work."""
        if self.failure is not None:
            raise self.failure
        connection = self._connection
        try:
            if self._alone:
                return work(connection)
            connection.execute("SAVEPOINT work")
            result = work(connection)
            connection.execute("RELEASE work")
        except BaseException as error:
            if self._alone or not connection.in_transaction:  # a full disk ends it for all
                self.failure = error
            else:
                connection.execute("ROLLBACK TO work")
                connection.execute("RELEASE work")
            raise
        return result


@contextmanager
def joined_writes(connection: apsw.Connection, count: int) -> Iterator[JoinedWrites]:
    """A transaction for `count` pieces of work, committed at the end. Raises if nothing of it is
    stored."""
    with transaction(connection, "IMMEDIATE"):
        joined = JoinedWrites(connection, alone=count == 1)
        yield joined
        if joined.failure is not None:
            raise joined.failure
