"""Locks of a PostgreSQL server: who waited for one, and for how long this process held an owner's.

The server logs every wait for a lock that takes longer than a millisecond (`SETTINGS`), with the
role that waited: each process of a benchmark connects as a role of its own. A write may wait for
two locks, one after the other: for its turn, and then for the transaction.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from locks import Hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.ports import Store

SETTINGS = (
    "log_lock_waits=on",
    "deadlock_timeout=1ms",
    "log_connections=on",
    "log_line_prefix=%p|%u|",
)
"""For the server: log each wait, with the process and its role."""
_LINE = re.compile(r"(\d+)\|([^|]+)\|(?:LOG|DETAIL):  (.*)")
_HOLDERS = re.compile(r"Process(?:es)? holding the lock: ([\d, ]+)\.")
_ACQUIRED = re.compile(r"process \d+ acquired .* after ([\d.]+) ms")
_LOCKING = ("FOR NO KEY UPDATE", "FOR UPDATE")


def add_roles(url: str, names: Sequence[str]) -> None:
    """Add roles that may do everything."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name in names:
            connection.execute(f'CREATE ROLE "{name}" SUPERUSER LOGIN'.encode())


@dataclass(frozen=True, kw_only=True)
class LockWait:
    """A wait for a lock, of more than a millisecond."""

    role: str
    milliseconds: float
    erasure: bool
    """Whether the erasing process held it, or a process that itself waited for that one."""


@dataclass
class LockLog:
    """The waits in the server's log."""

    path: Path
    eraser: str
    """The role that erases."""
    _read: int = 0
    _roles: dict[str, str] = field(default_factory=dict)
    """By process."""
    _waiting: dict[str, bool] = field(default_factory=dict)
    """Processes that wait, and whether for the erasure."""

    def waits(self) -> list[LockWait]:
        """Those that have ended since the last call."""
        text = self.path.read_bytes()[self._read :]
        complete = text[: text.rfind(b"\n") + 1]
        self._read += len(complete)
        found = map(_LINE.fullmatch, complete.decode("utf-8", "replace").splitlines())
        waits = (self._ended(*match.groups()) for match in found if match)
        return [wait for wait in waits if wait]

    def _ended(self, process: str, role: str, message: str) -> LockWait | None:
        """The wait that ended with this line, if any."""
        self._roles[process] = role
        if holding := _HOLDERS.match(message):
            self._waiting[process] = any(map(self._erases, holding[1].split(", ")))
        elif acquired := _ACQUIRED.fullmatch(message):
            erasure = self._waiting.pop(process, False)
            return LockWait(role=role, milliseconds=float(acquired[1]), erasure=erasure)
        return None

    def _erases(self, process: str) -> bool:
        return self._roles.get(process) == self.eraser or self._waiting.get(process, False)


class OwnerLocks:
    """Every time that this process holds the lock of an owner: from the statement that got it to
    the end of the transaction. CPU is that of the server's process for this connection."""

    def __init__(self, store: Store) -> None:
        archive: Any = store.archive
        database = archive._database  # noqa: SLF001 - what its store keeps to itself
        once = database._once  # noqa: SLF001 - a commit passes no other hook
        wrap = database.wrap
        self._holds: list[Hold] = []
        self._thread = threading.local()

        def watched(*given: object) -> object:
            self._thread.began = None
            try:
                return once(*given)
            finally:
                if (began := self._thread.began) is not None:
                    self._holds.append(began.until())

        database._once = watched  # noqa: SLF001
        database.wrap = lambda connection: _Watched(
            wrap(connection), connection.info.backend_pid, self._thread
        )

    def taken(self) -> list[Hold]:
        """Those since the last call."""
        holds, self._holds = self._holds, []
        return holds


class _Watched:
    """A connection in a transaction. Notes when it got an owner's lock, and counts what it
    removes under it."""

    def __init__(self, inner: Any, process: int, thread: threading.local) -> None:  # noqa: ANN401
        self._inner = inner
        self._process = process
        self._thread = thread

    def execute(self, statement: str, values: Sequence[object] = ()) -> object:
        rows = self._inner.execute(statement, values)
        self._done(statement)
        return rows

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> object:
        rows = self._inner.executemany(statement, values)
        self._done(statement)
        return rows

    def changes(self) -> int:
        return int(self._inner.changes())

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def _done(self, statement: str) -> None:
        if self._thread.began is None:
            if any(lock in statement for lock in _LOCKING):
                self._thread.began = _Began.now(self._process)
        elif statement.startswith("DELETE"):
            self._thread.began.rows += max(self.changes(), 0)


@dataclass(kw_only=True)
class _Began:
    """When a transaction got the lock."""

    process: int
    wall: float
    cpu: float
    rows: int = 0

    @classmethod
    def now(cls, process: int) -> _Began:
        return cls(process=process, wall=time.perf_counter(), cpu=_spent(process))

    def until(self) -> Hold:
        return Hold(
            wall=1e3 * (time.perf_counter() - self.wall),
            cpu=1e3 * (_spent(self.process) - self.cpu),
            rows=self.rows,
            pages=0,
        )


def _spent(process: int) -> float:
    """Seconds of CPU of a process."""
    return 1e-9 * int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
