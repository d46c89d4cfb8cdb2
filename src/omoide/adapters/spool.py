"""Words that wait to be stored, in files beside the database.

Each process appends to a file of its own, which it holds locked; a file that is not locked was left
by a process that died, and whoever replays next takes it over. A record is one line: a checksum and
JSON. A line that was cut off by a crash has a wrong checksum and was never acknowledged. A record
is removed by overwriting it with blanks, which needs no space on a full disk and leaves no words
behind. Some space is reserved at the start, so that words can be kept even if the disk is full.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from omoide.domain.waiting import WaitingExchange, WaitingReply, WaitingWords, as_json, from_json
from omoide.errors import StoreError, StoreFull, StoreLocked
from omoide.ports.spool import SpoolStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
    from pathlib import Path

    from omoide.domain import Owner
    from omoide.domain.waiting import Waiting

    Result = TypeVar("Result")

LIMIT = 64 * 1024 * 1024
"""Most bytes of one process's file."""
RESERVE = 1024 * 1024
"""Bytes that are reserved on the disk beforehand."""
SUFFIX = ".words"
PATIENCE = 10.0
"""Seconds to wait for another process that replays or erases."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A line of a file."""

    path: Path
    offset: int
    length: int
    item: Waiting


class FileSpool:
    """See `ports.Spool`. Nothing is created before `prepare` is called or something has to be
    kept."""

    def __init__(self, folder: Path, *, limit: int = LIMIT, reserve: int = RESERVE) -> None:
        self._folder = folder
        self._limit = limit
        self._reserve = reserve
        self._file = -1
        self._closed = False
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(6)}{SUFFIX}"
        self._end = 0
        self._kept: dict[str, list[tuple[int, int]]] = {}
        """Places of the records of each exchange in our own file."""
        # One thread: a disk that hangs blocks neither the event loop nor other work in threads.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="omoide-spool")

    async def prepare(self) -> None:
        """See `Spool.prepare`."""
        await self._in_thread(self._open)

    async def keep(self, item: Waiting) -> None:
        """See `Spool.keep`."""
        await self._in_thread(self._append, item)

    async def drop(self, exchange: str) -> None:
        """See `Spool.drop`."""
        if exchange in self._kept:
            await self._in_thread(self._drop, exchange)

    async def replay(
        self,
        write: Callable[[WaitingExchange], Awaitable[None]],
        *,
        owner: Owner | None = None,
        skip: Collection[str] = (),
    ) -> int:
        """See `Spool.replay`."""
        if not self._folder.is_dir():
            return 0
        written = 0
        async with self._locked():
            records, end = await self._in_thread(self._ours_and_orphans)
            for exchange, group in _grouped(records).items():
                found = _together(record.item for record in group)
                if exchange in skip or owner not in (None, found.owner):
                    continue
                if any(offset >= end for offset, _ in self._kept.get(exchange, ())):
                    continue  # its reply came while others were written: next time, with it
                await write(found)
                await self._in_thread(self._blank, group)
                self._kept.pop(exchange, None)
                written += 1
            await self._in_thread(self._tidy)
        return written

    @asynccontextmanager
    async def erasing(
        self,
        owner: Owner,
        *,
        turns: Collection[str] | None = None,
        texts: Collection[str] = (),
    ) -> AsyncIterator[int]:
        """See `Spool.erasing`."""
        if not self._folder.is_dir():
            yield 0
            return
        async with self._locked():
            records = await self._in_thread(self._all)
            doomed = [
                record
                for record in records
                if record.item.owner == owner and _is_doomed(record.item, turns, texts)
            ]
            await self._in_thread(self._blank, doomed)
            yield len({record.item.exchange for record in doomed})

    async def status(self) -> SpoolStatus:
        """See `Spool.status`."""
        if not self._folder.is_dir():
            return SpoolStatus(where=str(self._folder))
        records = await self._in_thread(self._all)
        return SpoolStatus(
            exchanges=len({record.item.exchange for record in records}),
            bytes=sum(record.length for record in records),
            oldest=min((record.item.time for record in records), default=None),
            where=str(self._folder),
        )

    async def close(self) -> None:
        """See `Spool.close`."""
        if self._closed:  # a server closes its runtime, and so does whoever opened that
            return
        self._closed = True
        await self._in_thread(self._close)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[..., Result], *arguments: object) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        except OSError as error:
            raise StoreError(
                f"words that wait to be stored cannot be kept in {self._folder}: {error.strerror}"
            ) from error

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the lock of the folder, against other processes and other tasks of this one."""
        lock = await self._in_thread(self._lock_file)
        try:
            try:
                async with asyncio.timeout(PATIENCE):
                    while not _try_lock(lock):  # noqa: ASYNC110 - another process has no event
                        await asyncio.sleep(0.01)
            except TimeoutError as error:
                raise StoreLocked(
                    f"another process has been replaying or erasing in {self._folder} for "
                    f"{PATIENCE:g} s"
                ) from error
            yield
        finally:
            os.close(lock)

    # All below runs in the thread.

    def _lock_file(self) -> int:
        return os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)

    def _open(self) -> None:
        if self._file >= 0:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Others see it only once it is locked: an unlocked one they would take for left behind.
        hidden = self._path.with_suffix(".new")
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        hidden.rename(self._path)
        self._set_aside()
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _set_aside(self) -> None:
        if self._reserve:
            with suppress(OSError):  # the disk is full already, or cannot reserve
                os.posix_fallocate(self._file, 0, self._reserve)
        os.fsync(self._file)

    def _append(self, item: Waiting) -> None:
        self._open()
        line = _line(item)
        if self._end + len(line) > self._limit:
            raise StoreFull(
                f"{self._limit // 2**20} MiB of words wait to be stored: no more can be kept"
            )
        _write(self._file, line, self._end)
        self._kept.setdefault(item.exchange, []).append((self._end, len(line)))
        self._end += len(line)

    def _drop(self, exchange: str) -> None:
        for offset, length in self._kept.pop(exchange, ()):
            _write(self._file, _blanks(length), offset)

    def _blank(self, records: Iterable[Record]) -> None:
        for record in records:
            file = os.open(record.path, os.O_RDWR)
            try:
                _write(file, _blanks(record.length), record.offset)
            finally:
                os.close(file)

    def _tidy(self) -> None:
        """Empty our file if nothing waits in it; others hold the folder's lock to change it."""
        if self._file >= 0 and self._end and not _records(self._path):
            os.ftruncate(self._file, 0)
            self._end = 0
            self._kept.clear()
            self._set_aside()

    def _all(self) -> list[Record]:
        return [record for path in sorted(self._files()) for record in _records(path)]

    def _ours_and_orphans(self) -> tuple[list[Record], int]:
        """Records of our own file, and of files whose processes died; such a file is removed once
        it is empty. Also the end of our own: what is kept later begins there."""
        found: list[Record] = []
        for path in sorted(self._files()):
            if path != self._path and not _is_orphan(path):
                continue
            records = _records(path)
            found += records
            if path != self._path and not records:
                path.unlink(missing_ok=True)
        return sorted(found, key=lambda record: record.item.time), self._end

    def _files(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.suffix == SUFFIX]

    def _close(self) -> None:
        if self._file < 0:
            return
        if not _records(self._path):
            self._path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = -1


def _line(item: Waiting) -> bytes:
    body = json.dumps(as_json(item), separators=(",", ":")).encode("ascii")
    return b"%08x %b\n" % (zlib.crc32(body), body)


def _blanks(length: int) -> bytes:
    return b" " * (length - 1) + b"\n"


def _write(file: int, data: bytes, offset: int) -> None:
    """Write all of it durably."""
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done:], offset + done)
    os.fdatasync(file)


def _records(path: Path) -> list[Record]:
    """The records of a file; what is blank, damaged or cut off is none."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    found, offset = [], 0
    for line in content.partition(b"\0")[0].splitlines(keepends=True):
        checksum, _, body = line.rstrip(b"\n").partition(b" ")
        if checksum and checksum == b"%08x" % zlib.crc32(body):
            with suppress(KeyError, TypeError, ValueError):
                item = from_json(json.loads(body))
                found.append(Record(path=path, offset=offset, length=len(line), item=item))
        offset += len(line)
    return found


def _grouped(records: Iterable[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.item.exchange, []).append(record)
    return groups


def _together(items: Iterable[Waiting]) -> WaitingExchange:
    found = WaitingExchange()
    for item in items:
        if isinstance(item, WaitingWords):
            found = replace(found, words=item)
        else:
            found = replace(found, reply=item)
    return found


def _is_doomed(item: Waiting, turns: Collection[str] | None, texts: Collection[str]) -> bool:
    if turns is None or any(text in said for said in item.texts for text in texts if text):
        return True
    return isinstance(item, WaitingReply) and item.answers in turns


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_orphan(path: Path) -> bool:
    """Whether the process that wrote a file is gone."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return _try_lock(file)
    finally:
        os.close(file)
