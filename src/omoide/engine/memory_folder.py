"""A folder of text files for each user, for Anthropic's memory tool (`memory_20250818`).

A model that has the tool asks for six commands: view, create, str_replace, insert, delete and
rename, on paths under `/memories`. The files are notes of the user, one each, so they are durable,
exported, restored and erased with everything else; no path leads anywhere else. Every change is
kept as a version (`file_history.py`). What the summary says is shown as a file that cannot be
written, so that a model sees it where it looks.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from omoide.domain import Note
from omoide.domain.text import checked_name, cleaned
from omoide.engine.file_history import FileHistory, FileVersion
from omoide.engine.versions import without_gone
from omoide.errors import BadCommand, NoSuchVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omoide.domain import Owner
    from omoide.ports import Clock, Store

ROOT = "/memories"
KIND = "file"
"""The kind of the notes that hold files; their keys are the paths."""
SUMMARY = f"{ROOT}/omoide_summary.md"
"""The file that shows the summary. Its path is reserved before there is one, since a file of the
model's own there could not be reached any more."""
OWN = f"{ROOT}/own_summary"
"""Where a file goes, with `.md`, that was stored under that path before it was reserved."""
MAX_FILES = 1_000
MAX_PATH = 512
"""Most characters of a path."""
DEPTH = 2
"""Levels of folders that a view shows."""
CONTEXT = 2
"""Lines shown before and after a change."""


@dataclass(kw_only=True)
class Files:
    """The files of a folder, and what one command changed in them: none writes and removes the same
    file."""

    texts: dict[str, str]
    read_only: frozenset[str] = frozenset({SUMMARY})
    written: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def within(self, path: str) -> list[str]:
        """The paths of the files in a folder, at any depth."""
        return sorted(name for name in self.texts if name.startswith(f"{path}/"))

    def text(self, path: str) -> str:
        """The content of a file. Raises `BadCommand` if there is none."""
        if path in self.texts:
            return self.texts[path]
        if path == ROOT or self.within(path):
            raise BadCommand(f"The path {path} is not a file.")
        raise BadCommand(f"The path {path} does not exist. Please provide a valid path.")

    def put(self, path: str, text: str, *, max_chars: int) -> None:
        """Write a file. Raises `BadCommand` if it cannot be."""
        self.check_writable(path)
        if self.within(path) or path == ROOT:
            raise BadCommand(f"The path {path} is a directory.")
        for parent in _parents(path):
            if parent in self.texts or parent in self.read_only:
                raise BadCommand(f"The path {parent} is a file, so it cannot hold {path}.")
        if path not in self.texts and len(self.texts) >= MAX_FILES:
            raise BadCommand(f"There are {MAX_FILES:,} files already. Delete some first.")
        if cleaned(text) != text:
            raise BadCommand("The text has a control character. Write it without.")
        if len(text) > max_chars:
            raise BadCommand(
                f"The text has {len(text):,} characters and a file may have {max_chars:,}."
            )
        self.texts[path] = text
        self.written.add(path)

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.check_writable(path)
        del self.texts[path]
        self.removed.add(path)

    def free(self, path: str) -> None:
        """Move what is stored at a path, or below it, to one of the model's own."""
        new = next(p for p in _own_paths() if p not in self.texts and not self.within(p))
        for name in [path] * (path in self.texts) + self.within(path):
            moved = f"{new}{name[len(path) :]}"
            self.texts[moved] = self.texts.pop(name)
            self.written.add(moved)
            self.removed.add(name)

    def check_writable(self, path: str) -> None:
        """Raise `BadCommand` for a file that only shows something."""
        if path in self.read_only:
            raise BadCommand(f"The file {path} is kept up to date for you and cannot be changed.")


class MemoryFolders:
    """Does commands in the folders of all users. Those of one user are done one after another in
    this process; of two processes that change one file at the same time, the later one wins."""

    def __init__(self, *, store: Store, clock: Clock, max_chars: int) -> None:
        self._store = store
        self._clock = clock
        self._max_chars = max_chars
        self._history = FileHistory(store.notes)
        self._locks: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    async def run(self, owner: Owner, command: Mapping[str, Any], *, by: str = "") -> str:
        """Do a command; durable on return. Raises `BadCommand`."""
        async with self._lock(owner):
            files = await self._files(owner)
            result = run_command(files, command, max_chars=self._max_chars)
            await self._keep(owner, files, command=command["command"], by=by)
            return result

    async def versions(self, owner: Owner, path: str | None = None) -> tuple[FileVersion, ...]:
        """The versions of one file, or of all files, oldest first. Raises `BadCommand` for a path
        outside the folder."""
        return await self._history.read(owner, path and checked_path(path))

    async def restore(self, owner: Owner, path: str, version: int, *, by: str = "") -> FileVersion:
        """Give a file the text of one of its versions, as a new version; durable on return."""
        async with self._lock(owner):
            found = await self.versions(owner, path)
            texts = {v.number: v.text for v in found if v.text is not None}
            if version not in texts:
                there = ", ".join(map(str, texts)) or "none"
                raise NoSuchVersion(f"{path} has no text of version {version}; there is {there}")
            files = await self._files(owner)
            files.put(checked_path(path), texts[version], max_chars=self._max_chars)
            (restored,) = await self._keep(owner, files, command="restore", by=by)
            return restored

    def _lock(self, owner: Owner) -> asyncio.Lock:
        return self._locks.setdefault(owner, asyncio.Lock())

    async def _keep(
        self, owner: Owner, files: Files, *, command: str, by: str
    ) -> tuple[FileVersion, ...]:
        """Store what was changed. Versions go first: a crash may leave one that never was the file,
        but no file without its version."""
        changed = sorted(files.removed) + sorted(files.written)
        if not changed:
            return ()
        now, by = self._clock.now(), by and checked_name(by, "who writes")
        last = await self._history.last_number(owner)
        versions = tuple(
            FileVersion(
                number=number,
                path=path,
                text=files.texts.get(path),
                time=now,
                command=command,
                by=by,
            )
            for number, path in enumerate(changed, last + 1)
        )
        for version in versions:
            await self._history.add(owner, version)
        for path in sorted(files.written):
            note = Note(kind=KIND, key=path, text=files.texts[path], time=now)
            await self._store.notes.put(owner, note)
        if files.removed:  # last, so that a crash leaves a file twice rather than nowhere
            await self._store.notes.remove(owner, kind=KIND, keys=sorted(files.removed))
        return versions

    async def _files(self, owner: Owner) -> Files:
        notes = await self._store.notes.read(owner, kind=KIND)
        stored = Files(texts={note.key: note.text for note in notes})
        stored.free(SUMMARY)
        await self._keep(owner, stored, command="rename", by="")
        files = Files(texts=stored.texts)
        newest = await self._store.summaries.find(owner)
        if newest is not None:
            summary = await without_gone(self._store, owner, newest, now=self._clock.now())
            if summary.sentences:
                known = "\n".join(f"- {sentence.text}" for sentence in summary.sentences)
                files.texts[SUMMARY] = known
        return files


def run_command(files: Files, command: Mapping[str, Any], *, max_chars: int) -> str:
    """Do a command of the tool. Its result is what the tool answers."""
    name = _text(command, "command")
    if name not in COMMANDS:
        raise BadCommand(f"There is no command {name[:40]!r}; there are {', '.join(COMMANDS)}.")
    return COMMANDS[name](files, command, max_chars)


def _view(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    del max_chars
    path = _path(command, "path")
    if path not in files.texts and (path == ROOT or files.within(path)):
        return _listing(files, path)
    lines = files.text(path).split("\n")
    first, last = _range(command.get("view_range"), len(lines))
    shown = _numbered(lines, first, last)
    return f"Here's the content of {path} with line numbers:\n{shown}"


def _create(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    path = _path(command, "path")
    if path in files.texts:
        raise BadCommand(f"File {path} already exists")
    files.put(path, _text(command, "file_text"), max_chars=max_chars)
    return f"File created successfully at: {path}"


def _str_replace(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    path, old = _path(command, "path"), _text(command, "old_str")
    text, new = files.text(path), command.get("new_str") or ""
    if not isinstance(new, str):
        raise BadCommand("`new_str` must be a string.")
    found = _places(text, old)
    if not found:
        raise BadCommand(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if len(found) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in found)
        raise BadCommand(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    changed = text.replace(old, new)
    files.put(path, changed, max_chars=max_chars)
    line = text.count("\n", 0, found[0]) + 1
    snippet = _numbered(changed.split("\n"), max(1, line - CONTEXT), line + CONTEXT)
    return (
        "The memory file has been edited. Here is the snippet showing the change "
        f"(with line numbers):\n{snippet}"
    )


def _insert(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    path, line = _path(command, "path"), command.get("insert_line")
    text = files.text(path)
    lines = text.removesuffix("\n").split("\n") if text else []
    if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= len(lines):
        raise BadCommand(
            f"Invalid `insert_line` parameter: {line}. It should be within the range "
            f"[0, {len(lines)}]."
        )
    lines.insert(line, _text(command, "insert_text").rstrip("\n"))
    files.put(path, "\n".join(lines) + "\n", max_chars=max_chars)
    return f"The file {path} has been edited."


def _delete(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    del max_chars
    path = _path(command, "path")
    if path == ROOT:
        raise BadCommand(f"Cannot delete the {ROOT} directory itself")
    doomed = [path] if path in files.texts else files.within(path)
    if not doomed:
        raise BadCommand(f"The path {path} does not exist")
    for name in doomed:
        files.remove(name)
    return f"Successfully deleted {path}"


def _rename(files: Files, command: Mapping[str, Any], max_chars: int) -> str:
    old, new = _path(command, "old_path"), _path(command, "new_path")
    if old == ROOT:
        raise BadCommand(f"Cannot rename the {ROOT} directory itself")
    if new == ROOT or new in files.texts or files.within(new):
        raise BadCommand(f"The destination {new} already exists")
    moved = [old] if old in files.texts else files.within(old)
    if not moved:
        raise BadCommand(f"The path {old} does not exist")
    if new.startswith(f"{old}/"):
        raise BadCommand(f"The path {old} cannot be moved into itself")
    texts = {name: files.texts[name] for name in moved}
    for name in moved:
        files.remove(name)
    for name, text in texts.items():
        files.put(f"{new}{name[len(old) :]}", text, max_chars=max_chars)
    return f"Successfully renamed {old} to {new}"


COMMANDS: dict[str, Callable[[Files, Mapping[str, Any], int], str]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}
"""The commands of the tool, by name."""


def _path(command: Mapping[str, Any], name: str) -> str:
    return checked_path(_text(command, name))


def checked_path(path: str) -> str:
    """The path without a slash at its end. Raises `BadCommand` if it leads out of the folder."""
    parts = path.removesuffix("/").split("/")
    if parts[:2] != ["", ROOT[1:]]:
        raise BadCommand(f"Path must start with {ROOT}, got: {path[:80]}")
    if any(part in ("", ".", "..") for part in parts[2:]):
        raise BadCommand(f"Path {path[:80]} would escape {ROOT} directory")
    if len(path) > MAX_PATH or not path.isprintable() or "\\" in path:
        raise BadCommand(
            f"A path has at most {MAX_PATH} printable characters and no backslash, "
            f"got: {path[:80]!r}"
        )
    return "/".join(parts)


def _text(command: Mapping[str, Any], name: str) -> str:
    value = command.get(name)
    if not isinstance(value, str) or (not value and name == "old_str"):
        raise BadCommand(f"`{name}` must be given, as text.")
    return value


def _range(given: object, count: int) -> tuple[int, int]:
    if given is None:
        return 1, count
    if (
        not isinstance(given, list)
        or len(given) != 2
        or not all(isinstance(n, int) and not isinstance(n, bool) for n in given)
    ):
        raise BadCommand("`view_range` must be two line numbers, such as [1, 20].")
    first, last = given
    return max(first, 1), count if last == -1 else last


def _own_paths() -> Iterator[str]:
    yield f"{OWN}.md"
    yield from (f"{OWN}_{number}.md" for number in itertools.count(2))


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(3, len(parts))]


def _places(text: str, part: str) -> list[int]:
    found, place = [], text.find(part)
    while place >= 0:
        found.append(place)
        place = text.find(part, place + 1)
    return found


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{i:>6}\t{line}" for i, line in enumerate(lines[first - 1 : last], first))


def _listing(files: Files, path: str) -> str:
    """The folder and what is in it, with sizes; hidden files are left out."""
    sizes: dict[str, int] = {path: 0}
    for name in files.within(path):
        parts = name[len(path) + 1 :].split("/")
        size = len(files.texts[name].encode())
        sizes[path] += size
        if any(part.startswith(".") for part in parts):
            continue
        for level in range(1, min(len(parts), DEPTH) + 1):
            entry = f"{path}/{'/'.join(parts[:level])}{'/' if level < len(parts) else ''}"
            sizes[entry] = sizes.get(entry, 0) + size
    head = f"Here're the files and directories up to {DEPTH} levels deep in {path}, "
    rows = [f"{_size(sizes[entry])}\t{entry}" for entry in sorted(sizes)]
    return head + "excluding hidden items:\n" + "\n".join(rows)


def _size(count: int) -> str:
    """A size as people read it: 900B, 1.5K."""
    size, unit = float(count), "B"
    for unit in "BKMG":
        if size < 1024 or unit == "G":
            break
        size /= 1024
    return f"{size:.1f}".removesuffix(".0") + unit
