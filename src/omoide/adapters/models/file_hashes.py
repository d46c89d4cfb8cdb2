"""Hashes of files, and a cheap way to see that a file has not changed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def sha256(path: Path) -> str:
    """The SHA-256 of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_stamp(path: Path) -> dict[str, object]:
    """Size and modification time, which change when the file is written."""
    status = path.stat()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
