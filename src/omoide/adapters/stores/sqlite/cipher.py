"""Encryption of the file, where the `apsw` that is installed is built for it.

`apsw-sqlite3mc` is the same module as `apsw` over SQLite3 Multiple Ciphers: every page of the
file and of its write-ahead log is encrypted and authenticated (ChaCha20-Poly1305, the key derived
from a passphrase). SQLite's temporary files are not, so those are kept in memory. A key is given
to SQLite and kept nowhere else; it stands in no message and no representation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from omoide.adapters.stores.sqlite.connection import translated
from omoide.errors import BadInput, MissingExtra, StoreError, StoreMissing, StoreSealed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAGIC = b"SQLite format 3\x00"
SHORTEST = 8


def unlock(connection: apsw.Connection, key: str, where: str) -> None:
    """Give a new connection the key. Raises `StoreSealed` if it is not the file's."""
    _check_available(where)
    connection.pragma("key", key)
    connection.execute("PRAGMA temp_store = MEMORY")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.NotADBError:
        raise StoreSealed(
            f"{where} cannot be read with this key: give the one it was encrypted with, in "
            "OMOIDE_KEY or --key-file"
        ) from None


def checked_key(key: str) -> str:
    """A key that may be used."""
    if len(key) < SHORTEST:
        raise BadInput(f"a key must have at least {SHORTEST} characters; this one is shorter")
    if "\x00" in key:
        raise BadInput("a key may not hold NUL")
    return key


def seal(path: Path, *, old: str, new: str, patience: float = 5.0) -> None:
    """Encrypt a file, or encrypt it anew under another key. An empty `old` means that it is not
    encrypted yet, an empty `new` that it is not to be any more.

    A new file is written beside the old one and takes its place when it is whole, while nobody else
    can use the old one: `StoreLocked` if somebody does. Blocks.
    """
    where = str(path)
    _check_available(where)
    if not path.is_file():
        raise StoreMissing(f"there is no database at {path}; check the path")
    for key in filter(None, (old, new)):
        checked_key(key)
    fresh = path.with_name(f"{path.name}.sealing")
    _remove([fresh])
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    with translated(where):
        connection = apsw.Connection(where, flags=flags)
    try:
        with translated(where, connection):
            connection.set_busy_timeout(round(patience * 1000))
            if old:
                unlock(connection, old, where)
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()  # alone, or it is busy
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            target = f"file:{quote(str(fresh.absolute()))}?key={quote(new, safe='')}"
            try:
                connection.execute("VACUUM INTO ?", (target,))
            except apsw.Error as error:  # whose words may name the target, and so the key
                raise StoreError(
                    f"{where} could not be written anew ({type(error).__name__}); it is as it "
                    "was. A second copy must have room beside it: free some space on the disk, or "
                    "raise the limit (a quota, or ulimit -f), then try again"
                ) from None
            _sync(fresh)
            fresh.replace(path)
            _sync(path.parent)
    finally:
        connection.close()
        _remove([fresh])


def is_sealed(header: bytes) -> bool:
    """Whether the first bytes of a file could be those of an encrypted database."""
    return len(header) >= 24 and not header.startswith(MAGIC)


def _check_available(where: str) -> None:
    if not hasattr(apsw, "mc_version"):
        raise MissingExtra(
            f"{where}: a key was given, and the SQLite that is installed cannot encrypt; run: "
            "pip uninstall apsw, then: pip install --force-reinstall 'omoide[encrypted]' (both "
            "install the module `apsw`: only one of them can be there)"
        )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
