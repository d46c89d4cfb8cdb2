"""API keys in the database, so that all servers that use it share them."""

from __future__ import annotations

import time
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import psycopg

from omoide.adapters.stores.postgres.failures import translate_errors
from omoide.adapters.stores.postgres.opening import KWARGS, PARTITIONS, prepare, without_password
from omoide.ports.keys import StoredKey

if TYPE_CHECKING:
    from collections.abc import Callable

_COLUMNS = "id, tenant, name, scopes, salt, hash, created, revoked"
_FRESH = 1.0
"""Seconds for which keys are cached."""
_BOUNDED: dict[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""So that no thread waits for a machine that vanished: libpq may wait for hours by default."""


class PostgresKeys:
    """`KeyStore` in a table."""

    def __init__(
        self,
        url: str,
        *,
        partitions: int = PARTITIONS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._partitions = partitions
        self._now = now
        self._until = float("-inf")
        self._known: tuple[StoredKey, ...] = ()

    def fresh(self) -> tuple[StoredKey, ...] | None:
        """See `KeyStore.fresh`."""
        return self._known if self._now() < self._until else None

    def read(self) -> tuple[StoredKey, ...]:
        """See `KeyStore.read`."""
        if (fresh := self.fresh()) is not None:
            return fresh
        asked = self._now()
        rows = self._run(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created, id")  # noqa: S608
        names = _COLUMNS.split(", ")
        self._known = tuple(StoredKey(**dict(zip(names, row, strict=True))) for row in rows)
        self._until = asked + _FRESH
        return self._known

    def add(self, row: StoredKey) -> None:
        """See `KeyStore.add`."""
        placeholders = ", ".join(f"${n}" for n in range(1, 9))
        self._run(f"INSERT INTO api_keys ({_COLUMNS}) VALUES ({placeholders})", astuple(row))  # noqa: S608
        self._until = float("-inf")

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - as in `KeyStore`
        """See `KeyStore.revoke`."""
        self._run("UPDATE api_keys SET revoked = $1 WHERE id = $2", (at, id))
        self._until = float("-inf")

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        where = without_password(self._url)
        with (
            translate_errors(where),
            psycopg.connect(self._url, **_BOUNDED, **KWARGS) as connection,
        ):
            prepare(connection, where, partitions=self._partitions)
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []
