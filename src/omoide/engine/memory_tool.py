"""Anthropic's memory tool (`memory_20250818`) over a user's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omoide.engine.memory import Memory


async def memory_tool(memory: Memory, user: str, command: Mapping[str, Any]) -> str:
    """Do a command of Anthropic's memory tool in the user's folder; durable on return. `command` is
    the tool's input, such as `{"command": "view", "path": "/memories"}`; the result is for the
    model to read. Raises `BadCommand`, whose message is for the model too."""
    owner = memory._owner(user)  # noqa: SLF001 - a verb of the same package
    return await memory._services.folders.run(owner, command)  # noqa: SLF001
