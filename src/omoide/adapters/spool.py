"""Words that wait to be stored, in files beside the database.

Each process appends to a file of its own, which it holds locked; a file that is not locked was left
by a process that died, and whoever replays next takes it over. Of a process that lives only what is
over is taken, so that words are stored in their order whichever process they were said to. Some
space is reserved at the start, so that words can be kept even if the disk is full. One more file
has what could not be stored although the store works; it is changed under the folder's lock only.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from omoide.adapters import spool_files as files
from omoide.adapters.spool_records import grouped, in_order, is_doomed, over, said_to, used
from omoide.errors import StoreError, StoreFull, StoreLocked
from omoide.ports.spool import SpoolStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection
    from pathlib import Path

    from omoide.adapters.spool_files import Record
    from omoide.domain import Owner
    from omoide.domain.waiting import Waiting, WaitingExchange

    Result = TypeVar("Result")

log = logging.getLogger(__name__)

LIMIT = 64 * 1024 * 1024
"""Most bytes of one process's file, and of the file with what is set aside."""
RESERVE = 1024 * 1024
"""Bytes that are reserved on the disk beforehand."""
SUFFIX = ".words"
ASIDE = "set-aside"
PATIENCE = 10.0
"""Seconds to wait for another process that replays or erases."""
FAILURES = 2
"""How many owners' words the store may refuse before a replay ends: then it is not about them."""


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
        self._aside = folder / ASIDE
        self._end = 0
        self._kept: dict[str, list[tuple[int, int]]] = {}
        """Places of the records of each exchange in our own file."""
        self._used: Counter[Owner] = Counter()
        """Bytes of each owner in our own file."""
        self._failing: set[Owner] = set()
        """Whose words the store did not take the last time: they come last."""
        self._stuck: set[str] = set()
        """Exchanges that cannot be stored, and for which there is no room aside."""
        self._retried = False
        """Whether this process has tried again what is set aside."""
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

    async def holds(self, owner: Owner) -> bool:
        """See `Spool.holds`."""
        return await self._in_thread(self._mentions, owner)

    async def replay(
        self,
        write: Callable[[WaitingExchange], Awaitable[None]],
        *,
        database: str = "",
        owner: Owner | None = None,
        skip: Collection[str] = (),
    ) -> int:
        """See `Spool.replay`."""
        if not self._folder.is_dir():
            return 0
        retry = owner is None and not self._retried
        written = 0
        errors: dict[Owner, StoreError] = {}
        async with self._locked():
            records, end = await self._in_thread(self._to_write, database, retry)
            groups = sorted(grouped(records), key=lambda found: found[0].owner in self._failing)
            for found, group in groups:
                exchange = group[0].item.exchange
                if exchange in skip or exchange in self._stuck or found.owner in errors:
                    continue
                if owner not in (None, found.owner):
                    continue
                if any(offset >= end for offset, _ in self._kept.get(exchange, ())):
                    continue  # its reply came while others were written: next time, with it
                try:
                    await write(found)
                except (StoreError, OSError) as error:
                    errors[found.owner] = _as_store_error(error)
                    if len(errors) == FAILURES:
                        break
                except Exception as error:  # whatever it is, it must not stop the others' words
                    log.error("words cannot be stored: %s", type(error).__name__)  # noqa: TRY400
                    log.debug("words cannot be stored", exc_info=error)  # it may quote the user
                    await self._in_thread(self._put_aside, group)
                else:
                    await self._in_thread(self._remove, group)
                    self._failing.discard(found.owner)
                    written += 1
            await self._in_thread(self._tidy)
        self._failing |= errors.keys()
        if errors:
            raise next(iter(errors.values()))
        self._retried = self._retried or retry
        return written

    @asynccontextmanager
    async def erasing(
        self,
        owner: Owner,
        *,
        database: str = "",
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
                for record in said_to(database, records)
                if record.item.owner == owner and is_doomed(record.item, turns, texts)
            ]
            await self._in_thread(files.blank_records, doomed)
            await self._in_thread(self._clear_fragments)
            yield len({record.item.exchange for record in doomed})

    async def status(self) -> SpoolStatus:
        """See `Spool.status`."""
        if not self._folder.is_dir():
            return SpoolStatus(where=str(self._folder))
        records = await self._in_thread(self._all)
        aside = {record.item.exchange for record in records if record.path == self._aside}
        waiting = [record for record in records if record.path != self._aside]
        return SpoolStatus(
            exchanges=len({record.item.exchange for record in waiting} - aside),
            refused=len(aside),
            bytes=sum(record.length for record in records),
            oldest=min((record.item.time for record in waiting), default=None),
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
                "words that wait to be stored cannot be kept or read in "
                f"{error.filename or self._folder}: {error.strerror}"
            ) from error

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the lock of the folder, against other processes and other tasks of this one."""
        lock = await self._in_thread(self._lock_file)
        try:
            try:
                async with asyncio.timeout(PATIENCE):
                    while not files.try_lock(lock):  # noqa: ASYNC110 - another process has no event
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
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            hidden.rename(self._path)
            self._reserve_space()
            self._sync_folder()
        except OSError:
            hidden.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1  # what is kept in a file that no replay finds would be lost
            raise

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _reserve_space(self) -> None:
        if self._reserve:
            with suppress(OSError):  # the disk is full already, or cannot reserve
                os.posix_fallocate(self._file, 0, self._reserve)
        os.fsync(self._file)

    def _append(self, item: Waiting) -> None:
        self._open()
        line = files.as_line(item)
        if self._end + len(line) > self._limit or not self._is_fair(
            self._used, item.owner, len(line)
        ):
            raise StoreFull(
                f"so many words of this user wait to be stored (at most {self._limit // 2**20} MiB "
                "of all users together) that no more can be kept"
            )
        try:
            files.write(self._file, line, self._end)
        except OSError:
            with suppress(OSError):  # else it is cleared with the next erasure or replay
                files.clear_after(self._file, self._end, reserve=self._reserve)
            raise
        self._kept.setdefault(item.exchange, []).append((self._end, len(line)))
        self._used[item.owner] += len(line)
        self._end += len(line)

    def _is_fair(self, sizes: Counter[Owner], owner: Owner, length: int) -> bool:
        """Whether there is room for so much more of this owner: a tenant gets half of what all
        others leave, and each of its users half of what the others leave of that. So nobody fills
        the file for everybody else."""
        tenant = sum(size for who, size in sizes.items() if who.tenant == owner.tenant)
        share = (self._limit - (sizes.total() - tenant)) // 2
        return sizes[owner] + length <= (share - (tenant - sizes[owner])) // 2

    def _drop(self, exchange: str) -> None:
        for offset, length in self._kept.pop(exchange, ()):
            files.blank(self._file, offset=offset, length=length)

    def _remove(self, group: Collection[Record]) -> None:
        """Overwrite what is stored."""
        files.blank_records(group)
        for record in group:
            self._kept.pop(record.item.exchange, None)

    def _put_aside(self, group: Collection[Record]) -> None:
        """Move an exchange to the file with what could not be stored. Without room there it stays
        where it is, and this process does not try it again."""
        aside = files.read(self._aside)
        exchange = next(record.item.exchange for record in group)
        waiting = [record for record in group if record.path != self._aside]
        if not any(record.item.exchange == exchange for record in aside):
            lines = b"".join(files.as_line(record.item) for record in waiting)
            end, owner = files.end_of(aside), waiting[0].item.owner
            fair = self._is_fair(used(aside), owner, len(lines))
            if not fair or end + len(lines) > self._limit or not self._write_aside(lines, end):
                self._stuck.add(exchange)
                return
        self._remove(waiting)

    def _write_aside(self, lines: bytes, end: int) -> bool:
        """Append to the file with what could not be stored; whether that went well."""
        with suppress(OSError), files.opened(self._aside) as file:
            try:
                files.clear_after(file, end)
                files.write(file, lines, end)
                self._sync_folder()
            except OSError:
                files.clear_after(file, end)
            else:
                return True
        return False

    def _tidy(self) -> None:
        """Give back the space after the last record of our file, and remove what else is empty;
        others hold the folder's lock to change it."""
        if not files.read(self._aside):
            self._aside.unlink(missing_ok=True)
        if self._file < 0:
            return
        records = files.read(self._path)
        self._end = files.end_of(records)
        self._used = used(records)
        self._kept = {}
        for record in records:
            place = record.offset, record.length
            self._kept.setdefault(record.item.exchange, []).append(place)
        files.clear_after(self._file, self._end, reserve=self._reserve)
        if os.fstat(self._file).st_size < self._reserve:
            self._reserve_space()

    def _clear_fragments(self) -> None:
        """Clear what was cut off after the last record of each file to which nobody is writing."""
        self._tidy()
        for path in [*self._files(), self._aside]:
            if path != self._path and files.is_orphan(path):
                with files.opened(path) as file:
                    files.clear_after(file, files.end_of(files.read(path)))

    def _mentions(self, owner: Owner) -> bool:
        try:
            with os.scandir(self._folder) as entries:
                words = (entry.path for entry in entries if entry.name.endswith(SUFFIX))
                return any(files.mentions(path, owner) for path in words)
        except FileNotFoundError:
            return False

    def _all(self) -> list[Record]:
        paths = [*sorted(self._files()), self._aside]
        return [record for path in paths for record in files.read(path)]

    def _to_write(self, database: str, retry: bool) -> tuple[list[Record], int]:
        """Records of our own file, of files whose processes died, and what is over in those of
        others that live. A file left behind is removed once it is empty. Also the end of our own:
        what is kept later begins there."""
        found = in_order(files.read(self._aside)) if retry else []
        for path in sorted(self._files()):
            try:
                alive = path != self._path and not files.is_orphan(path)
                records = files.read(path)
            except OSError as error:  # such as that of another user of the machine
                log.warning("words that wait in %s cannot be read: %s", path, error.strerror)
                continue
            found += in_order(over(records, database) if alive else records)
            if not (records or alive or path == self._path):
                path.unlink(missing_ok=True)
        found.sort(key=itemgetter(0))
        return said_to(database, (record for _, record in found)), self._end

    def _files(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.suffix == SUFFIX]

    def _close(self) -> None:
        if self._file < 0:
            return
        if not files.read(self._path):
            self._path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = -1


def _as_store_error(error: StoreError | OSError) -> StoreError:
    if isinstance(error, StoreError):
        return error
    raised = StoreError(f"the store could not take words that wait: {type(error).__name__}")
    raised.__cause__ = error
    return raised
