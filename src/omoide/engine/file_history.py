"""Versions of the files of the memory tool: who wrote which text when.

Each change of a file adds a note, which is never overwritten: the text after the change is the
note's text, so that an erasure finds what it quotes; the rest is in its key. Numbers count the
changes of the whole folder.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Note

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain import Owner
    from omoide.ports import NoteStore

KIND = "file_version"
COUNT = "file_version_count"
"""The kind of the one note that holds the last number, so that a change need not read all texts."""
WRITTEN, REMOVED = "written", "removed"


@dataclass(frozen=True, kw_only=True)
class FileVersion:
    """A file of the memory tool after one change."""

    number: int
    """Counts the changes of all files of the user."""
    path: str
    text: str | None
    """None if the change removed the file."""
    time: datetime
    command: str
    """The tool's command, or `restore`."""
    by: str
    """Who did it: the name of the API key, or what the application says. May be empty."""


class FileHistory:
    """The versions of the files of all users."""

    def __init__(self, notes: NoteStore) -> None:
        self._notes = notes

    async def read(self, owner: Owner, path: str | None = None) -> tuple[FileVersion, ...]:
        """All versions of one file, or of all files, oldest first."""
        versions = [_version(note) for note in await self._notes.read(owner, kind=KIND)]
        return tuple(v for v in versions if path in (None, v.path))

    async def last_number(self, owner: Owner) -> int:
        """The number of the newest version; 0 if there is none."""
        counts = await self._notes.read(owner, kind=COUNT)
        return int(counts[0].text) if counts else 0

    async def add(self, owner: Owner, version: FileVersion) -> None:
        """Store a version; durable on return. If two processes use one number, both are kept."""
        count = Note(kind=COUNT, key="last", text=str(version.number), time=version.time)
        await self._notes.put(owner, count)
        place = f"{version.number:08d}-{secrets.token_hex(4)}"
        state = REMOVED if version.text is None else WRITTEN
        key = "\n".join((place, state, version.command, version.by, version.path))
        await self._notes.put(
            owner, Note(kind=KIND, key=key, text=version.text or "", time=version.time)
        )


def _version(note: Note) -> FileVersion:
    place, state, command, by, path = note.key.split("\n")
    return FileVersion(
        number=int(place.partition("-")[0]),
        path=path,
        text=None if state == REMOVED else note.text,
        time=note.time,
        command=command,
        by=by,
    )
