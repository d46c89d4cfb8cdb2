"""Zeroes what the write-ahead log holds of earlier transactions, without stopping writers.

When the log begins anew, SQLite overwrites it from the start and leaves the rest as it was. To cut
it off (`wal_checkpoint(TRUNCATE)`) took up to 100 ms on some file systems, for which all writers
had to wait. So it is overwritten a piece at a time, and nobody waits for the disk.

This is safe because the write lock is held, so that the log does not grow meanwhile, and because
only bytes after its last page are changed. They belong to an earlier log, which a recovery after a
crash does not read any more: SQLite has synchronised the header of the new one.
"""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from omoide.adapters.stores.sqlite.checkpoints import LogLock, log_length, restart_log

PIECE = 2**20
"""Bytes that are overwritten under one lock."""
_LOG_HEADER, _FRAME_HEADER = 32, 24
"""Lengths in bytes (https://www.sqlite.org/fileformat2.html#the_write_ahead_log)."""


class LogCleaner:
    """Goes through the log of one file, which must not be encrypted, once."""

    def __init__(self, path: str, *, piece: int = PIECE) -> None:
        self._lock = LogLock(path)
        self._frame = self._lock.page_size + _FRAME_HEADER
        self._log = Path(f"{path}-wal").open("r+b", buffering=0)  # noqa: SIM115 - see `close`
        self._piece = piece
        self._begun = False
        self._at = 0
        self._end = 1
        self.locked = 0
        """How many pieces were cleaned under the lock so far."""

    @property
    def done(self) -> bool:
        """Whether the whole log has been gone through."""
        return self._at >= self._end

    def clean_piece(self, checkpointing: apsw.Connection) -> bool:
        """Have the log begin anew, then clean a piece with each call. False if another connection
        is in the way: try again later. `checkpointing` is another connection to the same file,
        outside a transaction."""
        try:
            if self._begun:
                self._zero(checkpointing)
                self.locked += 1
                return True
            if restart_log(checkpointing):
                with self._lock.held():
                    self._begun = self._lock.commit()
                self._end = os.fstat(self._log.fileno()).st_size
        except apsw.BusyError:
            return False
        return self._begun

    def synchronise(self) -> None:
        """Wait until the disk has all bytes."""
        os.fsync(self._log.fileno())

    def close(self) -> None:
        """Release file and lock."""
        self._log.close()
        self._lock.close()

    def _zero(self, checkpointing: apsw.Connection) -> None:
        with self._lock.held():
            pages, _ = log_length(checkpointing)
            start = max(self._at, _LOG_HEADER + pages * self._frame)
            end = max(min(start + self._piece, self._end), start)
            self._log.seek(start)
            old = self._log.read(end - start)
            if old.count(0) < len(old):
                self._log.seek(start)
                self._log.write(bytes(len(old)))
        self._at = end
