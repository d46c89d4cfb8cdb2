"""Maps PostgreSQL's errors to omoide's. Uses only the first line of a message, because the details
may quote a user's text."""

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
def translate_errors(where: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error, where) from error


@contextmanager
def translate_damage(where: str) -> Iterator[None]:
    """Turn the error of a row that cannot be read, such as text that is not JSON or an unknown
    speaker, into ours. What was stored is valid, so something else changed it."""
    try:
        yield
    except (ValueError, KeyError) as error:
        raise _damaged(where, type(error).__name__) from error


def _translated(error: psycopg.Error, where: str) -> StoreError:
    message = error.diag.message_primary or str(error).partition("\n")[0]
    match error:
        case PoolClosed():
            return StoreError(f"{where} was closed; open it again")
        case PoolTimeout() | TooManyRequests():
            return StoreLocked(
                f"no connection to {where} became free in time: too many requests for the pool, or "
                "the server cannot be reached; try again"
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.QueryCanceled():
            return StoreLocked(
                f"another process is writing for the same user in {where} and did not finish in "
                f"time ({message}); try again"
            )
        case errors.DiskFull() | errors.OutOfMemory():
            return StoreFull(f"no space is left for {where} ({message}): nothing was stored")
        case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
            return StoreReadOnly(
                f"{where} is not writable ({message}); check the role's privileges"
            )
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return _damaged(where, message)
        case psycopg.OperationalError() if 'database "' in message and "does not exist" in message:
            # Raised while connecting, when errors have no SQLSTATE yet.
            return StoreMissing(f"there is no database {where}; create it first: createdb NAME")
        case psycopg.OperationalError():
            return StoreError(f"{where} cannot be reached ({message}); check that the server runs")
        case _:
            return StoreError(f"{where}: {type(error).__name__}: {message}")


def _damaged(where: str, why: str) -> StoreCorrupt:
    return StoreCorrupt(f"{where} is damaged ({why}); restore a backup")
