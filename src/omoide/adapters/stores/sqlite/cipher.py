"""Encryption of the database file, if the installed `apsw` supports it.

`apsw-sqlite3mc` is the module `apsw` built on SQLite3 Multiple Ciphers: every page of the file and
of its write-ahead log is encrypted and authenticated (ChaCha20-Poly1305, with a key derived from a
passphrase). SQLite's temporary files are not encrypted, so they are kept in memory. The key is
passed to SQLite and stored nowhere else; no message and no repr contains it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from omoide.adapters.stores.sqlite.connection import translate_errors
from omoide.errors import BadInput, MissingExtra, StoreEncrypted, StoreError, StoreMissing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAGIC = b"SQLite format 3\x00"
SHORTEST = 8


def unlock(connection: apsw.Connection, key: str, where: str) -> None:
    """Set the key of a new connection. Raises `StoreEncrypted` if it is not the file's key."""
    _check_available(where)
    connection.pragma("key", key)
    connection.execute("PRAGMA temp_store = MEMORY")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.NotADBError:
        raise StoreEncrypted(
            f"{where} cannot be decrypted with this key: pass the key it was encrypted with, in "
            "OMOIDE_KEY or --key-file"
        ) from None


def checked_key(key: str) -> str:
    """Return the key if it is valid, or raise `BadInput`."""
    if len(key) < SHORTEST:
        raise BadInput(f"a key must have at least {SHORTEST} characters; this one is shorter")
    if "\x00" in key:
        raise BadInput("a key must not contain NUL")
    return key


def encrypt_file(path: Path, *, old: str, new: str, patience: float = 5.0) -> None:
    """Encrypt a file, change its key, or decrypt it. An empty `old` means that it is not encrypted;
    an empty `new` decrypts it.

    Writes a new file beside the old one and replaces that once complete, with exclusive access to
    the old file: raises `StoreLocked` if it is in use. Blocks.
    """
    where = str(path)
    _check_available(where)
    if not path.is_file():
        raise StoreMissing(f"there is no database at {path}: check --db")
    for key in filter(None, (old, new)):
        checked_key(key)
    fresh = path.with_name(f"{path.name}.sealing")
    _remove([fresh])
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    with translate_errors(where):
        connection = apsw.Connection(where, flags=flags)
    try:
        with translate_errors(where, connection):
            connection.set_busy_timeout(round(patience * 1000))
            if old:
                unlock(connection, old, where)
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(
                "PRAGMA journal_mode = DELETE"
            ).fetchall()  # fails with busy unless this is the only connection
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            target = f"file:{quote(str(fresh.absolute()))}?key={quote(new, safe='')}"
            try:
                connection.execute("VACUUM INTO ?", (target,))
            except apsw.Error as error:  # its message may contain the target, and so the key
                raise StoreError(
                    f"{where} could not be rewritten ({type(error).__name__}) and is unchanged. "
                    "It needs space for a second copy beside it: free some disk space, or raise "
                    "the limit (a quota, or ulimit -f), then try again"
                ) from None
            _sync(fresh)
            fresh.replace(path)
            _sync(path.parent)
    finally:
        connection.close()
        _remove([fresh])


def is_encrypted(header: bytes) -> bool:
    """Whether the first bytes of a file could be those of an encrypted database."""
    return len(header) >= 24 and not header.startswith(MAGIC)


def _check_available(where: str) -> None:
    if not hasattr(apsw, "mc_version"):
        raise MissingExtra(
            f"{where}: a key was given, but the installed SQLite does not support encryption; run: "
            "pip uninstall -y apsw && pip install --no-deps --force-reinstall "
            "'apsw-sqlite3mc>=3.53' (both install the module `apsw`, so only one can be installed)"
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
