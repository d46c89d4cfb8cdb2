"""The files of waiting words: lines that are written durably, read, blanked and cleared.

A record is one line: a checksum and JSON. A line that was cut off has a wrong checksum and was
never acknowledged. A record is removed by overwriting it with blanks, which needs no space on a
full disk and leaves no words behind. After the last record there is nothing, or zeros that reserve
space.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from omoide.domain.waiting import as_json, from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from omoide.domain import Owner
    from omoide.domain.waiting import Waiting


@dataclass(frozen=True, kw_only=True)
class Record:
    """A line of a file."""

    path: Path
    offset: int
    length: int
    item: Waiting


def as_line(item: Waiting) -> bytes:
    """An item as a line."""
    body = _json(as_json(item))
    return b"%08x %b\n" % (zlib.crc32(body), body)


def write(file: int, data: bytes, offset: int) -> None:
    """Write all of it durably."""
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done:], offset + done)
    os.fdatasync(file)


def read(path: Path) -> list[Record]:
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


def end_of(records: Iterable[Record]) -> int:
    """Where the last of a file's records ends."""
    return max((record.offset + record.length for record in records), default=0)


def mentions(path: str, owner: Owner) -> bool:
    """Whether a file has a record of the owner, found without reading the records. If nothing waits
    in it, its first byte says so. None is known of a file that cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            if os.pread(file, 1, 0) in (b"", b"\0"):
                return False
            content = os.pread(file, os.fstat(file).st_size, 0)
        finally:
            os.close(file)
    except OSError:
        return False
    return b'"owner":' + _json(asdict(owner)) in content


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A file to be read and written; made if it is not there."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def blank(file: int, *, offset: int, length: int) -> None:
    """Overwrite a record."""
    write(file, b" " * (length - 1) + b"\n", offset)


def blank_records(records: Iterable[Record]) -> None:
    """Overwrite records; those of a file that is gone are gone too."""
    for record in records:
        if record.path.exists():
            with opened(record.path) as file:
                blank(file, offset=record.offset, length=record.length)


def clear_after(file: int, end: int, *, reserve: int = 0) -> None:
    """Leave nothing after the end of the last record: what a full disk or a crash cut off may be
    words. The first `reserve` bytes stay the file's."""
    size = os.fstat(file).st_size
    if size > end and os.pread(file, size - end, end).strip(b"\0"):
        write(file, bytes(size - end), end)
    if size > max(end, reserve):
        os.ftruncate(file, max(end, reserve))
        os.fsync(file)


def try_lock(file: int) -> bool:
    """Lock a file unless somebody has it locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_orphan(path: Path) -> bool:
    """Whether the process that wrote a file is gone."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return try_lock(file)
    finally:
        os.close(file)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
