"""What PostgreSQL says when it fails, as one of omoide's errors. Only the first line of it: its
details may quote what was said."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from omoide.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error, where) from error


def _translated(error: psycopg.Error, where: str) -> StoreError:
    said = error.diag.message_primary or str(error).partition("\n")[0]
    match error:
        case PoolClosed():
            return StoreError(f"{where} was closed; open it again")
        case PoolTimeout() | TooManyRequests():
            return StoreLocked(
                f"no connection to {where} became free in time: there is more work than "
                "connections, or the server cannot be reached; try again"
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.QueryCanceled():
            return StoreLocked(
                f"another process is writing for the same user in {where} and did not finish in "
                f"time ({said}); try again"
            )
        case errors.DiskFull() | errors.OutOfMemory():
            return StoreFull(f"no space is left for {where} ({said}): nothing of this was kept")
        case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
            return StoreReadOnly(f"{where} cannot be written ({said}); check the role's rights")
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return StoreCorrupt(f"{where} is damaged ({said}); bring back a copy of it")
        case psycopg.OperationalError() if 'database "' in said and "does not exist" in said:
            # Said while connecting, when errors have no number yet.
            return StoreMissing(f"there is no database {where}; create it first: createdb NAME")
        case psycopg.OperationalError():
            return StoreError(f"{where} cannot be reached ({said}); check that the server runs")
        case _:
            return StoreError(f"{where}: {type(error).__name__}: {said}")
