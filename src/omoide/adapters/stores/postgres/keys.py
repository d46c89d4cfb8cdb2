"""API keys in the database itself, so that every server over it knows them."""

from __future__ import annotations

import time
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import psycopg

from omoide.adapters.stores.postgres.failures import told
from omoide.adapters.stores.postgres.opening import KWARGS, PARTITIONS, prepare, shown
from omoide.ports.keys import KeyRow

if TYPE_CHECKING:
    from collections.abc import Callable

_COLUMNS = "id, tenant, name, scopes, salt, hash, created, revoked"
_FRESH = 1.0
"""Seconds for which what was read counts."""


class PostgresKeys:
    """`KeyRows` in a table."""

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
        self._known: tuple[KeyRow, ...] = ()

    def read(self) -> tuple[KeyRow, ...]:
        """See `KeyRows.read`."""
        if self._now() >= self._until:
            rows = self._run(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created, id")  # noqa: S608
            names = _COLUMNS.split(", ")
            self._known = tuple(KeyRow(**dict(zip(names, row, strict=True))) for row in rows)
            self._until = self._now() + _FRESH
        return self._known

    def add(self, row: KeyRow) -> None:
        """See `KeyRows.add`."""
        places = ", ".join(f"${n}" for n in range(1, 9))
        self._run(f"INSERT INTO api_keys ({_COLUMNS}) VALUES ({places})", astuple(row))  # noqa: S608
        self._until = float("-inf")

    def revoke(self, id: str, at: int) -> None:  # noqa: A002 - as in `KeyRows`
        """See `KeyRows.revoke`."""
        self._run("UPDATE api_keys SET revoked = $1 WHERE id = $2", (at, id))
        self._until = float("-inf")

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        where = shown(self._url)
        with told(where), psycopg.connect(self._url, connect_timeout=5, **KWARGS) as connection:
            prepare(connection, where, partitions=self._partitions)
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []
