"""For how long this process holds the write lock of a SQLite file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import apsw

BEGIN = "BEGIN IMMEDIATE"
ENDS = ("COMMIT", "ROLLBACK")
ALONE = ("VACUUM", "PRAGMA WAL_CHECKPOINT(TRUNCATE)")
"""Statements that keep other writers out while they run."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One time that the lock was held."""

    wall: float
    """Milliseconds by the wall, with the wait for the disk."""
    cpu: float
    """Milliseconds of CPU, of the thread that held it: independent of the machine's load."""
    rows: int


@dataclass(frozen=True, kw_only=True)
class _Moment:
    wall: float
    cpu: float
    rows: int

    def until(self, other: _Moment) -> Hold:
        return Hold(
            wall=1e3 * (other.wall - self.wall),
            cpu=1e3 * (other.cpu - self.cpu),
            rows=other.rows - self.rows,
        )


@dataclass
class WriteLocks:
    """Every time that a connection of this process holds the lock, from `watch` on."""

    holds: list[Hold] = field(default_factory=list)
    _began: dict[int, _Moment] = field(default_factory=dict)

    def watch(self) -> None:
        """Watch all connections that are opened from now on."""
        apsw.connection_hooks.append(self._trace)

    def taken(self) -> list[Hold]:
        """Those since the last call."""
        holds, self.holds = self.holds, []
        return holds

    def _trace(self, connection: apsw.Connection) -> None:
        mask = apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE
        connection.trace_v2(mask, self._seen, id=self)

    def _seen(self, event: dict[str, Any]) -> None:
        """A statement begins or has ended. The lock is held from the end of BEGIN, which waits for
        it, to the end of COMMIT."""
        sql, connection = str(event["sql"]).upper(), event["connection"]
        ended = event["code"] == apsw.SQLITE_TRACE_PROFILE
        if sql in (*ENDS, *ALONE) and ended and (began := self._began.pop(id(connection), None)):
            self.holds.append(began.until(_now(connection)))
        elif sql == BEGIN if ended else sql in ALONE:
            self._began[id(connection)] = _now(connection)


def _now(connection: apsw.Connection) -> _Moment:
    return _Moment(
        wall=time.perf_counter(), cpu=time.thread_time(), rows=connection.total_changes()
    )
