"""Zeroes the bytes that SQLite left in unused parts of its pages, without stopping other writers.

With `secure_delete` deleted rows and freed pages are zeroed. What stays are copies of rows that
were moved when a tree was rebalanced, in the unused middle of a page: between the list of its cells
and their contents (https://www.sqlite.org/fileformat2.html#b_tree_pages). VACUUM removes them too,
but it holds the write lock while it rewrites the whole file. Here the file is gone through a piece
at a time, and the lock is held for one piece only.

Bytes are written into the file directly, which is safe for these reasons:

- A connection of ours holds the write lock, and the write-ahead log is empty; both are checked for
  each piece. So nobody writes to the file meanwhile, its pages are the newest, and nobody has older
  copies of them but in memory.
- Only bytes that no row uses are changed. A reader may see them before or after, and a crash in the
  middle damages nothing.
- A piece with a change ends with a transaction, so that every other connection drops the pages it
  has cached; else it could write the old bytes back with its next change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 2**20
"""Bytes that are looked through under one lock."""
MOST_PAGES = 2**25
"""From here on an overflow page can begin like a page of a tree."""
_FILE_HEADER = 100
_CELL_HEADERS = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
"""The length of the header of a page of a tree, by its first byte."""


class PageCleaner:
    """Goes through one file, which must not be encrypted, once."""

    def __init__(self, path: str, *, piece: int = PIECE) -> None:
        self._lock = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        self._lock.execute("PRAGMA synchronous = FULL")
        [(self._page,)] = self._lock.execute("PRAGMA page_size")
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        # Through SQLite's VFS: to close a file of our own would drop this process's locks on it.
        self._file = apsw.VFSFile("", path, [flags, 0])
        self._piece = max(piece // self._page, 1) * self._page
        self._end = self._file.xFileSize()
        self._at = 0
        self.zeroed = 0
        """Bytes so far."""

    @property
    def done(self) -> bool:
        """Whether the whole file has been gone through."""
        return self._at >= self._end

    def clean_piece(self, checkpointing: apsw.Connection) -> bool:
        """Clean the next piece. False if another connection is in the way: try again later.
        `checkpointing` is another connection to the same file, outside a transaction."""
        try:
            truncate_log(checkpointing)
            self._lock.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        try:
            log = checkpointing.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            [(busy, written, _)] = log
            if busy or written:  # others read pages in the log before those in the file
                return False
            if self._zero_unused():
                self._file.xSync(apsw.SQLITE_SYNC_FULL)
                self._lock.execute("UPDATE meta SET value = value WHERE name = 'traces'")
                self._lock.execute("COMMIT")
        finally:
            if self._lock.in_transaction:
                self._lock.execute("ROLLBACK")
        self._at += self._piece
        return True

    def close(self) -> None:
        """Release file and lock."""
        self._file.xClose()
        self._lock.close()

    def _zero_unused(self) -> bool:
        """Zero what is unused in this piece; whether there was anything."""
        length = min(self._piece, self._file.xFileSize() - self._at)
        if length <= 0:  # another process made the file smaller
            return False
        found = list(_unused(self._file.xRead(length, self._at), self._at, self._page))
        for start, end in found:
            self._file.xWrite(bytes(end - start), start)
            self.zeroed += end - start
        return bool(found)


def truncate_log(connection: apsw.Connection) -> bool:
    """Move all pages of the log into the file and empty the log; False if others are in the way.
    Most of them are moved first without the write lock."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not busy


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
