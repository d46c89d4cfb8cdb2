"""For how long this process holds the write lock of a SQLite file, and what its commits write."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import apsw

BEGIN = "BEGIN IMMEDIATE"
ENDS = ("COMMIT", "ROLLBACK")
ALONE = ("VACUUM", "PRAGMA WAL_CHECKPOINT(TRUNCATE)", "PRAGMA WAL_CHECKPOINT(RESTART)")
"""Statements that keep other writers out while they run."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One time that the lock was held."""

    wall: float
    """Milliseconds by the wall, with the wait for the disk."""
    cpu: float
    """Milliseconds of CPU, of the thread that held it: independent of the machine's load."""
    rows: int
    pages: int
    """Pages written to the log, for which the disk is waited for."""


@dataclass(frozen=True, kw_only=True)
class _Moment:
    wall: float
    cpu: float
    rows: int
    pages: int

    def until(self, other: _Moment) -> Hold:
        return Hold(
            wall=1e3 * (other.wall - self.wall),
            cpu=1e3 * (other.cpu - self.cpu),
            rows=other.rows - self.rows,
            pages=other.pages - self.pages,
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
        wall=time.perf_counter(),
        cpu=time.thread_time(),
        rows=connection.total_changes(),
        pages=connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0],
    )


class CommitFiles(apsw.VFS):
    """SQLite's files. Counts the pages that a thread which commits writes into a database's file:
    those that it moves there from the log."""

    def __init__(self) -> None:
        self.moved = 0
        self._base = apsw.vfs_names()[0]
        super().__init__("counted", self._base, makedefault=True)

    def xOpen(  # noqa: N802 - SQLite's name
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file."""
        counter = self if flags[0] & apsw.SQLITE_OPEN_MAIN_DB else None

        class CountedFile(apsw.VFSFile):
            def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
                if counter and threading.current_thread().name.startswith("omoide-write"):
                    counter.moved += 1
                super().xWrite(data, offset)

        return CountedFile(self._base, name, flags)
