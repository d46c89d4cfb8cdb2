"""Anthropic's memory tool (`memory_20250818`) over a user's folder, and its files' versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.engine.file_history import FileVersion
    from omoide.engine.memory import Memory


async def memory_tool(
    memory: Memory, user: str, command: Mapping[str, Any], *, by: str = ""
) -> str:
    """Do a command of Anthropic's memory tool in the user's folder; durable on return. `command` is
    the tool's input, such as `{"command": "view", "path": "/memories"}`; the result is for the
    model to read. `by` is whom the new version of the file names. Raises `BadCommand`, whose
    message is for the model too."""
    owner = memory._owner(user)  # noqa: SLF001 - a verb of the same package
    return await memory._services.folders.run(owner, command, by=by)  # noqa: SLF001


async def file_versions(
    memory: Memory, user: str, path: str | None = None
) -> tuple[FileVersion, ...]:
    """The versions of one file of the memory tool, or of all, oldest first; also those of files
    that were removed."""
    owner = memory._owner(user)  # noqa: SLF001
    return await memory._services.folders.versions(owner, path)  # noqa: SLF001


async def restore_file(
    memory: Memory, user: str, path: str, version: int, *, by: str = ""
) -> FileVersion:
    """Give a file of the memory tool the text of one of its versions again, as a new version;
    durable on return. Raises `NoSuchVersion`."""
    owner = memory._owner(user)  # noqa: SLF001
    return await memory._services.folders.restore(owner, path, version, by=by)  # noqa: SLF001
