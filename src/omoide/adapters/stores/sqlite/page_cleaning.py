"""Zeroes the bytes that SQLite left in unused parts of its pages, without stopping other writers.

With `secure_delete` deleted rows and freed pages are zeroed. What stays are copies of rows that
were moved when a tree was rebalanced, in the unused middle of a page: between the list of its cells
and their contents (https://www.sqlite.org/fileformat2.html#b_tree_pages). VACUUM removes them too,
but it holds the write lock while it rewrites the whole file. Here the file is gone through a piece
at a time, and the lock is held for one piece only.

A piece in which no unused byte is set is passed over without a lock, so most are: a page that is
clean in the file cannot get bytes of erased rows any more, since these are in no row and SQLite
fills pages with rows. There is one exception. When SQLite rebalances a tree it may exchange the
numbers of two pages, and so put a page that is still to be cleaned where the cleaner has been. So
if others wrote meanwhile, the file is gone through once more.

Bytes are written into the file directly, which is safe for these reasons:

- A connection of ours holds the write lock, and all pages of the write-ahead log are in the file;
  both are checked for each piece. So nobody writes to the file meanwhile, its pages are the newest,
  and nobody has older copies of them but in memory. The log begins anew with the transaction that
  ends the piece, else the piece is cleaned again: another connection could read pages of the old
  one.
- Only bytes that no row uses are changed. A reader may see them before or after, and a crash in the
  middle damages nothing.
- A piece ends with a transaction, so that every other connection drops the pages it has cached;
  else it could write the old bytes back with its next change.

Nobody waits for the disk to have these bytes under the lock. But what is left to the disk until the
next checkpoint is written at once then, and the commits of others wait for the disk too. So they
are synchronised every few pieces, and in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from omoide.adapters.stores.sqlite.checkpoints import (
    LogLock,
    log_length,
    move_pages,
    restart_log,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 2**20
"""Bytes that are looked through under one lock."""
UNSYNCHRONISED = 2 * PIECE
"""Bytes of changed pages from which the disk is waited for."""
MOST_PAGES = 2**25
"""From here on an overflow page can begin like a page of a tree."""
_FILE_HEADER = 100
_CELL_HEADERS = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
"""The length of the header of a page of a tree, by its first byte."""


class PageCleaner:
    """Goes through one file, which must not be encrypted."""

    def __init__(self, path: str, *, piece: int = PIECE) -> None:
        self._lock = LogLock(path)
        self._page = self._lock.page_size
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        # Through SQLite's VFS: to close a file of our own would drop this process's locks on it.
        self._file = apsw.VFSFile("", path, [flags, 0])
        self._piece = max(piece // self._page, 1) * self._page
        self.locked = 0
        """How many pieces were cleaned under the lock so far."""
        self.zeroed = 0
        """Bytes so far."""
        self._unsynchronised = 0
        self.begin()

    def begin(self) -> None:
        """Begin with the first piece."""
        self._version = self._lock.version
        self._end = self._file.xFileSize()
        self._at = 0
        self._log_moved = False
        self._repeated = False

    @property
    def done(self) -> bool:
        """Whether the whole file has been gone through."""
        return self._at >= self._end

    @property
    def disturbed(self) -> bool:
        """Whether others have written since the first piece."""
        return self._lock.version != self._version

    def clean_piece(self, checkpointing: apsw.Connection) -> bool:
        """Clean the next piece. False if another connection is in the way: try again later.
        `checkpointing` is another connection to the same file, outside a transaction."""
        if not self._log_moved:
            move_pages(checkpointing)
            pages, moved = log_length(checkpointing)
            self._log_moved = pages == moved
            if not self._log_moved:
                return False
        if self._repeated or self._unused():
            if not self._clean_locked(checkpointing):
                return False
            self.locked += 1
            if self._unsynchronised >= UNSYNCHRONISED:
                self.synchronise()
        self._at += self._piece
        return True

    def synchronise(self) -> None:
        """Wait until the disk has all bytes."""
        self._file.xSync(apsw.SQLITE_SYNC_FULL)
        self._unsynchronised = 0

    def close(self) -> None:
        """Release file and lock."""
        self._file.xClose()
        self._lock.close()

    def _clean_locked(self, checkpointing: apsw.Connection) -> bool:
        try:
            if not restart_log(checkpointing):
                return False
            with self._lock.held():
                pages, moved = log_length(checkpointing)
                if pages != moved:  # others read pages in the log before those in the file
                    return False
                for start, end in self._unused():
                    self._file.xWrite(bytes(end - start), start)
                    self.zeroed += end - start
                    self._unsynchronised += self._page
                self._repeated = not self._lock.commit()
        except apsw.BusyError:
            return False
        return not self._repeated

    def _unused(self) -> list[tuple[int, int]]:
        """Where this piece has unused bytes that are not zero."""
        length = min(self._piece, self._file.xFileSize() - self._at)
        if length <= 0:  # another process made the file smaller
            return []
        return list(_unused(self._file.xRead(length, self._at), self._at, self._page))


def _unused(piece: bytes, offset: int, size: int) -> Iterator[tuple[int, int]]:
    """Where the file has unused bytes that are not zero. `piece` begins at `offset` of it."""
    for page in range(0, len(piece) - size + 1, size):
        header = page + (0 if offset + page else _FILE_HEADER)
        if (length := _CELL_HEADERS.get(piece[header])) is None:
            continue
        cells = int.from_bytes(piece[header + 3 : header + 5])
        start = header + length + 2 * cells
        end = page + (int.from_bytes(piece[header + 5 : header + 7]) or 2**16)
        if start < end <= page + size and piece.count(0, start, end) < end - start:
            yield offset + start, offset + end
