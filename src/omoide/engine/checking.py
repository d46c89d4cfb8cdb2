"""Finds what is stored and cannot be read any more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from omoide.errors import StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.engine.memory import Memory


async def unreadable(memory: Memory, user: str) -> tuple[str, ...]:
    """The parts of a user's data that are damaged, in words: sessions by their number, since they
    are read one by one, and each kind of memory."""
    try:
        sessions = await memory.sessions(user)
    except StoreCorrupt:
        return ("the list of sessions",)
    readings: dict[str, Callable[[], Awaitable[object]]] = {
        **{f"session {s.number}": partial(memory.turns, user, session=s.number) for s in sessions},
        "facts": partial(memory.facts, user, ended=True),
        "the versions of the summary": partial(memory.history, user),
        "events": partial(memory.events, user),
        "memos": partial(memory.memos, user),
        "rejected answers": partial(memory.rejected, user),
        "the ledger of model calls": partial(memory.calls, user),
    }
    return tuple([name for name, read in readings.items() if await _fails(read)])


async def _fails(read: Callable[[], Awaitable[object]]) -> bool:
    try:
        await read()
    except StoreCorrupt:
        return True
    return False
